// Package upstream is one MCP server that we are connected to, or would like
// to be.
//
// An Upstream connects when it is first needed (connect.go), finds out which
// revisions of the protocol the server speaks (handshake.go), gives every
// request an id of its own and matches the answers (conn.go, call.go), and
// reconnects by itself. Messages keep their bytes; what is changed is the id,
// the progress token, and what differs between the eras of the protocol.
//
// A call needs a permit, which only policy.Decide makes. What the host asks on
// its own account, such as lists, does not.
//
// One goroutine reads a connection and one writes it. Notifications reach
// those they are for in the order they came, and before the result they
// precede, because the reading goroutine delivers both; nothing it calls may
// wait.
package upstream
