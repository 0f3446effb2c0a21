package httpserver

import (
	"bytes"
	"context"
	"net"
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
	"github.com/junctor-mcp/junctor/host/httpserver/origin"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A recorder is a response that can be read while it is written.
type recorder struct {
	header http.Header
	mu     sync.Mutex
	status int          // guarded by mu
	text   bytes.Buffer // guarded by mu
}

func (p *recorder) Header() http.Header { return p.header }
func (p *recorder) Flush()              {}

func (p *recorder) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

func (p *recorder) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *recorder) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// A clockedServer is a Server with a fake clock.
type clockedServer struct {
	*Server
	t *testing.T
}

func withFakeClock(t *testing.T, test func(c *clockedServer)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := catalog.New(nil, "", hclog.NewNullLogger(), nil)
		g := gateway.New(gateway.Options{Version: "1", Catalog: list, Log: hclog.NewNullLogger()})
		o := defaults()
		o.Gateway, o.Log, o.LegacySSE = g, hclog.NewNullLogger(), true
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		test(&clockedServer{f, t})
		_ = f.sessions.Close()
		f.work.Wait()
		g.Stop()
		list.Stop()
	})
}

// onSocket returns the context of a request that arrives at a unix socket.
func (c *clockedServer) onSocket(ctx context.Context) context.Context {
	return context.WithValue(ctx, listenerKey{}, &Listener{server: c.Server,
		address: origin.AddressOf(&net.UnixAddr{Name: "x", Net: "unix"}), draining: make(chan struct{})})
}

// request makes a request that ends with ctx, and returns the response so far.
func (c *clockedServer) request(ctx context.Context, method, path, session, body string) *recorder {
	r := httptest.NewRequestWithContext(c.onSocket(ctx), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	p := &recorder{header: http.Header{}}
	go c.ServeHTTP(p, r)
	synctest.Wait()
	return p
}

func (c *clockedServer) initialize() string {
	c.t.Helper()
	p := c.request(context.Background(), http.MethodPost, "/mcp", "", initializeRequest)
	id := p.header.Get("Mcp-Session-Id")
	if p.status != http.StatusOK || id == "" {
		c.t.Fatal(p.status, p.String())
	}
	return id
}

// expectSession pings in a session and expects that it exists or not.
func (c *clockedServer) expectSession(session string, want bool) {
	c.t.Helper()
	p := c.request(context.Background(), http.MethodPost, "/mcp", session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	status := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[want]
	if p.status != status {
		c.t.Errorf("%d: %s", p.status, p)
	}
}

// TestIdleSessionExpires checks that only sessions without requests and streams
// expire.
func TestIdleSessionExpires(t *testing.T) {
	withFakeClock(t, func(c *clockedServer) {
		used, listened, left := c.initialize(), c.initialize(), c.initialize()
		ctx, hangUp := context.WithCancel(context.Background())
		stream := c.request(ctx, http.MethodGet, "/mcp", listened, "")
		for range 10 {
			bubble.Sleep(299 * time.Second)
			c.expectSession(used, true)
		}
		c.expectSession(left, false)
		c.expectSession(listened, true)
		hangUp()
		bubble.Sleep(299 * time.Second)
		c.expectSession(listened, true)
		bubble.Sleep(301 * time.Second)
		c.expectSession(listened, false)
		if strings.Contains(stream.String(), "event: ") {
			t.Error(stream)
		}
		if n := c.sessions.Len(); n > 3 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

// TestSessionEndsAtMaxAge checks that a session ends after a day and its stream
// says why, also over HTTP+SSE (2024-11-05).
func TestSessionEndsAtMaxAge(t *testing.T) {
	withFakeClock(t, func(c *clockedServer) {
		id := c.initialize()
		stream := c.request(context.Background(), http.MethodGet, "/mcp", id, "")
		old := c.request(context.Background(), http.MethodGet, "/sse", "", "")
		bubble.Sleep(24*time.Hour - time.Second)
		c.expectSession(id, true)
		for _, s := range []*recorder{stream, old} {
			if strings.Contains(s.String(), "event: end\n") {
				t.Error(s)
			}
		}
		bubble.Sleep(time.Minute)
		c.expectSession(id, false)
		for _, s := range []*recorder{stream, old} {
			// A comment may be due at the same moment and follow the event.
			got := strings.TrimSuffix(s.String(), string(comment))
			if !strings.HasSuffix(got, "event: end\ndata: {\"reason\":\"max_age\"}\n\n") {
				t.Errorf("…%q", got[max(0, len(got)-300):])
			}
		}
	})
}

// TestIdleStreamGetsComments checks that every kind of stream gets a comment
// each fifteen seconds.
func TestIdleStreamGetsComments(t *testing.T) {
	withFakeClock(t, func(c *clockedServer) {
		ctx, hangUp := context.WithCancel(context.Background())
		defer hangUp()
		const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` +
			meta + `}}`
		r := httptest.NewRequestWithContext(c.onSocket(ctx), http.MethodPost, "/mcp", strings.NewReader(listen))
		for name, value := range map[string]string{"Content-Type": "application/json",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
			r.Header.Set(name, value)
		}
		listening := &recorder{header: http.Header{}}
		go c.ServeHTTP(listening, r)
		streams := map[string]*recorder{
			"session": c.request(ctx, http.MethodGet, "/mcp", c.initialize(), ""),
			"old":     c.request(ctx, http.MethodGet, "/sse", "", ""),
			"listen":  listening,
		}
		bubble.Sleep(61 * time.Second)
		synctest.Wait()
		for name, s := range streams {
			if n := strings.Count(s.String(), ":\n\n"); n != 4 {
				t.Errorf("%s: %d comments: %q", name, n, s.String())
			}
		}
		hangUp()
		synctest.Wait()
		before := streams["listen"].String()
		bubble.Sleep(time.Hour)
		if after := streams["listen"].String(); after != before {
			t.Errorf("%q was sent after the end", after[len(before):])
		}
	})
}
