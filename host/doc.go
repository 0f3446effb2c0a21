// Package host builds the application from a configuration: an [App] creates the
// parts of the other packages, connects them and stops them.
//
// A [Process] has the objects that live as long as the process, and ends them in reverse
// order. A generation is what one read of the configuration decides; it is immutable and
// knows nothing of the process. A part, such as the listener for clients, prepares what the
// next generation needs of it: Reload applies the changes of all parts, or none.
//
// [Load] reads the configuration and asks the plugins in it to describe
// themselves. It creates the supervisor of plugin processes, an upstream for each
// server, the catalog of their items, and the gateway in front of them. It
// connects to no server: the first use of a server starts its plugin, and the
// plugin connects to the server.
//
// Files, from the top: usestatus.go, consolesources.go, consoleservice.go, consolelistener.go,
// approvals.go, operatorlogin.go, validate.go, loglevel.go, operations.go, reload.go, read.go,
// httpservice.go, httpsettings.go, stdioservice.go, telemetry.go, part.go, auditlog.go, process.go,
// loginpages.go, background.go, expiring.go, current.go, login.go, connector.go, limits.go,
// credentials.go, notices.go, status.go, events.go, recorder.go, secrets.go, recipient.go,
// upstreams.go, app.go, generation.go, redact.go, dirs.go, endpoint.go, otheruser_linux.go,
// otheruser_other.go.
package host
