package gateway

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/connpool"
)

// The registry holds the sessions that get notifications: every legacy session, and
// those of modern requests over HTTP that listen or ask for log messages.

// register adds a session.
func (g *Gateway) register(s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s] = struct{}{}
}

// unregister removes a session, its subscriptions and its own connections.
func (g *Gateway) unregister(s *Session) {
	g.mu.Lock()
	delete(g.sessions, s)
	g.mu.Unlock()
	own := g.conns.CloseOwner(s)
	for _, sub := range s.subs.RemoveAll() {
		if !slices.ContainsFunc(own, func(c *connpool.Conn[*serverPeer]) bool { return c.Upstream == sub.Upstream }) {
			sub.Upstream.Unsubscribe(sub.URI)
		}
	}
}

// allSessions returns the registered sessions.
func (g *Gateway) allSessions() []*Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*Session, 0, len(g.sessions))
	for s := range g.sessions {
		list = append(list, s)
	}
	return list
}

// soleClient returns the only connected legacy client, or nil if there are none or
// several. It is the one that a request of a server on a shared connection is for.
func (g *Gateway) soleClient() *Session {
	all := g.allSessions()
	if len(all) != 1 || !all[0].client.Sole || !all[0].legacy() {
		return nil
	}
	return all[0]
}

// GiveUp cancels the requests in flight of all sessions. Each client gets an error.
func (g *Gateway) GiveUp() {
	for _, s := range g.allSessions() {
		s.cancelRequests()
	}
}

// EndListens ends all listen requests of modern clients with a result, and refuses
// new ones.
func (g *Gateway) EndListens() {
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	g.conns.Refuse()
	for _, s := range g.allSessions() {
		s.subs.EndListens()
	}
}
