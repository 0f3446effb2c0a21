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
// Files, from the top: vault.go, credential.go, authorizer.go, component.go, connection.go,
// process.go, link.go, isolate.go, connfilter.go, gob.go, debugattach.go, debugattach_other.go,
// debugattach_linux.go, describe.go, runner.go, dispensed.go, handshake.go, programs.go, supervisor.go,
// reason.go, stderr.go, log.go, digest.go, program.go, fileinfo_unix.go, fileinfo_notlinux.go,
// fileinfo_otherunix.go, fileinfo_windows.go, fileinfo_linux.go.
package plugin
