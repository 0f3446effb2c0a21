package connpool

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// A testPeer counts the connections that it was the peer of.
type testPeer struct{ opened int }

func (p *testPeer) Opened(*upstream.Upstream) { p.opened++ }
func (*testPeer) Capabilities() []byte        { return []byte("{}") }
func (*testPeer) ServerRequest(context.Context, *upstream.Upstream, any, string, []byte) (result, rpcError []byte) {
	return nil, nil
}
func (*testPeer) ServerNotification(*upstream.Upstream, any, string, []byte) {}
func (*testPeer) Connected(*upstream.Upstream)                               {}
func (*testPeer) Disconnected(*upstream.Upstream, error)                     {}

type memory struct{}

func (memory) Revision() mcp.Revision { return mcp.Revision20251125 }
func (memory) Remember(mcp.Revision)  {}

// A fixture is a pool with servers in its configuration.
type fixture struct {
	*Pool[*testPeer, *testPeer]
	servers map[string]Server
}

// newFixture makes a pool with the servers a and b.
func newFixture() *fixture {
	f := &fixture{servers: map[string]Server{}}
	f.configure("a")
	f.configure("b")
	f.Pool = New[*testPeer, *testPeer](func(server string) (Server, bool) {
		s, ok := f.servers[server]
		return s, ok
	})
	return f
}

// configure puts a new version of a server into the configuration.
func (f *fixture) configure(name string) {
	server := &conversation.Server{Revision: "2025-11-25", Capabilities: "{}"}
	open := func(peer upstream.Peer, _ authn.Principal) *upstream.Upstream {
		return upstream.New(upstream.Options{
			Name: name, Peer: peer, Revisions: memory{}, Log: hclog.NewNullLogger(), Version: "1", Start: time.Second,
			Call: time.Second, Shutdown: time.Second,
			Open: func(context.Context) (upstream.Link, error) { return server.Open(), nil },
		})
	}
	f.servers[name] = Server{Version: open(&testPeer{}, authn.Principal{}), Open: open}
}

func (f *fixture) end() {
	f.Refuse()
	f.Close()
}

func someone(name any) authn.Principal {
	return authn.Principal{Subject: fmt.Sprint(name), Method: "test"}
}

func (f *fixture) get(t *testing.T, server string, owner, principal any) *Conn[*testPeer] {
	t.Helper()
	c, err := f.Get(server, owner, someone(principal), &testPeer{})
	if err != nil {
		t.Fatalf("the connection of %v: %v", owner, err)
	}
	return c
}

func (f *fixture) acquire(t *testing.T, principal any, caps string) *Exclusive[*testPeer] {
	t.Helper()
	c, err := f.Acquire("a", someone(principal), []byte(caps), &testPeer{})
	if err != nil {
		t.Fatalf("the connection of %v: %v", principal, err)
	}
	return c
}

func isClosed(u *upstream.Upstream) bool { return fault.Is(u.Status().Err, fault.UpstreamStopped) }

func TestOwnerHasOneConnectionToEachServer(t *testing.T) {
	f := newFixture()
	defer f.end()
	first := f.get(t, "a", "x", 1)
	for _, c := range []struct {
		server, owner string
		same          bool
	}{{"a", "x", true}, {"a", "y", false}, {"b", "x", false}} {
		if got := f.get(t, c.server, c.owner, 1); (got == first) != c.same {
			t.Errorf("the connection of %s to %s is that of x to a: %v", c.owner, c.server, !c.same)
		}
	}
	if first.Peer.opened != 1 {
		t.Errorf("the peer was told of %d connections", first.Peer.opened)
	}
	if n := len(f.Of("x")); n != 2 {
		t.Errorf("x has %d connections", n)
	}
}

func TestExclusiveConnectionIsReusedForEqualClients(t *testing.T) {
	f := newFixture()
	defer f.end()
	first := f.acquire(t, "x", "{}")
	if f.acquire(t, "x", "{}") == first {
		t.Error("a connection in use was given away")
	}
	f.Release(first, true)
	if f.acquire(t, "x", `{"roots":{}}`) == first || f.acquire(t, "y", "{}") == first {
		t.Error("a connection was given to another client")
	}
	if f.acquire(t, "x", "{}") != first {
		t.Error("an idle connection was not reused")
	}
	f.Release(first, false)
	f.work.Wait()
	if !isClosed(first.Upstream) {
		t.Error("a connection whose request did not complete was kept")
	}
}

func TestIdleExclusiveConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		defer f.end()
		c := f.acquire(t, "x", "{}")
		f.Release(c, true)
		bubble.Sleep(idleTime - time.Nanosecond)
		synctest.Wait()
		if isClosed(c.Upstream) {
			t.Error("it was closed too early")
		}
		bubble.Sleep(time.Nanosecond)
		synctest.Wait()
		if !isClosed(c.Upstream) || len(f.counts.servers) > 0 {
			t.Errorf("it was not closed; counted are %v", f.counts.servers)
		}
	})
}

func TestIdleExclusiveConnectionsAreBounded(t *testing.T) {
	f := newFixture()
	defer f.end()
	var all []*Exclusive[*testPeer]
	for range maxIdle + 1 {
		all = append(all, f.acquire(t, "x", "{}"))
	}
	for _, c := range all {
		f.Release(c, true)
	}
	f.work.Wait()
	if last := all[maxIdle]; !isClosed(last.Upstream) || isClosed(all[0].Upstream) {
		t.Errorf("more than %d idle connections are kept", maxIdle)
	}
}

func TestLimitOfServer(t *testing.T) {
	f := newFixture()
	defer f.end()
	var all []*Conn[*testPeer]
	for i := range limit.DefaultConnections {
		all = append(all, f.get(t, "a", i, i))
	}
	if _, err := f.Get("a", "late", someone("late"), &testPeer{}); !errors.Is(err, errLimit) {
		t.Fatalf("while all are in use: %v", err)
	}
	f.get(t, "b", "late", "late")
	f.Put(all[7])
	late := f.get(t, "a", "late", "late")
	if !isClosed(all[7].Upstream) || isClosed(late.Upstream) || f.Count("a") != limit.DefaultConnections {
		t.Errorf("the unused connection was not evicted; %d are counted", f.Count("a"))
	}
}

func TestConnectedConnectionIsNotEvicted(t *testing.T) {
	f := newFixture()
	defer f.end()
	for i := range limit.DefaultConnections {
		c := f.get(t, "a", i, i)
		if i == 0 {
			if err := c.Upstream.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.Put(c)
		}
	}
	if _, err := f.Get("a", "late", someone("late"), &testPeer{}); !errors.Is(err, errLimit) {
		t.Error(err)
	}
}

func TestOldestIdleConnectionIsEvictedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		defer f.end()
		var all []*Exclusive[*testPeer]
		for i := range limit.DefaultConnections {
			all = append(all, f.acquire(t, i, "{}"))
		}
		for _, i := range []int{5, 3, 9} {
			f.Release(all[i], true)
			bubble.Sleep(time.Second)
		}
		f.acquire(t, "late", "{}")
		if !isClosed(all[5].Upstream) || isClosed(all[3].Upstream) || isClosed(all[9].Upstream) {
			t.Error("another connection than the oldest was evicted")
		}
	})
}

func TestLimitOfPrincipal(t *testing.T) {
	f := newFixture()
	defer f.end()
	const share = 20
	f.SetLimits(limit.DefaultConnections, limit.Shares{Principal: share})
	other := f.acquire(t, "other", "{}")
	f.Release(other, true)
	var greedy []*Conn[*testPeer]
	for i := range share {
		greedy = append(greedy, f.get(t, "a", i, "greedy"))
	}
	if _, err := f.Acquire("a", someone("greedy"), nil, &testPeer{}); !errors.Is(err, errTooManyOwn) {
		t.Errorf("one too many: %v", err)
	}
	if isClosed(other.Upstream) {
		t.Error("the connection of another principal was evicted")
	}
	f.Put(greedy[0])
	f.acquire(t, "greedy", "{}")
	if !isClosed(greedy[0].Upstream) {
		t.Error("the principal's own unused connection was not evicted")
	}
}

// TestLimitOfTenant checks that the principals of a tenant share its part of the
// connections, and that it makes room with connections of its own.
func TestLimitOfTenant(t *testing.T) {
	f := newFixture()
	defer f.end()
	f.SetLimits(limit.DefaultConnections, limit.Shares{Tenant: 2})
	of := func(tenant, name string) authn.Principal {
		return authn.Principal{Tenant: tenant, Subject: name, Method: "test"}
	}
	acquire := func(who authn.Principal) (*Exclusive[*testPeer], error) {
		return f.Acquire("a", who, nil, &testPeer{})
	}
	other, err := acquire(of("zoo", "zoe"))
	if err != nil {
		t.Fatal(err)
	}
	f.Release(other, true)
	ann, err := acquire(of("acme", "ann"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(of("acme", "bob")); err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(of("acme", "cid")); !errors.Is(err, errTooManyOf) {
		t.Errorf("one too many: %v", err)
	}
	f.Release(ann, true)
	if _, err := acquire(of("acme", "cid")); err != nil {
		t.Errorf("after an unused connection: %v", err)
	}
	if isClosed(other.Upstream) || !isClosed(ann.Upstream) {
		t.Error("the tenant's own unused connection was not evicted, or that of another was")
	}
	if uses := f.Uses(); len(uses) != 3 {
		t.Errorf("in use: %v", uses)
	}
}

func TestReplacedConnectionsAreClosedWhenUnused(t *testing.T) {
	f := newFixture()
	defer f.end()
	used, unused, elsewhere := f.get(t, "a", "used", 1), f.get(t, "a", "unused", 1), f.get(t, "b", "used", 1)
	f.Put(unused)
	idle, busy := f.acquire(t, "idle", "{}"), f.acquire(t, "busy", "{}")
	f.Release(idle, true)
	f.configure("a")
	f.Replace("a")
	f.work.Wait()
	if !isClosed(unused.Upstream) || !isClosed(idle.Upstream) {
		t.Error("unused connections to the replaced server are open")
	}
	if isClosed(used.Upstream) || isClosed(busy.Upstream) || isClosed(elsewhere.Upstream) {
		t.Error("a connection in use, or to another server, was closed")
	}
	if f.get(t, "a", "used", 1) == used {
		t.Error("a new request got the connection to the replaced server")
	}
	f.Put(used)
	f.Release(busy, true)
	f.work.Wait()
	if !isClosed(used.Upstream) || !isClosed(busy.Upstream) {
		t.Error("connections to the replaced server are open after their last use")
	}
}

// TestRestartedConnectionsConnectAgain: a connection that is restarted is stopped and stays that
// of its owner. Those to another server stay connected.
func TestRestartedConnectionsConnectAgain(t *testing.T) {
	f := newFixture()
	defer f.end()
	mine, other, free := f.get(t, "a", "x", 1), f.get(t, "b", "x", 1), f.acquire(t, "y", "{}")
	for _, u := range []*upstream.Upstream{mine.Upstream, other.Upstream, free.Upstream} {
		if err := u.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.Release(free, true)
	f.Restart("a")
	f.work.Wait()
	if st := mine.Upstream.Status().State; st != upstream.Stopped {
		t.Errorf("the restarted connection is %s", st)
	}
	if st := other.Upstream.Status().State; st != upstream.Ready {
		t.Errorf("the connection to another server is %s", st)
	}
	if !isClosed(free.Upstream) {
		t.Error("an idle exclusive connection stays")
	}
	if again := f.get(t, "a", "x", 1); again != mine || again.Upstream.Connect(t.Context()) != nil ||
		again.Upstream.Status().Connects != 2 {
		t.Errorf("the owner does not connect again: %+v", again.Upstream.Status())
	}
}

func TestRemovedServerHasNoConnections(t *testing.T) {
	f := newFixture()
	defer f.end()
	delete(f.servers, "a")
	if _, err := f.Get("a", "x", someone("x"), &testPeer{}); !errors.Is(err, errRemoved) {
		t.Error(err)
	}
}

func TestRefusedConnections(t *testing.T) {
	f := newFixture()
	used, retired, idle := f.get(t, "a", "used", 1), f.get(t, "b", "retired", 1), f.acquire(t, "idle", "{}")
	f.Replace("b")
	f.Refuse()
	if _, err := f.Get("a", "late", someone("late"), &testPeer{}); !errors.Is(err, errStopping) {
		t.Error(err)
	}
	f.Release(idle, true)
	f.work.Wait()
	if isClosed(used.Upstream) || !isClosed(retired.Upstream) || !isClosed(idle.Upstream) {
		t.Error("only connections of owners stay open until Close")
	}
	f.Close()
	if !isClosed(used.Upstream) || len(f.counts.servers) > 0 {
		t.Errorf("after Close %v are counted", f.counts.servers)
	}
	f.Put(retired) // its request ends later
	f.work.Wait()
}

func TestCloseOwner(t *testing.T) {
	f := newFixture()
	defer f.end()
	mine, other := f.get(t, "a", "x", 1), f.get(t, "a", "y", 1)
	if closed := f.CloseOwner("x"); len(closed) != 1 || closed[0] != mine {
		t.Errorf("%d connections", len(closed))
	}
	f.work.Wait()
	if !isClosed(mine.Upstream) || isClosed(other.Upstream) {
		t.Error("only the connections of the owner end with it")
	}
}

// TestCloseGivesItsReason: requests that come to a closed connection learn whether its
// server was replaced or Junctor stops.
func TestCloseGivesItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		replaced, stopped := f.get(t, "a", "x", 1), f.get(t, "b", "x", 1)
		f.Put(replaced)
		f.Put(stopped)
		f.configure("a")
		f.Replace("a")
		f.end()
		for u, want := range map[*upstream.Upstream]string{
			replaced.Upstream: "the configuration replaced or removed the server",
			stopped.Upstream:  "junctor is shutting down",
		} {
			if err := u.Connect(t.Context()); !fault.Is(err, fault.UpstreamStopped) || fault.As(err).Message != want {
				t.Errorf("the error is %v, not %q", err, want)
			}
		}
	})
}
