package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A terminal is the command line as the client of one call. It does not change, and its methods
// may be called concurrently.
type terminal struct {
	*localAnswerer
	call *LocalCall
}

func (*terminal) era() era.Era { return era.Both }

// Revision implements client.
func (*terminal) Revision() mcp.Revision { return "" }

func (*terminal) program() string { return "" }

func (t *terminal) capabilities() []byte {
	if t.user == nil {
		return nil
	}
	return t.user.Capabilities()
}

func (t *terminal) ask(ctx context.Context, q clientQuestion) (result, rpcErr []byte) {
	return t.answer(ctx, q)
}

// describe sets what the command asks for, in place of the settings of the server.
func (t *terminal) describe(c *upstream.Call) {
	c.Timeout.Limit, c.Progress = t.call.Timeout, t.call.Progress
	if t.user != nil {
		c.Capabilities = t.localAnswerer.capabilities()
	}
}
