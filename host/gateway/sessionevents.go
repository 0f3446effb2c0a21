package gateway

import "github.com/junctor-mcp/junctor/host/event"

// noteListening records that a modern client listens. This file adds the beginnings and ends of sessions to the
// events that programs can watch; it does not wait. The audit log does not have them.
func noteListening(r *pendingRequest) {
	s, program := r.session, r.Client()
	s.mu.Lock()
	if s.info == "" {
		s.info = program
	}
	s.mu.Unlock()
	s.noteOpened()
}

// noteOpened records that a client is connected: a legacy client after its handshake, or
// a modern one that listens.
func (s *Session) noteOpened() {
	s.mu.Lock()
	before := s.noted
	s.noted = true
	s.mu.Unlock()
	if !before {
		s.note(event.SessionOpened)
	}
}

// noteClosed records the end of a session whose beginning was recorded.
func (s *Session) noteClosed() {
	s.mu.Lock()
	noted := s.noted
	s.noted = false
	s.mu.Unlock()
	if noted {
		s.note(event.SessionClosed)
	}
}

func (s *Session) note(t event.Type) {
	s.gw.opts.Events.Add(event.Event{Type: t, Principal: event.By(s.Principal()), Client: s.program()})
}
