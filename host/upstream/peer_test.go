package upstream

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// A recorder is a peer that records what the server sends. The test provides the
// responses.
type recorder struct {
	heard   chan string // notifications, and requests with the prefix "?"
	answers chan [2]string
	caps    string
}

func newRecorder() *recorder {
	return &recorder{heard: make(chan string, 1<<18), answers: make(chan [2]string), caps: "{}"}
}

func (r *recorder) Capabilities() []byte { return []byte(r.caps) }

func (r *recorder) ServerRequest(ctx context.Context, _ *Upstream, _ any, method string,
	params []byte) (result, rpcError []byte) {
	r.heard <- strings.TrimSpace(fmt.Sprintf("? %s %s", method, params))
	select {
	case a := <-r.answers:
		if a[0] == "refuse" {
			return nil, []byte(a[1])
		}
		return []byte(a[1]), nil
	case <-ctx.Done():
		r.heard <- "? cancelled"
		return nil, mcp.ErrorObject(mcp.CodeInternal, "cancelled", nil)
	}
}

func (r *recorder) ServerNotification(_ *Upstream, _ any, method string, params []byte) {
	r.heard <- strings.TrimSpace(fmt.Sprintf("%s %s", method, params))
}

func (r *recorder) Connected(*Upstream)           { r.heard <- "connected" }
func (r *recorder) Disconnected(*Upstream, error) { r.heard <- "disconnected" }

// A memory is a Memory without a file.
type memory struct {
	mu       sync.Mutex
	revision mcp.Revision // guarded by mu
}

func (m *memory) Revision() mcp.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision
}

func (m *memory) Remember(r mcp.Revision) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revision = r
}

// usual returns the options of most tests for the server that open connects to.
func usual(p Peer, open func() *conversation.Link) Options {
	return Options{
		Name: "s", Peer: p, Revisions: &memory{}, Log: hclog.NewNullLogger(), Version: "1",
		Start: 10 * time.Second, Call: time.Minute, Shutdown: 3 * time.Second,
		Open: func(context.Context) (Link, error) { return open(), nil },
	}
}

// permitted returns a call of the local principal with the permit for it.
func permitted(t testing.TB, c Call) *Call {
	t.Helper()
	c.Principal = authn.Local()
	item := policy.Item{Server: "s", Kind: policy.Tool}
	switch c.Method {
	case mcp.MethodGetPrompt:
		item.Kind = policy.Prompt
	case mcp.MethodReadResource:
		item.Kind = policy.Resource
	}
	if item.Name, _ = mcp.TextMember(c.Params, "name"); item.Kind == policy.Resource {
		item.Name, _ = mcp.TextMember(c.Params, "uri")
	}
	var args []byte
	if item.Kind == policy.Tool {
		args = mcp.Member(c.Params, "arguments")
	}
	c.Permit = permit(t, item, args)
	return &c
}

func permittedResource(t testing.TB, uri string) policy.Permit {
	t.Helper()
	return permit(t, policy.Item{Server: "s", Kind: policy.Resource, Name: uri}, nil)
}

func permittedTask(t testing.TB) policy.Permit {
	t.Helper()
	return permit(t, policy.Item{Server: "s", Kind: policy.Tool, Name: "x"}, nil)
}

func permit(t testing.TB, item policy.Item, args []byte) policy.Permit {
	t.Helper()
	p, err := policy.New(map[string]policy.Server{"s": {}}, policy.Rules{}).
		Decide(&policy.Query{Principal: new(authn.Local()), Item: item, Args: args}).Permit()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
