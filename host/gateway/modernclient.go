package gateway

import (
	"context"
	"strings"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modernClient is a client in the course of one exchange: one request, or several where it is
// asked something. It says who it is with each request. It is part of a request. The fields do
// not change after setClient, but for call, which the goroutine of the request sets.
type modernClient struct {
	version string // of the protocol
	caps    []byte
	info    []byte         // clientInfo in _meta
	call    *suspendedCall // with a connection on which the server may ask; nil: none
}

func (*modernClient) era() era.Era { return era.Modern }

// Revision implements client.
func (m *modernClient) Revision() mcp.Revision { return mcp.Revision(m.version) }

func (m *modernClient) program() string {
	name, _ := mcp.TextMember(m.info, "name")
	version, _ := mcp.TextMember(m.info, "version")
	return truncate.Runes(strings.TrimSpace(name+" "+version), maxProgram)
}

func (m *modernClient) capabilities() []byte { return m.caps }

func (*modernClient) absent() string { return "" }

// ask asks the client with the result of its request, and gets the answer with another one. Only a
// call with a connection of its own can wait for that.
func (m *modernClient) ask(ctx context.Context, q clientQuestion) (result, rpcErr []byte) {
	if m.call == nil {
		return nil, question.NoClient(q.method)
	}
	if result, rpcErr, settled := m.call.gw.local.settle(m.caps, q); settled {
		return result, rpcErr
	}
	return m.call.ask(ctx, q.method, q.params)
}

// describe does nothing: the params of a modern request have what is to be said.
func (*modernClient) describe(*upstream.Call) {}
