package gateway

import "sync"

// A sessionRegistry holds the sessions that get notifications: every legacy session, and those of modern
// requests over HTTP that listen or ask for log messages. The Gateway has one. It may be used concurrently; a
// session adds itself when it may get notifications, and leave removes it.
type sessionRegistry struct {
	mu       sync.Mutex
	sessions map[*Session]struct{} // guarded by mu
}

func (r *sessionRegistry) add(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions == nil {
		r.sessions = map[*Session]struct{}{}
	}
	r.sessions[s] = struct{}{}
}

func (r *sessionRegistry) remove(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, s)
}

func (r *sessionRegistry) all() []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*Session, 0, len(r.sessions))
	for s := range r.sessions {
		list = append(list, s)
	}
	return list
}

// soleClient returns the only connected legacy client, or nil if there are none or
// several. It is the one that a request of a server on a shared connection is for.
func (r *sessionRegistry) soleClient() *Session {
	all := r.all()
	if len(all) != 1 || !all[0].client.Sole || !all[0].legacy() {
		return nil
	}
	return all[0]
}
