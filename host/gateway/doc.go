// Package gateway is what a client sees: one MCP server that has everything
// the upstreams have.
//
// A [Session] is one client. Both eras of the protocol may be spoken on the
// same connection: a request that says in _meta who asks is modern and stands
// for itself; an initialize begins a legacy session, whose state lives here.
// For each request the session finds the item (host/catalog), asks whether it
// may be used (host/policy), checks the arguments (host/schema), and relays the
// bytes (host/upstream).
//
// The gateway is also every upstream's peer: what a server says or asks on its
// own account goes to the session that can be meant, and is refused when there
// is none (notify.go, reverse.go).
//
// It knows nothing of how clients connect; host/httpserver does.
package gateway
