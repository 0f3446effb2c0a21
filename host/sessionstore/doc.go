// Package sessionstore keeps the sessions of legacy clients and the event log
// of each session. With it a client can resume its streams after a lost
// connection.
//
// A session belongs to the principal that opened it. To every other principal
// it looks as if it did not exist. Everything that is sent to its client goes
// through its [Log], which gives each event a position. A connection to the
// client reads the log from a position on and waits for changes.
//
// Sessions and logs live in memory, within bounds. With a directory one goroutine
// also appends them to a file for each session, and an event becomes readable only
// when it is written. A client therefore loses no event that it has seen when the
// process is killed. A file whose events are mostly dropped is written anew. It is
// read only to restore a session that is requested after a restart. When the disk
// fails, sessions continue in memory and the store reports itself unhealthy. It
// writes what is missing when the disk works again.
//
// Package httpserver is the only user: it opens one Store for a process, which has the sessions
// of legacy clients, and closes it. Methods of Store, Session and Log may be called
// concurrently. A store has two goroutines: the janitor, and the writer of the disk. The mu of
// the disk may be taken while that of a log is held, not the other way round. The files are
// read by later releases: a record may be added to format.go, but none may change.
//
// store.go, session.go and janitor.go are the sessions; log.go, read.go, ring.go and limit.go
// the events in memory; disk.go, diskstate.go, batch.go, format.go and restore.go the files.
//
// Files, from the top: store.go, janitor.go, restore.go, disk.go, batch.go,
// session.go, diskstate.go, read.go, log.go, limit.go, ring.go, format.go.
package sessionstore
