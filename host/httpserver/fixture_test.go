package httpserver

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/sessionstore"
	"github.com/junctor-mcp/junctor/host/upstream"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// testTimeout bounds what should happen at once.
const testTimeout = 20 * time.Second

// tools are the tools of each scripted server, beside resources and prompts:
//
//	echo      answers with its params
//	wait      answers when the test tells it to
//	progress  reports progress arguments.n times, then answers
//	ask       asks the client for a model message, and answers with that
//	needs     refuses because the client lacks a capability
//	big       answers with arguments.n bytes
var tools = []string{"echo", "wait", "progress", "ask", "needs", "big"}

// A scriptedServer is an MCP server that a test controls.
type scriptedServer struct {
	conversation.Server
	name  string
	share gateway.Share
	calls chan pendingCall // pending calls
	stops chan string      // ids of requests that were cancelled

	mu               sync.Mutex
	pendingQuestions map[string]string // guarded by mu; calls by the id of the question that was asked
}

// A pendingCall is a call of "wait".
type pendingCall struct {
	link *conversation.Link
	m    conversation.Message
}

func (c pendingCall) answer(result string) { c.link.Say(conversation.Result(c.m, result)) }

func newScriptedServer(name, revision string) *scriptedServer {
	p := &scriptedServer{name: name, calls: make(chan pendingCall, 1<<14), stops: make(chan string, 1<<14),
		pendingQuestions: map[string]string{}}
	p.Revision = revision
	p.Capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{}}`
	var items []string
	for _, tool := range tools {
		items = append(items, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, tool))
	}
	p.Set(mcp.MethodListTools, items...)
	p.Set(mcp.MethodListRes, `{"name":"r","uri":"test://r"}`)
	p.Set(mcp.MethodListPrompts, `{"name":"p"}`)
	p.Answer = p.answer
	return p
}

func (p *scriptedServer) answer(l *conversation.Link, m conversation.Message) string {
	switch m.Method {
	case "":
		return p.takeAnswer(l, m)
	case mcp.NoteCancelled:
		p.stops <- string(mcp.Member(m.Params, "requestId"))
	case mcp.MethodCallTool:
		return p.call(l, m)
	case mcp.MethodListen:
		agreed := mcp.SetPath(mcp.SetMember(nil, "notifications", mcp.Member(m.Params, "notifications")),
			[]string{"_meta", mcp.MetaSubscription}, m.ID)
		l.Say(string(mcp.AppendNotification(nil, mcp.NoteAcknowledged, agreed)))
		return conversation.Later
	case mcp.MethodReadResource:
		return conversation.Result(m, `{"contents":[{"uri":"test://r","text":"r"}]}`)
	case mcp.MethodGetPrompt:
		return conversation.Result(m, `{"messages":[]}`)
	}
	return ""
}

func (p *scriptedServer) call(l *conversation.Link, m conversation.Message) string {
	name, _ := mcp.TextMember(m.Params, "name")
	var n int
	_ = json.Unmarshal(mcp.Member(m.Params, "arguments", "n"), &n)
	switch name {
	case "wait":
		p.calls <- pendingCall{l, m}
		return conversation.Later
	case "progress":
		token := mcp.Member(m.Params, "_meta", "progressToken")
		for i := range n {
			l.Say(fmt.Sprintf(
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`,
				token, i+1,
			))
		}
	case "ask":
		id := fmt.Sprintf(`"ask-%s"`, strings.Trim(string(m.ID), `"`))
		p.mu.Lock()
		p.pendingQuestions[id] = string(m.ID)
		p.mu.Unlock()
		l.Say(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, id,
		))
		return conversation.Later
	case "needs":
		return conversation.Error(m,
			`{"code":-32021,"message":"needs sampling","data":{"requiredCapabilities":{"sampling":{}}}}`)
	case "big":
		return conversation.Result(m, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, strings.Repeat("x", n)))
	}
	return conversation.Result(m, fmt.Sprintf(`{"content":[],"echo":%s}`, m.Params))
}

// takeAnswer handles the client's answer to a question of a call.
func (p *scriptedServer) takeAnswer(l *conversation.Link, m conversation.Message) string {
	p.mu.Lock()
	id := p.pendingQuestions[string(m.ID)]
	p.mu.Unlock()
	if id != "" {
		said := m.Result
		if said == nil {
			said = m.Error
		}
		l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"heard":%s}}`, id, said))
	}
	return ""
}

// nextCall returns the next call of "wait".
func (p *scriptedServer) nextCall(t testing.TB) pendingCall {
	t.Helper()
	select {
	case c := <-p.calls:
		return c
	case <-time.After(testTimeout):
		t.Fatal("the server got no call")
		panic("unreachable")
	}
}

// fixtureMemory is the memory for messages of a fixture, in bytes.
const fixtureMemory = 256 << 20

// leaveMemory takes memory until n bytes are left, for the rest of the test.
func (h *fixture) leaveMemory(n int) {
	taken := fixtureMemory - n
	h.memory.Count(taken)
	h.t.Cleanup(func() { h.memory.Count(-taken) })
}

// A fixture is a Server with a gateway of scripted servers.
type fixture struct {
	notes notes
	*Server
	t       testing.TB
	address string // host and port
	gateway *gateway.Gateway
	servers map[string]*scriptedServer
	tools   *limit.Tools // of the gateway; without rules
	close   func()       // shuts down, once; the test fails if that is not orderly
	log     *lockedBuffer
}

// defaults returns the default options of the configuration.
func defaults() Options {
	return Options{Settings: Settings{
		Origins: []string{"http://localhost", "http://127.0.0.1"},
		MaxBody: 1 << 20, MaxInFlight: 500,
		Header: 10 * time.Second, Body: 30 * time.Second, Send: 5 * time.Second,
		Keepalive: 15 * time.Second, Drain: 10 * time.Second,
		Sessions: sessionstore.Limits{Max: 1000, Idle: 300 * time.Second, Life: 24 * time.Hour, Events: 10_000},
	}}
}

// A lockedBuffer is a log with several writers.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// openFixture serves on a port of its own until the test ends.
func openFixture(t testing.TB, change func(*Options), servers ...*scriptedServer) *fixture {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	return openFixtureAt(t, l, nil, change, servers...)
}

// openSecureFixture is openFixture with TLS.
func openSecureFixture(t testing.TB, secure *TLS, servers ...*scriptedServer) *fixture {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	return openFixtureAt(t, l, secure, nil, servers...)
}

func openFixtureAt(t testing.TB, l net.Listener, secure *TLS, change func(*Options),
	servers ...*scriptedServer) *fixture {
	t.Helper()
	h := &fixture{t: t, address: l.Addr().String(), servers: map[string]*scriptedServer{}, log: &lockedBuffer{}}
	log := hclog.New(&hclog.LoggerOptions{Output: h.log, Level: hclog.Debug})
	stopServers := h.connect(log, servers)
	o := defaults()
	o.Gateway, o.Log = h.gateway, log
	if change != nil {
		change(&o)
	}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Server = f
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.serveUntil(ctx, l, secure) }()
	h.close = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(testTimeout):
			t.Error("Serve does not return after its context has ended")
		}
		stopServers()
	})
	t.Cleanup(h.close)
	return h
}

// connect creates the gateway and connects it to the servers.
func (h *fixture) connect(log hclog.Logger, servers []*scriptedServer) (stop func()) {
	set, rules := map[string]gateway.Server{}, map[string]policy.Server{}
	open := func(p *scriptedServer, peer upstream.Peer) *upstream.Upstream {
		return upstream.New(upstream.Options{
			Name: p.name, Peer: peer, Revisions: fixedRevision{mcp.Revision(p.Revision)}, Log: log, Version: "1",
			Start: testTimeout, Call: time.Minute, Shutdown: time.Second,
			Open: func(context.Context) (upstream.Link, error) { return p.Open(), nil },
		})
	}
	for _, p := range servers {
		h.servers[p.name], rules[p.name] = p, policy.Server{}
		set[p.name] = gateway.Server{Share: p.share,
			Open: func(peer upstream.Peer, _ authn.Principal) *upstream.Upstream { return open(p, peer) }}
	}
	c := catalog.New(nil, "", log, nil)
	h.tools = limit.NewTools(log)
	h.gateway = gateway.New(gateway.Options{Version: "1", Catalog: c, Log: log, Budget: limit.NewMemory(fixtureMemory),
		Limit: h.tools, Audit: &h.notes})
	var all []*catalog.Server
	var ups []*upstream.Upstream
	for _, p := range servers {
		u := open(p, h.gateway.Peer(p.name))
		ups = append(ups, u)
		server := set[p.name]
		server.Upstream = u
		set[p.name] = server
		all = append(all, &catalog.Server{Name: p.name, Prefix: p.name, Upstream: u, Key: p.name})
	}
	told := make(chan struct{})
	once := sync.OnceFunc(func() { close(told) })
	c.OnChange(func(kinds []upstream.ListKind) {
		h.gateway.ListsChanged(kinds)
		once()
	})
	h.gateway.Apply(&gateway.Generation{Policy: policy.New(rules, policy.Rules{}), Servers: set})
	c.SetServers(all)
	if failed := c.Ensure(context.Background()); len(failed) > 0 {
		h.t.Fatal(failed)
	}
	if len(all) > 0 {
		<-told // so that no client is notified
	}
	return func() {
		h.gateway.Stop()
		c.Stop()
		for _, u := range ups {
			u.Close()
		}
	}
}

type fixedRevision struct{ revision mcp.Revision }

func (r fixedRevision) Revision() mcp.Revision { return r.revision }
func (fixedRevision) Remember(mcp.Revision)    {}

// Tokens of two principals.
const (
	aliceToken = "alice-0123456789abcdef"
	bobToken   = "bob-0123456789abcdef"
)

func newTestTokens() *authn.Tokens {
	return authn.NewTokens([]authn.StaticToken{
		{Token: aliceToken, Subject: "alice", Tenant: "default"}, {Token: bobToken, Subject: "bob", Tenant: "default"},
	})
}

// TestMain runs more tests at a time than there are processors, because most wait for
// processes or for time to pass. The flag -parallel takes precedence.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
		os.Exit(status)
	}))
}

// serveUntil answers requests that arrive at l until ctx ends, and closes the server then.
// It uses TLS if secure is not nil. The error is that of the listener. It is nil if
// ctx has ended.
func (srv *Server) serveUntil(ctx context.Context, l net.Listener, secure *TLS) error {
	x := srv.Start(l, secure)
	var err error
	select {
	case err = <-srv.failed:
	case <-ctx.Done():
	}
	srv.Shutdown(x, func() {})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
