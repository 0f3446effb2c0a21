// Package httpserver serves the gateway to any number of clients over HTTP: the
// streamable HTTP transport of both protocol eras, the older HTTP+SSE
// transport, health checks, TLS and unix sockets.
//
// A request passes the origin policy and the authenticator before its body is
// read. Every listener, connection, body, stream and session is bounded.
package httpserver
