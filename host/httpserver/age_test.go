package httpserver

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A tape is a response that can be read while it is written.
type tape struct {
	header http.Header
	mu     sync.Mutex
	status int          // guarded by mu
	text   bytes.Buffer // guarded by mu
}

func (p *tape) Header() http.Header { return p.header }
func (p *tape) Flush()              {}

func (p *tape) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

func (p *tape) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *tape) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// A clocked front is in a bubble, where hours pass at once.
type clocked struct {
	*Server
	t *testing.T
}

func inBubble(t *testing.T, test func(c *clocked)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gateway.New(gateway.Options{Version: "1", Policy: policy.New(nil), Log: hclog.NewNullLogger()})
		list := catalog.New(nil, "", hclog.NewNullLogger(), g.ListsChanged)
		g.Bind(list)
		o := defaults()
		o.Gateway, o.Log, o.LegacySSE = g, hclog.NewNullLogger(), true
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		f.guard.unix = true
		test(&clocked{f, t})
		f.close()
		f.work.Wait()
		g.Stop()
		list.Stop()
	})
}

// ask makes a request that ends with ctx, and returns the response so far.
func (c *clocked) ask(ctx context.Context, method, path, session, body string) *tape {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	p := &tape{header: http.Header{}}
	go c.ServeHTTP(p, r)
	synctest.Wait()
	return p
}

func (c *clocked) greet() string {
	c.t.Helper()
	p := c.ask(context.Background(), http.MethodPost, "/mcp", "", greeting)
	id := p.header.Get("Mcp-Session-Id")
	if p.status != http.StatusOK || id == "" {
		c.t.Fatal(p.status, p.String())
	}
	return id
}

// alive pings in a session.
func (c *clocked) alive(session string, want bool) {
	c.t.Helper()
	p := c.ask(context.Background(), http.MethodPost, "/mcp", session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	status := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[want]
	if p.status != status {
		c.t.Errorf("%d: %s", p.status, p)
	}
}

// TestIdleSession: a session that is used, or has an open stream, does not end;
// one that is neither does.
func TestIdleSession(t *testing.T) {
	inBubble(t, func(c *clocked) {
		used, listened, left := c.greet(), c.greet(), c.greet()
		ctx, hangUp := context.WithCancel(context.Background())
		stream := c.ask(ctx, http.MethodGet, "/mcp", listened, "")
		for range 10 {
			time.Sleep(299 * time.Second)
			c.alive(used, true)
		}
		c.alive(left, false)
		c.alive(listened, true)
		hangUp()
		time.Sleep(299 * time.Second)
		c.alive(listened, true)
		time.Sleep(301 * time.Second)
		c.alive(listened, false)
		if strings.Contains(stream.String(), "event: ") {
			t.Error(stream)
		}
		if n := c.sessions.Len(); n > 3 {
			t.Errorf("%d sessions", n)
		}
	})
}

// TestOldSession: no session lives longer than a day, and its stream says why
// it ends; so does that of a client of 2024-11-05.
func TestOldSession(t *testing.T) {
	inBubble(t, func(c *clocked) {
		id := c.greet()
		stream := c.ask(context.Background(), http.MethodGet, "/mcp", id, "")
		old := c.ask(context.Background(), http.MethodGet, "/sse", "", "")
		time.Sleep(24*time.Hour - time.Second)
		c.alive(id, true)
		for _, s := range []*tape{stream, old} {
			if strings.Contains(s.String(), "event: end\n") {
				t.Error(s)
			}
		}
		time.Sleep(time.Minute)
		c.alive(id, false)
		for _, s := range []*tape{stream, old} {
			// A comment may be due at the same moment, and come after it.
			got := strings.TrimSuffix(s.String(), string(comment))
			if !strings.HasSuffix(got, "event: end\ndata: {\"reason\":\"max_age\"}\n\n") {
				t.Errorf("…%q", got[max(0, len(got)-300):])
			}
		}
	})
}

// TestKeepalive: a stream on which nothing happens has a comment every fifteen
// seconds, whichever kind of stream it is.
func TestKeepalive(t *testing.T) {
	inBubble(t, func(c *clocked) {
		ctx, hangUp := context.WithCancel(context.Background())
		defer hangUp()
		const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` + meta + `}}`
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(listen))
		for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
			r.Header.Set(name, value)
		}
		listening := &tape{header: http.Header{}}
		go c.ServeHTTP(listening, r)
		streams := map[string]*tape{
			"session": c.ask(ctx, http.MethodGet, "/mcp", c.greet(), ""),
			"old":     c.ask(ctx, http.MethodGet, "/sse", "", ""),
			"listen":  listening,
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		for name, s := range streams {
			if n := strings.Count(s.String(), ":\n\n"); n != 4 {
				t.Errorf("%s: %d comments: %q", name, n, s.String())
			}
		}
		hangUp()
		synctest.Wait()
		before := streams["listen"].String()
		time.Sleep(time.Hour)
		if after := streams["listen"].String(); after != before {
			t.Errorf("%q was sent after the end", after[len(before):])
		}
	})
}
