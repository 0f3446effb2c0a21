package gateway

import (
	"cmp"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A call is the use of an item while its server works. The goroutine that sends the call owns it: that of the
// request, or of the suspended call. A call ends with its response and holds nothing to close.
type call struct {
	*use
	upstream *upstream.Upstream
	sent     upstream.Call // as the server gets it
}

// A response is the outcome of a request that did not fail. An error may come with the memory that it holds.
// The receiver of a response owns hold and reply. The answer to the client takes over hold (runrequest.go).
type response struct {
	result  []byte          // for a client of the gateway; nil: nothing is sent
	leading []byte          // members that precede those of the result, each with its comma
	names   mcp.Names       // of the members of the server's result; zero: unknown
	hold    *limit.Hold     // memory of the answer
	reply   *upstream.Reply // for the command line: what the server answered
}

// newCall returns the call of a use over a connection.
func newCall(u *use, up *upstream.Upstream) *call {
	c := &call{use: u, upstream: up, sent: upstream.Call{
		Method:    u.method,
		Params:    withClientContext(u, u.params),
		Permit:    u.permit,
		Principal: u.principal,
		About:     u.pendingRequest,
		Repeat:    mayRepeat(u),
		AsTask:    u.tool != nil && u.tool.AsTask && u.method == mcp.MethodCallTool,
	}}
	u.client.describe(&c.sent)
	if u.client.era() == era.Both {
		return c
	}
	if u.takeProgress() {
		c.sent.Progress = u.progress.report
	}
	if limit := u.generation.Servers[u.item.Server].Timeout; limit != nil && u.method == mcp.MethodCallTool {
		c.sent.Timeout = limit(u.item.Name, u.principal)
	}
	if level, asked := u.gw.levels.setBy(u.item.Server); asked && lowerLevel(level, cmp.Or(c.sent.Level, u.level)) {
		c.sent.Level = level
	}
	return c
}

// mayRepeat reports whether the request may be sent again after the connection ended before the answer.
func mayRepeat(u *use) bool {
	switch u.method {
	case mcp.MethodCallTool:
		repeat := u.generation.Servers[u.item.Server].Repeat
		return repeat != nil && repeat(u.item.Name)
	case mcp.MethodUpdateTask, mcp.MethodCancelTask:
		return false
	}
	return true
}
