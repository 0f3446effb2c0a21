package gateway

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Generation is everything that one read of the configuration decides for the
// gateway. It is immutable. A request keeps its generation to the end.
type Generation struct {
	Policy  *policy.Policy
	Servers map[string]Server // the enabled servers

	requests atomic.Int64 // in flight
}

// InUse reports whether requests that began with the generation are in flight. Once it
// is false for a generation that is not the current one, it stays false.
func (n *Generation) InUse() bool { return n.requests.Load() > 0 }

// enter returns the current generation for a request, which calls leave once.
func (g *Gateway) enter() *Generation {
	for {
		n := g.current.Load()
		n.requests.Add(1)
		if g.current.Load() == n {
			return n
		}
		n.requests.Add(-1) // replaced meanwhile; it may have been found unused
	}
}

// leaveGeneration ends the use of the request's generation. Further calls do nothing.
func (r *request) leaveGeneration() {
	if !r.left {
		r.left = true
		r.generation.requests.Add(-1)
	}
}

// upstream returns the upstream of a server that all clients share; nil for a server
// that is not part of the generation.
func (n *Generation) upstream(server string) *upstream.Upstream { return n.Servers[server].Upstream }

// replaced returns the servers of a generation that another one does not have, or has
// with another upstream.
func (n *Generation) replaced(by *Generation) (servers []string) {
	for name, s := range n.Servers {
		if by.upstream(name) != s.Upstream {
			servers = append(servers, name)
		}
	}
	slices.Sort(servers)
	return servers
}

// Apply makes a generation the current one. Requests in flight keep the one that they
// began with. Connections of clients to a server that was replaced or removed are
// closed when no request uses them; subscriptions to its resources are made again at
// the new one. Apply does not wait for that. The caller closes the shared upstreams
// of the generation before.
func (g *Gateway) Apply(n *Generation) {
	g.applying.Lock()
	defer g.applying.Unlock()
	before := g.current.Swap(n)
	for _, server := range before.replaced(n) {
		g.conns.Replace(server)
		for _, s := range g.allSessions() {
			s.serverReplaced(server)
		}
		g.mu.Lock()
		delete(g.serverDescriptions, server)
		g.mu.Unlock()
	}
	g.setLevels()
}

// serverReplaced moves a session from a server that was replaced, or removed, to the
// server of the same name in the current generation.
func (s *Session) serverReplaced(server string) {
	s.mu.Lock()
	var uris []string
	for key, sub := range s.subs {
		if sub.server == server {
			uris = append(uris, sub.requestedURI)
			delete(s.subs, key)
		}
	}
	for _, l := range s.listens {
		if l.uses(server) {
			l.stop() // the client listens again, at the new server
		}
	}
	for _, l := range s.following {
		if l.uses(server) {
			l.stop()
		}
	}
	var renew func()
	if len(uris) > 0 && !s.closing {
		if s.renewing == nil {
			s.renewing = map[string]bool{}
		}
		for _, uri := range uris {
			s.renewing[uri] = true
		}
		s.work.Add(1)
		ctx, stop := context.WithCancel(s.ctx)
		earlier := s.stopRenewing
		s.stopRenewing = func() {
			stop()
			if earlier != nil {
				earlier()
			}
		}
		renew = func() {
			defer s.work.Done()
			defer stop()
			s.renew(ctx, uris)
		}
	}
	s.subscribed -= len(uris)
	s.mu.Unlock()
	if renew != nil {
		s.gw.work.Go(renew)
	}
}

// uses reports whether a listen request has subscriptions at a server. The caller
// holds the session's mu.
func (l *listen) uses(server string) bool {
	for _, subs := range []map[string]subscription{l.uris, l.tasks} {
		for _, sub := range subs {
			if sub.server == server {
				return true
			}
		}
	}
	return false
}
