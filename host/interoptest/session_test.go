package interoptest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A session is a client of the Go SDK and everything that it received.
type session struct {
	*mcp.ClientSession
	client *mcp.Client
	t      *testing.T
	ctx    context.Context

	progress chan *mcp.ProgressNotificationParams
	logs     chan *mcp.LoggingMessageParams
	updated  chan string
	tools    chan struct{}
	prompts  chan struct{}
	resource chan struct{}
}

// maxReceived bounds what a session keeps of each kind.
const maxReceived = 1000

// connect connects a client of the Go SDK. It is pinned to a legacy revision,
// or detects a modern one. change, if not nil, modifies its options.
func (g *gateway) connect(d dialect, change func(*mcp.ClientOptions)) *session {
	g.t.Helper()
	return connect(g.t, g.transport(), d, change)
}

// connect connects over any transport.
func connect(t *testing.T, way mcp.Transport, d dialect, change func(*mcp.ClientOptions)) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*testTimeout)
	t.Cleanup(cancel)
	s := &session{
		t: t, ctx: ctx, progress: make(chan *mcp.ProgressNotificationParams, maxReceived),
		logs:    make(chan *mcp.LoggingMessageParams, maxReceived),
		updated: make(chan string, maxReceived), tools: make(chan struct{}, maxReceived),
		prompts: make(chan struct{}, maxReceived), resource: make(chan struct{}, maxReceived),
	}
	o := s.options()
	if change != nil {
		change(o)
	}
	var so *mcp.ClientSessionOptions
	if !d.modern() {
		so = &mcp.ClientSessionOptions{ProtocolVersion: d.revision}
	}
	s.client = mcp.NewClient(&mcp.Implementation{Name: "interoptest", Version: "1"}, o)
	if o.Capabilities.RootsV2 != nil {
		s.client.AddRoots(&mcp.Root{URI: "file:///the/root", Name: "the root"})
	}
	var err error
	s.ClientSession, err = s.client.Connect(ctx, way, so)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	if got := s.InitializeResult().ProtocolVersion; got != d.revision {
		t.Fatalf("the client and junctor agreed on revision %s, want %s", got, d.revision)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// options returns options that record everything the gateway sends.
func (s *session) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.progress <- r.Params
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { s.logs <- r.Params },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.updated <- r.Params.URI
		},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { s.tools <- struct{}{} },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { s.prompts <- struct{}{} },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { s.resource <- struct{}{} },
	}
}

// next waits for the next value of a kind.
func next[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(testTimeout):
		t.Fatalf("%s did not arrive", what)
		panic("unreachable")
	}
}

// call calls a tool and returns the text of its result, which must not be an
// error.
func (s *session) call(name string, arguments any) string {
	s.t.Helper()
	r := s.result(name, arguments)
	if r.IsError {
		s.t.Fatalf("%s: %s", name, textOf(r))
	}
	return textOf(r)
}

// result calls a tool and returns its result.
func (s *session) result(name string, arguments any) *mcp.CallToolResult {
	s.t.Helper()
	r, err := s.CallTool(s.ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// textOf returns all text of a result.
func textOf(r *mcp.CallToolResult) string {
	text := ""
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	return text
}

// waitForTools waits until the tools of servers are listed. A server that is
// slow to start is added later.
func (s *session) waitForTools(servers ...string) {
	s.t.Helper()
	eventually.NoError(s.t, func() error {
		all := s.toolNames()
		servers = slices.DeleteFunc(servers, func(server string) bool {
			return slices.ContainsFunc(all, func(name string) bool { return strings.HasPrefix(name, server+"__") })
		})
		if len(servers) > 0 {
			return fmt.Errorf("the tools of %v are not listed", servers)
		}
		return nil
	})
	for len(s.tools) > 0 { // discards the notifications about these changes
		<-s.tools
	}
}

// toolNames returns the names of the tools.
func (s *session) toolNames() []string {
	s.t.Helper()
	var all []string
	for tool, err := range s.Tools(s.ctx, nil) {
		if err != nil {
			s.t.Fatalf("listing tools: %v", err)
		}
		all = append(all, tool.Name)
	}
	return all
}
