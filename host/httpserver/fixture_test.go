package httpserver

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

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

// patience bounds what should happen at once.
const patience = 20 * time.Second

// tools are what the servers of a hall have, beside resources and prompts:
//
//	echo      answers with its params
//	wait      answers when the test says so
//	progress  reports it arguments.n times, then answers
//	ask       asks the client for a message of its model, and answers with that
//	needs     refuses because the client cannot do something
//	big       answers with arguments.n bytes
var tools = []string{"echo", "wait", "progress", "ask", "needs", "big"}

// A performer is a scripted server.
type performer struct {
	conversation.Server
	name  string
	share gateway.Share
	calls chan waiting // that wait
	stops chan string  // ids of requests that were cancelled

	mu     sync.Mutex
	asking map[string]string // guarded by mu; calls by the id of what was asked in their course
}

// A waiting is a call of "wait".
type waiting struct {
	link *conversation.Link
	m    conversation.Message
}

func (c waiting) answer(result string) { c.link.Say(conversation.Result(c.m, result)) }

func newPerformer(name, revision string) *performer {
	p := &performer{name: name, calls: make(chan waiting, 1<<14), stops: make(chan string, 1<<14), asking: map[string]string{}}
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

func (p *performer) answer(l *conversation.Link, m conversation.Message) string {
	switch m.Method {
	case "":
		return p.heard(l, m)
	case mcp.NoteCancelled:
		p.stops <- string(mcp.Member(m.Params, "requestId"))
	case mcp.MethodCallTool:
		return p.call(l, m)
	case mcp.MethodListen:
		agreed := mcp.SetPath(mcp.SetMember(nil, "notifications", mcp.Member(m.Params, "notifications")), []string{"_meta", mcp.MetaSubscription}, m.ID)
		l.Say(string(mcp.AppendNotification(nil, mcp.NoteAcknowledged, agreed)))
		return conversation.Later
	case mcp.MethodReadResource:
		return conversation.Result(m, `{"contents":[{"uri":"test://r","text":"r"}]}`)
	case mcp.MethodGetPrompt:
		return conversation.Result(m, `{"messages":[]}`)
	}
	return ""
}

func (p *performer) call(l *conversation.Link, m conversation.Message) string {
	name, _ := mcp.TextMember(m.Params, "name")
	var n int
	_ = json.Unmarshal(mcp.Member(m.Params, "arguments", "n"), &n)
	switch name {
	case "wait":
		p.calls <- waiting{l, m}
		return conversation.Later
	case "progress":
		token := mcp.Member(m.Params, "_meta", "progressToken")
		for i := range n {
			l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, i+1))
		}
	case "ask":
		id := fmt.Sprintf(`"ask-%s"`, strings.Trim(string(m.ID), `"`))
		p.mu.Lock()
		p.asking[id] = string(m.ID)
		p.mu.Unlock()
		l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, id))
		return conversation.Later
	case "needs":
		return conversation.Error(m, `{"code":-32021,"message":"needs sampling","data":{"requiredCapabilities":{"sampling":{}}}}`)
	case "big":
		return conversation.Result(m, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, strings.Repeat("x", n)))
	}
	return conversation.Result(m, fmt.Sprintf(`{"content":[],"echo":%s}`, m.Params))
}

// heard takes the client's answer to what a call asked.
func (p *performer) heard(l *conversation.Link, m conversation.Message) string {
	p.mu.Lock()
	id := p.asking[string(m.ID)]
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

// next is the next call of "wait".
func (p *performer) next(t testing.TB) waiting {
	t.Helper()
	select {
	case c := <-p.calls:
		return c
	case <-time.After(patience):
		t.Fatal("the server is not called")
		panic("unreachable")
	}
}

// hallMemory is the memory for messages of a hall, in bytes.
const hallMemory = 256 << 20

// leave takes memory until n bytes are left, for as long as the test lasts.
func (h *fixture) leave(n int) {
	taken := hallMemory - n
	h.budget.Count(taken)
	h.t.Cleanup(func() { h.budget.Count(-taken) })
}

// A fixture is a front with a gateway of scripted servers behind it.
type fixture struct {
	*Server
	t       testing.TB
	at      string // host and port
	gateway *gateway.Gateway
	servers map[string]*performer
	end     func() // ends it, once; what it did not do in order fails the test
	log     *locked
}

// defaults are options as the configuration has them.
func defaults() Options {
	return Options{
		Origins: []string{"http://localhost", "http://127.0.0.1"},
		MaxBody: 1 << 20, MaxInFlight: 500,
		Header: 10 * time.Second, Body: 30 * time.Second, Send: 5 * time.Second, Keepalive: 15 * time.Second, Drain: 10 * time.Second,
		Sessions: sessionstore.Options{Max: 1000, Idle: 300 * time.Second, Life: 24 * time.Hour, Events: 10_000},
	}
}

// A locked is a log that many write to.
type locked struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// openFixture serves at a port of its own until the test ends.
func openFixture(t testing.TB, change func(*Options), servers ...*performer) *fixture {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	return openFixtureAt(t, l, nil, change, servers...)
}

// openSecureFixture is openHall with TLS.
func openSecureFixture(t testing.TB, secure *tls.Config, servers ...*performer) *fixture {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	return openFixtureAt(t, l, secure, nil, servers...)
}

func openFixtureAt(t testing.TB, l net.Listener, secure *tls.Config, change func(*Options), servers ...*performer) *fixture {
	t.Helper()
	h := &fixture{t: t, at: l.Addr().String(), servers: map[string]*performer{}, log: &locked{}}
	log := hclog.New(&hclog.LoggerOptions{Output: h.log, Level: hclog.Debug})
	stopServers := h.hire(log, servers)
	o := defaults()
	o.Gateway, o.Log = h.gateway, log
	if change != nil {
		change(&o)
	}
	o.Sessions.Log = log
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Server = f
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, l, secure) }()
	h.end = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the front does not end")
		}
		stopServers()
	})
	t.Cleanup(h.end)
	return h
}

// hire makes the gateway and connects it to the servers.
func (h *fixture) hire(log hclog.Logger, servers []*performer) (stop func()) {
	set, rules := map[string]gateway.Server{}, map[string]policy.Server{}
	open := func(p *performer, peer upstream.Peer) *upstream.Upstream {
		return upstream.New(upstream.Options{
			Name: p.name, Peer: peer, Memory: remembered{mcp.Revision(p.Revision)}, Log: log, Version: "1",
			Start: patience, Call: time.Minute, Shutdown: time.Second,
			Open: func(context.Context) (upstream.Link, error) { return p.Open(), nil },
		})
	}
	for _, p := range servers {
		h.servers[p.name], rules[p.name] = p, policy.Server{}
		set[p.name] = gateway.Server{Share: p.share, Open: func(peer upstream.Peer, _ authn.Principal) *upstream.Upstream { return open(p, peer) }}
	}
	h.gateway = gateway.New(gateway.Options{Version: "1", Policy: policy.New(rules), Log: log, Servers: set, Budget: limit.NewMemory(hallMemory)})
	var all []*catalog.Server
	var ups []*upstream.Upstream
	for _, p := range servers {
		u := open(p, h.gateway.Peer(p.name))
		ups = append(ups, u)
		all = append(all, &catalog.Server{Name: p.name, Prefix: p.name, Upstream: u, Key: p.name})
	}
	told := make(chan struct{})
	once := sync.OnceFunc(func() { close(told) })
	c := catalog.New(all, "", log, func(kinds []upstream.ListKind) {
		h.gateway.ListsChanged(kinds)
		once()
	})
	h.gateway.Bind(c)
	if failed := c.Ensure(context.Background()); len(failed) > 0 {
		h.t.Fatal(failed)
	}
	if len(all) > 0 {
		<-told // so that no client hears of it
	}
	return func() {
		h.gateway.Stop()
		c.Stop()
		for _, u := range ups {
			u.Close()
		}
	}
}

type remembered struct{ revision mcp.Revision }

func (r remembered) Revision() mcp.Revision { return r.revision }
func (remembered) Remember(mcp.Revision)    {}

// Tokens of two clients.
const (
	aliceToken = "alice-0123456789abcdef"
	bobToken   = "bob-0123456789abcdef"
)

func twoTokens() *authn.Tokens {
	return authn.NewTokens([]authn.StaticToken{
		{Token: aliceToken, Subject: "alice", Tenant: "default"}, {Token: bobToken, Subject: "bob", Tenant: "default"},
	})
}
