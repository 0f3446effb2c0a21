package catalog

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

const toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// TestChangeBurst checks that continuous changes cause refreshes at growing intervals, and
// that the last change is seen.
func TestChangeBurst(t *testing.T) {
	for _, c := range []struct {
		name  string
		count int
		over  time.Duration
		most  int
	}{
		{"one", 1, 0, 1},
		{"a burst", 100, 0, 1},
		{"10k in 1 s", 10_000, time.Second, 6},
		{"10k/s for 5 s", 50_000, 5 * time.Second, 30},
		{"10/s for an hour", 36_000, time.Hour, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				server := old(`{"name":"x"}`)
				s := newFixture("", server)
				defer s.close()
				s.Ensure(t.Context())
				bubble.Sleep(time.Second)
				s.news()
				link := server.Link()
				for i := range c.count {
					if i == c.count-1 {
						server.Set("tools/list", `{"name":"last"}`)
					}
					link.Say(toolsChanged)
					bubble.Sleep(c.over / time.Duration(c.count))
				}
				bubble.Sleep(2 * debounceMax)
				if n := server.Count("tools/list") - 1; n < 1 || n > c.most {
					t.Errorf("%d lists", n)
				}
				if got := toolsOf(s.Snapshot()); got != "a__last=a/last" || fmt.Sprint(s.news()) != "[tools]" {
					t.Error(got)
				}
			})
		})
	}
}

// TestChangeAfterBurst checks that a change after a burst is seen soon.
func TestChangeAfterBurst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := old(`{"name":"x"}`)
		s := newFixture("", server)
		defer s.close()
		s.Ensure(t.Context())
		for range 600 {
			server.Link().Say(toolsChanged)
			bubble.Sleep(time.Second)
		}
		bubble.Sleep(3 * debounceMax)
		server.Set("tools/list", `{"name":"y"}`)
		server.Link().Say(toolsChanged)
		bubble.Sleep(debounceFirst)
		synctest.Wait()
		if got := toolsOf(s.Snapshot()); got != "a__y=a/y" {
			t.Error(got)
		}
	})
}

// TestChangedDuringRefresh checks that a change during a refresh, even the first one, is not
// lost, and that refreshes do not overlap.
func TestChangedDuringRefresh(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := old(`{"name":"x"}`)
		var asking, most atomic.Int32
		server.Answer = func(l *conversation.Link, m conversation.Message) string {
			switch m.Method {
			case mcp.MethodListPrompts:
				most.Store(max(most.Load(), asking.Add(1)))
				go func() {
					bubble.Sleep(time.Second)
					asking.Add(-1)
					l.Say(conversation.Result(m, `{"prompts":[]}`))
				}()
				return conversation.Later
			case mcp.MethodListTools:
				if server.Count(mcp.MethodListTools) == 1 {
					go func() {
						bubble.Sleep(time.Millisecond)
						server.Set(mcp.MethodListTools, `{"name":"y"}`)
						l.Say(toolsChanged)
					}()
				}
			}
			return ""
		}
		s := newFixture("", server)
		defer s.close()
		s.Ensure(t.Context())
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x" {
			t.Error(got)
		}
		bubble.Sleep(10 * time.Second)
		if got := toolsOf(s.Snapshot()); got != "a__y=a/y" || most.Load() != 1 {
			t.Errorf("%s, %d concurrent refreshes", got, most.Load())
		}
	})
}

// TestChangedBeforeFirstRefresh checks that changes of an unused server start nothing.
func TestChangedBeforeFirstRefresh(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := old(`{"name":"x"}`)
		s := newFixture("", server)
		defer s.close()
		if err := s.Servers()[0].Upstream.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.Link().Say(toolsChanged)
		bubble.Sleep(time.Minute)
		if n := server.Count("tools/list"); n != 0 {
			t.Errorf("%d lists", n)
		}
	})
}

// TestTTL checks that the TTL of a server is honoured, but not below the minimum.
func TestTTL(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := old()
		var ttl atomic.Int64
		ttl.Store(60_000)
		server.Answer = func(_ *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodListTools {
				return conversation.Result(m, fmt.Sprintf(`{"tools":[{"name":"x"}],"ttlMs":%d}`, ttl.Load()))
			}
			return ""
		}
		s := newFixture("", server)
		defer s.close()
		ask := func(after time.Duration, want int) {
			t.Helper()
			bubble.Sleep(after)
			s.Ensure(t.Context())
			if n := server.Count("tools/list"); n != want {
				t.Errorf("after %s: %d lists, want %d", after, n, want)
			}
		}
		ask(0, 1)
		ask(59*time.Second, 1)
		ask(2*time.Second, 2)
		ttl.Store(1)
		ask(61*time.Second, 3)
		ask(time.Second, 3)
		ask(10*time.Second, 4)
		ttl.Store(0)
		ask(10*time.Second+1, 5)
		ask(48*time.Hour, 5)
	})
}

// TestStop checks that nothing runs and nothing is reported after Stop.
func TestStop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newFixture("", old(`{"name":"x"}`), hanging())
		go s.Ensure(t.Context())
		synctest.Wait()
		s.servers["a"].Link().Say(toolsChanged)
		synctest.Wait()
		begun := time.Now()
		s.close()
		if time.Since(begun) > 0 {
			t.Errorf("Stop took %s", time.Since(begun))
		}
		if failed := s.Refresh(t.Context()); len(failed) != 2 {
			t.Error(failed)
		}
		s.Changed("a")
		s.Catalog.Connected(s.Servers()[0].Upstream)
		bubble.Sleep(time.Minute)
		if got := s.news(); len(got) > 0 {
			t.Errorf("reported %s", got)
		}
	})
}

// TestConnectedRefreshesServerInEffect: a connection refreshes the lists only if it is one
// of a server of the catalog. A server that is connected when it becomes one is refreshed.
func TestConnectedRefreshesServerInEffect(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		before := old(`{"name":"x"}`)
		s := newFixture("", before)
		defer s.close()
		if failed := s.Ensure(t.Context()); len(failed) > 0 {
			t.Fatal(failed)
		}
		asked := before.Count("tools/list")
		after := old(`{"name":"y"}`)
		u := upstream.New(upstream.Options{
			Name: "a", Peer: s, Revisions: forgetful{}, Log: hclog.NewNullLogger(), Version: "1", Start: time.Second,
			Call: time.Second,
			Open: func(context.Context) (upstream.Link, error) { return after.Open(), nil },
		})
		defer u.Close()
		for connects := 1; connects <= 2; connects++ {
			if err := u.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if connects == 1 {
				after.Link().End(nil)
				bubble.Sleep(time.Minute)
			}
		}
		if n := before.Count("tools/list") - asked; n > 0 {
			t.Errorf("the server in effect was asked %d times because another one connected", n)
		}
		s.SetServers([]*Server{{Name: "a", Prefix: "a", Upstream: u, Key: "other"}})
		synctest.Wait()
		if _, ok := s.Snapshot().OwnTool("a", "y"); !ok {
			t.Error("the lists of the connected server were not read")
		}
	})
}
