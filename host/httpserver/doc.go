// Package httpserver serves the gateway to any number of clients over HTTP: the
// streamable HTTP transport of both protocol eras, the older HTTP+SSE
// transport, health checks, TLS and unix sockets.
//
// A request passes the origin policy and the authenticator before its body is
// read. Every listener, connection, body, stream and session is bounded.
//
// Files, from the top: acceptturn.go, socket.go, umask_unix.go, umask_other.go, health.go,
// refuse.go, resourcemetadata.go, certificates.go, get.go, legacysse.go, post.go, ssestream.go,
// resumablestream.go, session.go, header.go, exchange.go, events.go, body.go, admission.go,
// refusals.go, checkorigin.go, settings.go, shutdown.go, server.go, streams.go, listener.go,
// tls.go, clientaddress.go, recover.go, quota.go, httperror.go, addresslimiter.go, requestid.go,
// accept.go.
package httpserver
