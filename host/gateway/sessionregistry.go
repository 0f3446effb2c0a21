package gateway

// The roll is the list of the sessions that are told what happens: every legacy
// session, and of the modern requests over HTTP those that asked to be told.

// register takes a session up.
func (g *Gateway) register(s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s] = struct{}{}
}

// unregister forgets a session, and gives back what it subscribed to and the
// connections of its own.
func (g *Gateway) unregister(s *Session) {
	g.mu.Lock()
	delete(g.sessions, s)
	g.mu.Unlock()
	s.mu.Lock()
	subs, lines := s.subs, s.conns
	s.subs, s.conns = nil, nil
	s.mu.Unlock()
	for _, sub := range subs {
		if l := lines[sub.server]; l == nil || l.up != sub.upstream { // one of its own is closed anyway
			sub.upstream.Unsubscribe(sub.uri)
		}
	}
	for _, l := range lines {
		g.closeLater(l)
	}
}

// allSessions returns the sessions there are.
func (g *Gateway) allSessions() []*Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*Session, 0, len(g.sessions))
	for s := range g.sessions {
		list = append(list, s)
	}
	return list
}

// soleClient returns the one client that a server can mean that asks on a shared
// connection; nil when there is none.
func (g *Gateway) soleClient() *Session {
	all := g.allSessions()
	if len(all) != 1 || !all[0].client.Sole || !all[0].legacy() {
		return nil
	}
	return all[0]
}

// GiveUp cancels what is still being answered to sessions; each client is told.
func (g *Gateway) GiveUp() {
	for _, s := range g.allSessions() {
		s.giveUp()
	}
}

// EndListens ends what modern clients listen to, with an answer that says so,
// and lets nobody listen any longer.
func (g *Gateway) EndListens() {
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	for _, s := range g.allSessions() {
		s.mu.Lock()
		for _, l := range s.listens {
			l.stop()
		}
		s.mu.Unlock()
	}
}
