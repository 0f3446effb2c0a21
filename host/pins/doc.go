// Package pins keeps the digests of the tool definitions that were accepted, in lock files
// beside the configuration.
//
// store.go, serverpins.go and program.go are the digests in effect, definitions.go the cached text
// of definitions, and difference.go what a server changed. lockfiles.go is the view of people: the
// console and the verbs lock and diff.
//
// The process makes one [Store], and package catalog asks it about each list of tools; Apply
// follows each load of a configuration. Both types are safe for concurrent use. The files are read
// and written as package lockfile does, under a lock against other processes. How a digest is
// computed must not change: lock files are in repositories.
package pins
