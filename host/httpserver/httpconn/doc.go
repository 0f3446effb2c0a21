// Package httpconn manages the connections of an HTTP server below net/http. A
// [Listener] wraps the listener that http.Server serves. It adds what net/http
// lacks or does at a cost that the gateway cannot pay:
//
//   - Deadlines (deadline.go). net/http sets several read deadlines per request,
//     and each wakes a thread, which is a fifth of the cost of a small call. Here a
//     connection only notes when its time is over, and one goroutine checks all
//     connections. Unnecessary when deadlines in net/http cost no wake-up.
//   - Request framing (conn.go, package http1). net/http accepts requests that
//     two programs can read differently. A connection passes only checked heads on.
//     Unnecessary when net/http can refuse all such requests.
//   - TLS handshakes (handshake.go). http.Server.ServeTLS handshakes in the
//     goroutine that then serves the connection. The protocol must be known
//     earlier, because only HTTP/1 requests are checked. Unnecessary with the
//     check above, or when net/http offers a hook after the handshake.
//   - Connection limits (limiter.go). net/http accepts connections until the
//     process has no file descriptor left, and has no limit per address.
//     Unnecessary when http.Server has both limits and closes idle connections to
//     make space.
//   - One write per answer (coalesce.go). net/http buffers 4 KiB of a response and
//     writes a longer one in two pieces, so the first piece wakes the client for
//     nothing. Unnecessary when the size of that buffer can be set.
//   - Unread streams (unread.go). A write deadline notices a client that does not
//     read only after the system has buffered megabytes. Where the system reports
//     what the client has acknowledged, such a connection is closed in time.
//     Unnecessary when net/http, or a socket option, ends a connection whose client
//     reads nothing for a given time.
//   - Slow responses (slowresponses.go). net/http has no callback for a handler
//     that takes long, and a timer for each request wakes a thread. Here all
//     requests share one timer. Unnecessary when a timer that is stopped early
//     costs no wake-up.
//
// Connections with HTTP/2 pass through after the handshake. They keep net/http's
// own deadlines.
//
// Packages httpserver and host (for the console) use it. A Listener has three kinds of
// goroutines: the one of http.Server that accepts, one for each TLS handshake, and the two of
// Run, which check all connections. The exported functions with a request are for the goroutine
// that answers it.
//
// Files, from the top: listener.go, handshake.go, limiter.go, descriptors_unix.go,
// descriptors_other.go, deadline.go, conn.go, unread.go, unread_linux.go, unread_other.go,
// coalesce.go, slowresponses.go.
package httpconn
