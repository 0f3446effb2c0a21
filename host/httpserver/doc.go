// Package httpserver serves the gateway to any number of clients over HTTP: the
// streamable HTTP transport of both protocol eras, the older HTTP+SSE
// transport, health checks, TLS and unix sockets.
//
// A request passes the origin policy and the authenticator before its body is
// read. Every listener, connection, body, stream and session is bounded.
//
// Package host makes one Server for a process, applies settings to it and shuts it down;
// package control and the status read its numbers. net/http calls ServeHTTP on a goroutine for
// each request: that goroutine runs everything below, and may block as long as its deadlines
// allow. A request loads the settings in effect once (active) and passes them on. Types with a
// field mu may be used concurrently; exchange, eventWriter, logReader and requestBody belong to
// one request.
//
// server.go, settings.go, shutdown.go, listener.go, socket.go, acceptturn.go, tls.go and
// certificates.go are the life of the server and its listeners; server.go also has the handler of
// each path (a new path is a case of ServeHTTP) and authenticate, which admission and streams
// share. admission.go, refuse.go, checkorigin.go, clientaddress.go, addresslimiter.go, quota.go and
// refusals.go decide who may send a request; httperror.go has the answers to the others. post.go,
// get.go, session.go and legacysse.go serve the transports, health.go and resourcemetadata.go the
// other paths, with body.go, header.go, accept.go and requestid.go for reading. exchange.go,
// events.go, ssestream.go, resumablestream.go and streams.go write answers and streams, and
// recover.go ends those of handlers that panicked.
//
// Status codes, headers, ids of events and the codes and reasons of errors are what clients and
// proxies act on: they must stay.
//
// Files, from the top: acceptturn.go, socket.go, umask_unix.go, umask_other.go, health.go,
// refuse.go, resourcemetadata.go, certificates.go, get.go, legacysse.go, post.go, ssestream.go,
// resumablestream.go, session.go, header.go, exchange.go, events.go, body.go, admission.go,
// refusals.go, checkorigin.go, settings.go, shutdown.go, server.go, streams.go, listener.go,
// tls.go, clientaddress.go, recover.go, quota.go, httperror.go, addresslimiter.go, requestid.go,
// accept.go.
package httpserver
