package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Generation is everything that one read of the configuration decides for the gateway. Package host makes it
// and gives it to Apply; the exported fields are immutable from then on, and the others are atomic. A request
// uses the generation in effect when it began, with two exceptions: a connection that not all clients share is
// opened with the one in effect then, and a listen request leaves its generation after the acknowledgement.
type Generation struct {
	Policy  *policy.Policy
	Servers map[string]Server // the enabled servers
	// Disconnected has the enabled servers that are left out of Servers.
	Disconnected map[string]Disconnected
	Name         string // of the gateway as clients see it; empty: that of Junctor
	// RequestTimeout bounds each request of a client, without the time in which a person is asked; 0: no limit.
	RequestTimeout time.Duration

	requests atomic.Int64               // in flight
	before   atomic.Pointer[Generation] // an earlier one with requests; see forgetUnused
}

// InUse reports whether requests that began with the generation, or an earlier one, are in flight: any of them
// may use a server that the generation took over. A generation that is not the current one gets no further
// requests. InUse may be true for a moment again when enter finds that the generation was replaced.
func (n *Generation) InUse() bool {
	n.forgetUnused()
	return n.before.Load() != nil || n.requests.Load() > 0
}

// forgetUnused drops the earlier generations without requests, so that one long request
// does not keep every generation since then in memory.
func (n *Generation) forgetUnused() {
	for {
		switch before := n.before.Load(); {
		case before == nil:
			return
		case before.requests.Load() > 0:
			n = before
		default:
			n.before.Store(before.before.Load())
		}
	}
}

// generations holds the generation in effect. It may be used concurrently. now is replaced only
// by New and Apply.
type generations struct {
	applying sync.Mutex // held by Apply
	now      atomic.Pointer[Generation]
}

func (g *generations) current() *Generation { return g.now.Load() }

// swap makes a generation the current one and returns the one before.
func (g *generations) swap(n *Generation) (before *Generation) { return g.now.Swap(n) }

// enter returns the current generation for a request, which calls leaveGeneration.
func (g *generations) enter() *Generation {
	for {
		n := g.now.Load()
		n.requests.Add(1)
		if g.now.Load() == n {
			return n
		}
		n.requests.Add(-1) // replaced meanwhile; it may have been found unused
	}
}

// version returns what identifies the configuration of a server that is in effect.
func (g *generations) version(server string) *upstream.Upstream { return g.current().upstream(server) }

// poolServer returns what the pool of connections must know of a server.
func (g *generations) poolServer(server string) (connpool.Server, bool) {
	s, configured := g.current().Servers[server]
	return connpool.Server{Version: s.Upstream, Open: s.Open}, configured
}

// leaveGeneration ends the use of the request's generation. Further calls do nothing. Only the
// goroutine of the request calls it.
func (r *pendingRequest) leaveGeneration() {
	if !r.left {
		r.left = true
		r.generation.requests.Add(-1)
	}
}

// upstream returns the upstream of a server that all clients share; nil for a server
// that is not part of the generation.
func (n *Generation) upstream(server string) *upstream.Upstream { return n.Servers[server].Upstream }

// replaced returns the servers of a generation that another one does not have, or has with another upstream.
func (n *Generation) replaced(by *Generation) (servers []string) {
	for name, s := range n.Servers {
		if by.upstream(name) != s.Upstream {
			servers = append(servers, name)
		}
	}
	slices.Sort(servers)
	return servers
}

// Apply makes a generation the current one. Requests in flight keep the one that they began with. Connections
// of clients to a server that was replaced or removed are closed when no request uses them; subscriptions to
// its resources are made again at the new one. Apply does not wait for that. The caller closes the shared
// upstreams of the generation before. It may be called at any time; calls wait for each other.
func (g *Gateway) Apply(n *Generation) {
	g.generations.applying.Lock()
	defer g.generations.applying.Unlock()
	n.before.Store(g.generations.current())
	before := g.generations.swap(n)
	n.forgetUnused()
	for _, server := range before.replaced(n) {
		before.upstream(server).Retire()
		g.conns.Replace(server)
		for _, s := range g.sessions.all() {
			s.serverReplaced(server)
		}
		g.descriptions.replaced(server, n.upstream(server))
	}
	g.levels.send()
	if !n.Policy.Same(before.Policy) {
		g.policyChanged(before, n)
	}
}
