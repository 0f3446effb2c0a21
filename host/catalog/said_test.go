package catalog

import (
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestListsOfOtherCapabilities: a client with other capabilities gets the lists that are
// known, without waiting. The servers are asked again in the background, once for these
// capabilities.
func TestListsOfOtherCapabilities(t *testing.T) {
	const roots = `{"roots":{}}`
	dir := cache.Dir(t.TempDir())
	await := func(s *fixture) (took time.Duration) {
		begun := time.Now()
		s.Await(t.Context(), nil, nil)
		return time.Since(begun)
	}
	slow := func(tools ...string) *conversation.Server {
		s := old(tools...)
		s.Answer = func(*conversation.Link, conversation.Message) string {
			bubble.Sleep(2 * time.Second)
			return ""
		}
		return s
	}
	inBubble(t, func(t *testing.T) { // the command line
		s := newFixture(dir, slow(`{"name":"x"}`))
		defer s.close()
		s.Ensure(t.Context())
	})
	inBubble(t, func(t *testing.T) { // a client with roots, for the first time
		bubble.Sleep(time.Hour) // the clock of each bubble begins at the same time
		server := slow(`{"name":"x"}`, `{"name":"for_roots"}`)
		s := newFixture(dir, server)
		defer s.close()
		s.capabilities = roots
		s.Offer([]byte(roots))
		if took := await(s); took > 0 || toolsOf(s.Snapshot()) != "a__x=a/x" {
			t.Errorf("%s after %s", toolsOf(s.Snapshot()), took)
		}
		bubble.Sleep(time.Minute)
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x a__for_roots=a/for_roots" || server.Connections() != 1 {
			t.Errorf("in the end %s, %d connections", got, server.Connections())
		}
	})
	inBubble(t, func(t *testing.T) { // the same again: nothing is started
		bubble.Sleep(2 * time.Hour)
		server := slow()
		s := newFixture(dir, server)
		defer s.close()
		s.capabilities = roots
		s.Offer([]byte(roots))
		await(s)
		bubble.Sleep(time.Minute)
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x a__for_roots=a/for_roots" || server.Connections() != 0 {
			t.Errorf("%s, %d connections", got, server.Connections())
		}
	})
	inBubble(t, func(t *testing.T) { // the command line has lists of its own
		bubble.Sleep(3 * time.Hour)
		server := slow()
		s := newFixture(dir, server)
		defer s.close()
		await(s)
		bubble.Sleep(time.Minute)
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x" || server.Connections() != 0 {
			t.Errorf("%s, %d connections", got, server.Connections())
		}
	})
}

// TestSaid: what a server says of itself is known without starting it.
func TestSaid(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	server := func() *conversation.Server {
		s := old(`{"name":"x"}`)
		s.Instructions = "use \"x\"\nfirst\u2028"
		return s
	}
	for _, connections := range []int{1, 0} {
		inBubble(t, func(t *testing.T) {
			a := server()
			s := newFixture(dir, a, old(`{"name":"y"}`))
			defer s.close()
			s.Ensure(t.Context())
			if said := s.Said(); len(said) != 1 || said["a"].Instructions != server().Instructions ||
				a.Connections() != connections {
				t.Errorf("%+v with %d connections", said, a.Connections())
			}
		})
	}
}

// TestRefreshRemote: lists from disk of a server that runs elsewhere are compared soon, those
// of a program that would have to be started are not.
func TestRefreshRemote(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	inBubble(t, func(t *testing.T) {
		s := newFixture(dir, old(`{"name":"x"}`), old(`{"name":"y"}`))
		defer s.close()
		s.Ensure(t.Context())
	})
	inBubble(t, func(t *testing.T) {
		s := newFixture(dir, old(`{"name":"new"}`), old(`{"name":"new"}`))
		defer s.close()
		s.Servers()[0].Remote = true
		s.RefreshRemote()
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x b__y=b/y" {
			t.Errorf("at first %s", got)
		}
		bubble.Sleep(time.Second)
		if got := toolsOf(s.Snapshot()); got != "a__new=a/new b__y=b/y" || s.servers["b"].Connections() != 0 {
			t.Errorf("after a second %s", got)
		}
	})
	inBubble(t, func(t *testing.T) { // it ends with the catalog
		s := newFixture(dir, old(`{"name":"x"}`))
		s.Servers()[0].Remote = true
		s.RefreshRemote()
		s.close()
		s.RefreshRemote()
	})
}
