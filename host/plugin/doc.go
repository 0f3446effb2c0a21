// Package plugin manages plugin processes. It finds and verifies their programs. It
// starts, monitors, restarts and stops the processes, and opens connections through
// them.
//
// The library go-plugin performs the handshake, owns the connection of each process
// and dispenses its object. This package handles every failure:
//
//   - starting a process that cannot outlive the host (runner.go)
//   - validating the first line of output (handshake.go)
//   - validating the frames and messages that follow (connfilter.go, gob.go)
//   - reading log lines (stderr.go)
//   - explaining the end of a process (reason.go)
//   - deciding about restarts (process.go)
//   - separating servers that may crash a process (isolate.go)
//
// Describe determines the components of a plugin by running it with the argument
// "describe", once per version of its program. The first Open starts a process. Later
// connections share it, unless the isolation of servers forbids that.
//
// Package host makes one Supervisor for a process and stops it; the connections of upstreams,
// the brokers of package credential and the stores of package secret come from it. Methods of
// Supervisor, Authorizer and Vault may be called concurrently, and block until the plugin has
// answered. There are two levels of state: a proc is a process across its restarts, a link one
// run of it. The mu of the Supervisor may be held when that of a proc is taken, not the other
// way round.
//
// supervisor.go, process.go, isolate.go, link.go, reason.go and debugattach*.go are the life of
// processes; runner.go, handshake.go, connfilter.go and gob.go the start and the checked
// connection; stderr.go and log.go the output. program.go, programs.go, digest.go, describe.go
// and fileinfo_*.go find, hash and describe programs. connection.go, authorizer.go,
// credential.go, vault.go and component.go are what the rest of the host uses.
//
// The protocol to plugins is that of package sdk/wire. Plugins of other versions run against
// it: a check that refuses more is a change for their authors.
//
// Files, from the top: vault.go, credential.go, authorizer.go, component.go, connection.go,
// process.go, link.go, isolate.go, connfilter.go, gob.go, debugattach.go, debugattach_other.go,
// debugattach_linux.go, describe.go, runner.go, dispensed.go, handshake.go, programs.go, supervisor.go,
// reason.go, stderr.go, log.go, digest.go, program.go, fileinfo_unix.go, fileinfo_notlinux.go,
// fileinfo_otherunix.go, fileinfo_windows.go, fileinfo_linux.go.
package plugin
