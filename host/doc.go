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
// The packages of cmd/host are the users: they call Load, then the methods of the App, and Stop
// at the end. Methods of App that read or act may be called concurrently: control sockets, the
// console and the gateway do. Reload, Stop and the changes of parts exclude each other with
// App.reloading. A generation and everything of it is read-only once it is in effect, so a
// caller that needs several things takes one generation and asks that.
//
// app.go, process.go, generation.go, current.go and dirs.go are the life of the process;
// read.go, reload.go and part.go a read of the configuration and its way into effect.
// connector.go, upstreams.go, credentials.go, recipient.go, secrets.go, login.go and
// validate.go make connections and what they need. httpservice.go, httpsettings.go, limits.go,
// stdioservice.go, telemetry.go, endpoint.go and console*.go serve clients and operators.
// status.go, usestatus.go, expiring.go, events.go, recorder.go, notices.go, auditlog.go,
// redact.go and loglevel.go tell what happens. operations.go, approvals.go, operatorlogin.go,
// loginpages.go and background.go act on the running process.
//
// Keys of caches, owners and recipients of secrets and scopes of states are digests of what a
// configuration says: a change of their input loses caches, logins and grants of users.
//
// Files, from the top: usestatus.go, consolesources.go, consoleservice.go, consolelistener.go,
// approvals.go, operatorlogin.go, validate.go, loglevel.go, operations.go, reload.go, read.go,
// httpservice.go, httpsettings.go, stdioservice.go, telemetry.go, part.go, auditlog.go, process.go,
// loginpages.go, background.go, expiring.go, current.go, login.go, connector.go, limits.go,
// credentials.go, notices.go, status.go, events.go, recorder.go, secrets.go, recipient.go,
// upstreams.go, app.go, generation.go, redact.go, dirs.go, endpoint.go, otheruser_linux.go,
// otheruser_other.go.
package host
