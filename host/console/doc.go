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
// Package host makes one Server and gives it Sources, which package console/source implements.
// net/http calls ServeHTTP on a goroutine for each request, which makes a request value
// (page.go), passes the checks and calls show or act of the page; these functions may wait for
// servers and plugins. The types with a mu may be used concurrently; views, rows and forms
// belong to one request and are only for its template.
//
// server.go, settings.go, session.go, signin.go, link.go, attempts.go, guard.go and body.go
// decide who gets in; page.go and views.go have the table of pages and the templates, with
// assets.go, text.go and reference.go for what they show. sources.go is what the pages ask for.
// history.go keeps the samples that chart.go draws. Each of the other files is a page, or the
// rows of one.
//
// Every text of a server is untrusted: templates get it through texts (text.go), which masks
// secrets and hidden characters. Names of pages and fields are part of links that people keep.
//
// Files, from the top: events.go, audit.go, access.go, lists.go, chart.go, item.go, items.go,
// approvals.go, journal.go, configuration.go, server.go, signin.go, link.go, body.go, assets.go,
// policytable.go, tools.go, try.go, toolform.go, servers.go, serverrow.go, pins.go, sources.go,
// result.go, guard.go, page.go, views.go, reference.go, text.go, session.go, settings.go, media.go,
// attempts.go, history.go.
package console
