// Package upstream connects the host to one MCP server.
//
// An Upstream connects on first use (connect.go) and negotiates the protocol
// revision (handshake.go). It assigns an id to every request and matches the
// responses (requesttable.go, dispatch.go). It reconnects on demand. Messages keep their bytes,
// except for the id, the progress token and the members that differ by era.
//
// A call requires a permit, which only policy.Decide creates. Requests of the
// host itself, such as lists, need no permit.
//
// One goroutine reads a connection and another one writes it. The reading goroutine
// delivers both notifications and results. Receivers therefore see notifications in
// order, and before the result that follows. Its callbacks must not block.
//
// Package host makes an Upstream for each server, and one more for each connection that not all
// clients share (connpool keeps those); the maker calls Close. gateway, catalog and console use
// it. Methods of Upstream may be called concurrently. An Upstream has one mu, which also guards
// the parts that say so; a connection has that of its requestTable, and may take it while the
// upstream's is held, not the other way round. Close waits for all goroutines.
//
// upstream.go, connect.go, start.go, startqueue.go, startclock.go, retries.go and idle.go are
// the life of an upstream and its connection; handshake.go, initialize.go and version.go the
// handshake; conn.go, dispatch.go, writer.go, requesttable.go, pending.go and callclock.go one
// connection. call.go, legacytask.go, list.go, pages.go, level.go, subscribe.go, listen.go and
// tasks.go are what users ask for. strayoutput.go and unmatched.go explain requests without a
// response.
//
// Files, from the top: list.go, pages.go, start.go, startclock.go, initialize.go, version.go,
// dispatch.go, listen.go, subscribe.go, tasks.go, call.go, strayoutput.go, level.go, legacytask.go,
// handshake.go, connect.go, idle.go, upstream.go, retries.go, conn.go, writer.go, requesttable.go,
// unmatched.go, pending.go, callclock.go, startqueue.go.
package upstream
