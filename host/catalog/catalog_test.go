package catalog

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// A fixture is a catalog of scripted servers that records the reported changes.
type fixture struct {
	*Catalog
	servers map[string]*conversation.Server

	capabilities string // of the client; empty: none

	mu     sync.Mutex
	told   []string // guarded by mu; changed lists, one entry per report
	closed []func()

	connected atomic.Int64 // number of handled Connected calls
}

var _ upstream.Peer = (*fixture)(nil)

func (s *fixture) Capabilities() []byte { return []byte(cmp.Or(s.capabilities, "{}")) }
func (s *fixture) ServerRequest(context.Context, *upstream.Upstream, any, string, []byte) (result, rpcError []byte) {
	return []byte("{}"), nil
}
func (s *fixture) ServerNotification(u *upstream.Upstream, _ any, method string, _ []byte) {
	s.Changed(u.Name())
}
func (s *fixture) Connected(u *upstream.Upstream) {
	s.Catalog.Connected(u)
	s.connected.Add(1)
}
func (s *fixture) Disconnected(*upstream.Upstream, error) {}

func (s *fixture) tell(kinds []upstream.ListKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, k := range kinds {
		names = append(names, k.Member)
	}
	s.told = append(s.told, strings.Join(names, ","))
}

// news returns the changes that were reported since the last call.
func (s *fixture) news() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	s.told = nil
	return told
}

type forgetful struct{}

func (forgetful) Revision() mcp.Revision { return mcp.Revision20251125 }
func (forgetful) Remember(mcp.Revision)  {}

// newFixture returns a catalog of servers with the names and prefixes a, b, …
func newFixture(dir cache.Dir, servers ...*conversation.Server) *fixture {
	s := &fixture{servers: map[string]*conversation.Server{}}
	var all []*Server
	for i, server := range servers {
		name := string(rune('a' + i))
		s.servers[name] = server
		u := upstream.New(upstream.Options{
			Name: name, Peer: s, Revisions: forgetful{}, Log: hclog.NewNullLogger(), Version: "1",
			Start: 10 * time.Second, Call: time.Minute, Shutdown: time.Second,
			Open: func(context.Context) (upstream.Link, error) { return server.Open(), nil },
		})
		s.closed = append(s.closed, u.Close)
		all = append(all, &Server{Name: name, Prefix: name, Upstream: u, Key: "key-" + name})
	}
	s.Catalog = New(all, dir, hclog.NewNullLogger(), s.tell)
	return s
}

// close stops the catalog and all servers.
func (s *fixture) close() {
	s.Stop()
	for _, f := range s.closed {
		f()
	}
}

func old(tools ...string) *conversation.Server {
	s := &conversation.Server{Revision: "2025-11-25"}
	s.Set("tools/list", tools...)
	return s
}

// hanging returns a server that starts and never answers.
func hanging() *conversation.Server {
	return &conversation.Server{
		Answer: func(*conversation.Link, conversation.Message) string { return conversation.Later },
	}
}

func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// TestLazy checks that no server starts before the first request, and that all servers are
// then asked concurrently and once.
func TestLazy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newFixture("", old(`{"name":"x"}`), old(`{"name":"y"}`))
		defer s.close()
		bubble.Sleep(time.Hour)
		if s.servers["a"].Connections() != 0 || len(s.Snapshot().Tools) != 0 {
			t.Error("a server was started")
		}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if failed := s.Ensure(t.Context()); len(failed) > 0 {
					t.Error(failed)
				}
			})
		}
		wg.Wait()
		if got := strings.Join(s.Snapshot().Names(), " "); got != "a__x b__y" ||
			s.servers["a"].Count("tools/list") != 1 || s.servers["b"].Connections() != 1 {
			t.Errorf("%s, asked %d times", got, s.servers["a"].Count("tools/list"))
		}
		if _, known := s.Known("a"); !known || !s.Fresh("b") || s.Fresh("z") {
			t.Error("Known or Fresh is false")
		}
		bubble.Sleep(time.Second)
		if got := fmt.Sprint(s.news()); got != "[tools]" {
			t.Errorf("reported %s", got)
		}
	})
}

// TestUnresponsiveServer checks that other servers are available at once for Await and in
// time for Ensure. The unresponsive server appears later with a report.
func TestUnresponsiveServer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		slow := old(`{"name":"late"}`)
		slow.Answer = func(_ *conversation.Link, m conversation.Message) string {
			if m.Method == "initialize" {
				bubble.Sleep(8 * time.Second)
			}
			return ""
		}
		s := newFixture("", slow, old(`{"name":"y"}`), hanging())
		defer s.close()
		begun := time.Now()
		found := func(now *Snapshot) bool { _, ok := now.Tool("b__y"); return ok }
		if s.Await(t.Context(), nil, found); !found(s.Snapshot()) || time.Since(begun) > 0 {
			t.Errorf("b__y was found after %s", time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if failed := s.Ensure(ctx); len(failed) != 2 || time.Since(begun) != time.Second {
			t.Errorf("%v after %s", failed, time.Since(begun))
		}
		bubble.Sleep(8 * time.Second)
		if got := strings.Join(s.Snapshot().Names(), " "); got != "a__late b__y" {
			t.Error(got)
		}
		if got := fmt.Sprint(s.news()); got != "[tools tools]" {
			t.Errorf("reported %s", got)
		}
		if failed := s.Ensure(t.Context()); len(failed) != 1 || failed["c"] == nil {
			t.Errorf("%v", failed)
		}
	})
}

// TestFailedRefreshKeepsLists checks that a failed refresh, or a single failed list, keeps
// the previous items.
func TestFailedRefreshKeepsLists(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := old(`{"name":"x"}`, `{"name":"y"}`)
		server.Set("prompts/list", `{"name":"p"}`)
		s := newFixture("", server)
		defer s.close()
		s.Ensure(t.Context())
		before := s.Snapshot()
		fail := func(method, rpcError string) {
			server.On(func(_ *conversation.Link, m conversation.Message) string {
				if m.Method == method || method == "" {
					return conversation.Error(m, rpcError)
				}
				return ""
			})
		}
		fail("tools/list", `{"code":-32603,"message":"locked"}`)
		if failed := s.Refresh(t.Context()); len(failed) > 0 {
			t.Error(failed)
		}
		now := s.Snapshot()
		if len(now.Tools) != 2 || len(now.Prompts) != 1 ||
			notesOf(now) != "a: its list of tools is incomplete: the request failed: locked (-32603)" {
			t.Errorf("%s, %s", toolsOf(now), notesOf(now))
		}
		fail("", `{"code":-32603,"message":"locked"}`)
		if failed := s.Refresh(t.Context()); failed["a"] == nil || len(s.Snapshot().Tools) != 2 {
			t.Errorf("%v, %s", failed, toolsOf(s.Snapshot()))
		}
		server.On(func(l *conversation.Link, m conversation.Message) string {
			if m.Method == "prompts/list" {
				l.End(nil)
			}
			return conversation.Later
		})
		if failed := s.Refresh(t.Context()); failed["a"] == nil || len(s.Snapshot().Tools) != 2 {
			t.Errorf("%v, %s", failed, toolsOf(s.Snapshot()))
		}
		// After a success the note and the removed items disappear.
		server.On(nil)
		server.Set("tools/list", `{"name":"y"}`)
		bubble.Sleep(time.Minute)
		if failed := s.Refresh(t.Context()); len(failed) > 0 || toolsOf(s.Snapshot()) != "a__y=a/y" ||
			notesOf(s.Snapshot()) != "" {
			t.Errorf("%v, %s, %s", failed, toolsOf(s.Snapshot()), notesOf(s.Snapshot()))
		}
		if len(before.Tools) != 2 || before.Notes != nil {
			t.Error("an old snapshot changed")
		}
	})
}

// TestFirstRefreshFails checks that a server whose lists all fail is not considered empty,
// and that a server with a failed list of prompts has its tools.
func TestFirstRefreshFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		broken, half := old(`{"name":"x"}`), old(`{"name":"x"}`)
		broken.Answer = func(_ *conversation.Link, m conversation.Message) string {
			if strings.HasSuffix(m.Method, "/list") {
				return conversation.Error(m, `{"code":-32603,"message":"no"}`)
			}
			return ""
		}
		half.Answer = func(_ *conversation.Link, m conversation.Message) string {
			if m.Method == "prompts/list" {
				return conversation.Later
			}
			return ""
		}
		s := newFixture("", broken, half)
		defer s.close()
		if failed := s.Ensure(t.Context()); failed["a"] == nil || failed["b"] != nil {
			t.Error(failed)
		}
		if _, known := s.Known("a"); known || toolsOf(s.Snapshot()) != "b__x=b/x" {
			t.Errorf("%t, %s", known, toolsOf(s.Snapshot()))
		}
		// Failed lists are requested again, later and in the background.
		half.On(nil)
		half.Set("prompts/list", `{"name":"p"}`)
		broken.On(nil)
		bubble.Sleep(minTTL + time.Second)
		s.Await(t.Context(), nil, nil)
		synctest.Wait()
		if now := s.Snapshot(); len(now.Tools) != 2 || len(now.Prompts) != 1 {
			t.Errorf("%s, %d prompts", toolsOf(now), len(now.Prompts))
		}
	})
}

// TestReconnected checks that a restarted server is asked again.
func TestReconnected(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := old(`{"name":"x"}`)
		s := newFixture("", server)
		defer s.close()
		s.Ensure(t.Context())
		server.Set("tools/list", `{"name":"new"}`)
		server.Link().End(nil)
		bubble.Sleep(time.Second)
		if err := s.Servers()[0].Upstream.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		bubble.Sleep(time.Second)
		if got := toolsOf(s.Snapshot()); got != "a__new=a/new" {
			t.Error(got)
		}
		if got := fmt.Sprint(s.news()); got != "[tools tools]" {
			t.Errorf("reported %s", got)
		}
	})
}

// TestReaders checks that readers never block and see only complete snapshots.
func TestReaders(t *testing.T) {
	server := old()
	sizes := []int{1, 50}
	s := newFixture("", server)
	defer s.close()
	fill := func(n int) {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(`{"name":"t%d"}`, i))
		}
		server.Set("tools/list", items...)
		if failed := s.Refresh(t.Context()); len(failed) > 0 {
			t.Error(failed)
		}
	}
	fill(sizes[0])
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				now := s.Snapshot()
				if n := len(now.Tools); n != sizes[0] && n != sizes[1] || len(now.Names()) != n {
					t.Errorf("%d tools", n)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range 50 {
		fill(sizes[i%2])
	}
	close(stop)
	wg.Wait()
}

// TestMany checks that ten thousand tools are ready within a second.
func TestMany(t *testing.T) {
	var items []string
	for i := range 10_000 {
		items = append(items, fmt.Sprintf(`{"name":"tool_%d","description":"Does number %d.","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			i, i))
	}
	s := newFixture("", old(items...))
	defer s.close()
	begun := time.Now()
	if failed := s.Ensure(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	t.Logf("%s", time.Since(begun))
	if n := len(s.Snapshot().Tools); n != 10_000 || time.Since(begun) > 10*time.Second {
		t.Errorf("%d tools after %s", n, time.Since(begun))
	}
}
