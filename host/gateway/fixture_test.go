package gateway

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A fake is a scripted server and what the configuration says about it.
type fake struct {
	conversation.Server
	name   string
	bare   bool // without a prefix
	rules  policy.Server
	views  map[string]*catalog.View
	repeat func(string) bool
	start  time.Duration
	call   time.Duration
	share  Share

	describe catalog.Describe
	hideBad  bool // tools whose schemas are refused
	unlisted bool // resources may be read
	pins     *pinned

	idle   time.Duration // after which connections are closed; 0: never
	got    chan string   // what it was sent and does not answer by itself
	login  *login        // that it needs before it can be connected; nil: none
	broken error         // why it cannot be connected; nil: it can

	mu  sync.Mutex
	own map[*conversation.Link]chan string // guarded by mu; the same by connection, when not all share one
}

// at is what a connection was sent.
func (f *fake) at(l *conversation.Link) chan string {
	if f.share == "" {
		return f.got
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.own == nil {
		f.own = map[*conversation.Link]chan string{}
	}
	if f.own[l] == nil {
		f.own[l] = make(chan string, 1<<12)
	}
	return f.own[l]
}

// newFake makes a server that leaves to the test what is not a handshake, a
// list or a ping.
func newFake(name, revision string) *fake {
	f := &fake{name: name, start: 10 * time.Second, call: time.Minute, got: make(chan string, 1<<12)}
	f.Revision = revision
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		_, isList := conversation.Lists[m.Method]
		switch {
		case isList, m.Method == mcp.MethodInitialize, m.Method == mcp.MethodDiscover, m.Method == mcp.NoteInitialized,
			m.Method == mcp.MethodPing:
			return ""
		}
		f.at(l) <- m.Text
		return conversation.Later
	}
	return f
}

// A fixture is a gateway with scripted servers and clients.
type fixture struct {
	*Gateway
	log    *logbook
	fakes  map[string]*fake
	close  []func()
	closed bool
	told   atomic.Int64 // times that everybody was told that lists changed
}

// A logbook is where the gateway's log goes.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

type remembered struct{ revision mcp.Revision }

func (r remembered) Revision() mcp.Revision { return r.revision }
func (remembered) Remember(mcp.Revision)    {}

// upstream is a connection to the server.
func (f *fake) upstream(p upstream.Peer, log hclog.Logger) *upstream.Upstream {
	return upstream.New(upstream.Options{
		Name: f.name, Peer: p, Revisions: remembered{mcp.Revision(f.Revision)}, Log: log, Version: "1",
		Start: f.start, Call: f.call, Shutdown: time.Second, Idle: upstream.Idle{After: f.idle},
		Open: func(context.Context) (upstream.Link, error) {
			if f.broken != nil {
				return nil, f.broken
			}
			if f.login != nil && !f.login.good.Load() {
				return nil, fault.New(fault.UpstreamLogin, "nobody is logged in").
					WithHint("run `junctor login %s`", f.name)
			}
			return f.Open(), nil
		},
	})
}

// newFixture opens a gateway of servers in their order, which remembers nothing.
func newFixture(fakes ...*fake) *fixture { return newFixtureIn("", fakes...) }

// newFixtureIn opens one that keeps lists in a directory.
func newFixtureIn(dir cache.Dir, fakes ...*fake) *fixture {
	return newLimitedFixture(dir, nil, fakes...)
}

// newLimitedFixture opens one with limits of calls.
func newLimitedFixture(dir cache.Dir, limits limit.Limiter, fakes ...*fake) *fixture {
	d := &fixture{log: &logbook{}, fakes: map[string]*fake{}}
	log := hclog.New(&hclog.LoggerOptions{Output: d.log, Level: hclog.Debug})
	rules, servers := map[string]policy.Server{}, map[string]Server{}
	for _, f := range fakes {
		rules[f.name], d.fakes[f.name] = f.rules, f
		servers[f.name] = Server{Pinned: f.pins != nil, Repeat: f.repeat, Share: f.share, Unlisted: f.unlisted,
			Open: func(p upstream.Peer, _ authn.Principal) *upstream.Upstream { return f.upstream(p, log) }}
	}
	c := catalog.New(nil, dir, log, nil)
	d.Gateway = New(Options{Version: "1", Catalog: c, Log: log, Login: d.login, Budget: limit.NewMemory(64 << 20),
		Limit: limits})
	var all []*catalog.Server
	for _, f := range fakes {
		u := f.upstream(d.Peer(f.name), log)
		s := &catalog.Server{Name: f.name, Prefix: f.name, Views: f.views, Upstream: u, Key: f.name,
			Describe: f.describe, HideBadSchema: f.hideBad}
		if f.bare {
			s.Prefix = ""
		}
		if f.pins != nil {
			s.Pins = f.pins
		}
		all = append(all, s)
		server := servers[f.name]
		server.Upstream = u
		servers[f.name] = server
		d.close = append(d.close, u.Close)
	}
	c.OnChange(func(kinds []upstream.ListKind) {
		d.ListsChanged(kinds)
		d.told.Add(1)
	})
	d.close = append([]func(){d.Stop, c.Stop}, d.close...)
	d.Apply(&Generation{Policy: policy.New(rules, policy.Rules{}), Servers: servers})
	c.SetServers(all)
	return d
}

// setPolicy applies a generation with another policy.
func (d *fixture) setPolicy(p *policy.Policy) {
	d.Apply(&Generation{Policy: p, Servers: d.generations.current().Servers})
}

// change changes a server of the generation in effect, in a bubble: a connection that becomes ready
// reads the generation on a goroutine of its own, which has to be over.
func (d *fixture) change(name string, f func(*Server)) {
	synctest.Wait()
	server := d.generations.current().Servers[name]
	f(&server)
	d.generations.current().Servers[name] = server
}

// warm asks every server for its lists, before there is a client to tell.
func (d *fixture) warm(t *testing.T) {
	t.Helper()
	if failed := d.Catalog().Ensure(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	time.Sleep(100 * time.Millisecond) // a second report of changes may follow the first one
	eventually.True(t, "the catalog has reported the lists", func() bool {
		return len(d.Catalog().Snapshot().Names()) == 0 || d.told.Load() > 0
	})
}

func (d *fixture) end() {
	if !d.closed {
		d.closed = true
		for _, f := range d.close {
			f()
		}
	}
}

// A testClient is the other end of a session. Sent holds what it was sent.
type testClient struct {
	*Session
	Sent chan string
	box  *sendqueue.Queue
}

// Write and Flush make it the sink of its own send queue.
func (c *testClient) Write(parts ...[]byte) error {
	c.Sent <- string(bytes.Join(parts, nil))
	return nil
}

func (c *testClient) Flush() error { return nil }

// client is the only client of a gateway on stdio.
func (d *fixture) client() *testClient {
	c := newClient()
	c.Session = d.Open(Client{Principal: authn.Local(), Out: c.box, Sole: true})
	return c
}

// visitor is one of many clients over HTTP.
func (d *fixture) visitor(subject, tenant string) *testClient {
	c := newClient()
	c.Session = d.Open(Client{Principal: authn.Principal{Subject: subject, Tenant: tenant, Method: "test"}, Out: c.box})
	return c
}

func newClient() *testClient {
	c := &testClient{Sent: make(chan string, 1<<16)}
	c.box = sendqueue.New(c, 1<<20, nil)
	return c
}

// say sends the gateway a message.
func (c *testClient) say(format string, args ...any) {
	c.Handle([]byte(expand(fmt.Sprintf(format, args...))))
}

// hangUp ends the session.
func (c *testClient) hangUp() {
	c.Close(context.Background(), 0)
	_ = c.box.Close()
}

// expand puts what every modern request says into a message.
func expand(text string) string {
	return strings.NewReplacer(
		"$M", `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`,
		"$I", `"io.modelcontextprotocol/clientInfo":{"name":"junctor","version":"1"}`,
		"<CR>", "\r", "<LF>", "\n",
	).Replace(text)
}

// greet begins a legacy session of a client with these capabilities.
func (c *testClient) greet(t testing.TB, caps string) {
	t.Helper()
	c.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`,
		caps)
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if answer := <-c.Sent; !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":"hello","result":`) {
		t.Fatal(answer)
	}
}
