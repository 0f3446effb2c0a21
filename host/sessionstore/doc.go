// Package sessionstore remembers the sessions of legacy clients, and what was sent
// to them, so that a client whose connection broke can go on where it was.
//
// A session belongs to whoever opened it; for everybody else it does not
// exist. What is sent to its client goes through its log, which gives every
// event a position; whoever holds a connection to the client reads the log
// from a position on, and waits for it to change.
//
// All of that lives in memory, within bounds. With a file it is also written
// to SQLite, by one goroutine, and an event can be read only when it is
// committed there: nothing that a client has seen is lost when the process is
// killed. The file is read to restore a session that somebody asks for after
// a restart, and for nothing else. When the disk fails, sessions go on without
// it, the store says so, and what is missing is written when it is back.
package sessionstore
