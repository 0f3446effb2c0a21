// Package plugin keeps plugin processes alive: it finds their programs, checks
// them, starts, watches, restarts and stops them, and opens connections
// through them.
//
// go-plugin does the handshake, the one connection of each process and the
// dispensing of its one object. Everything that goes wrong is handled here:
// how a process is started so that it cannot outlive the host (runner.go),
// what it may say first (handshake.go), what it may send afterwards (guard.go,
// gob.go), how its log lines are read (stderr.go), what is said about its end
// (reason.go), and when it is started again (process.go).
//
// What happens first: Describe learns what a plugin offers by running it with
// the argument "describe", once for each version of its program. The first
// Open starts a process; later ones share it, unless isolation says otherwise.
package plugin
