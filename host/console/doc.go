// Package console serves the web console: pages about a running process, for its
// operators.
//
// The pages are made on the server and work without JavaScript. The package reads and
// changes the process through the small interfaces in [Sources]. A person signs in with
// a one-time link on this machine, or with a credential that the gateway accepts; a
// [Server] then begins a session. The path of every page contains the key of its session,
// and the cookie of the session is sent to that path only: another server on this machine
// does not get the cookie, although browsers ignore the port.
//
// Files, from the top: events.go, audit.go, access.go, lists.go, chart.go, item.go, items.go,
// approvals.go, journal.go, configuration.go, server.go, signin.go, link.go, body.go, assets.go,
// policytable.go, tools.go, try.go, toolform.go, servers.go, serverrow.go, pins.go, sources.go,
// result.go, guard.go, page.go, views.go, reference.go, text.go, session.go, settings.go, media.go,
// attempts.go, history.go.
package console
