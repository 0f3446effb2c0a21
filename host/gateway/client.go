package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A client is the other end of a request: a *Session is a legacy client, a *modernClient one that sends
// requests without a session, and a *terminal the command line. Notifications go to the stream of the request.
// The methods may be called from the goroutine of the request and from those that answer questions of servers.
// Each implementation is in a file of its own: sessionclient.go, modernclient.go and
// terminal.go. setClient makes it part of a request.
type client interface {
	// era returns the era of the results that the client can read.
	era() era.Era
	// Revision returns the revision that the client uses; empty if it did not say.
	Revision() mcp.Revision
	// program returns the name and the version of the client, as it says; empty if it did not.
	program() string
	// capabilities returns what the client can be asked for: a JSON object, or nil.
	capabilities() []byte
	// absent says why there is no person at the client, or "".
	absent() string
	// ask asks a question and returns the answer, or an error of JSON-RPC.
	ask(ctx context.Context, q clientQuestion) (result, rpcErr []byte)
	// describe sets what the server of a call is told about the client.
	describe(c *upstream.Call)
}

var (
	_ client = (*Session)(nil)
	_ client = (*modernClient)(nil)
	_ client = (*terminal)(nil)
)
