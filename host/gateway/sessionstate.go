package gateway

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A state is the part of a legacy session that another process needs to resume it. Package sessionstore keeps
// it at rest, as JSON: a release must read the states of earlier ones. State and Resume are the users.
type state struct {
	Principal     authn.Principal `json:"principal"`
	Revision      mcp.Revision    `json:"revision"`
	Capabilities  json.RawMessage `json:"capabilities"`
	Level         string          `json:"level,omitempty"`
	Subscriptions []string        `json:"subscriptions,omitempty"`
}

// State returns the input of Resume for this legacy session. It is nil before the handshake.
// The transport may call it at any time.
func (s *Session) State() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == "" {
		return nil
	}
	b, err := json.Marshal(state{s.Principal(), s.revision, s.caps, s.level, s.subs.URIs()})
	if err != nil {
		panic(err) // what was parsed can be rendered
	}
	return b
}

// Revision returns the negotiated revision; it is empty before the handshake.
func (s *Session) Revision() mcp.Revision {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// stateChanged calls Client.Changed if State has changed. It may wait for the disk; it must not
// be called with mu held.
func (s *Session) stateChanged() {
	if s.client.Changed == nil {
		return
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	state := s.State()
	if bytes.Equal(state, s.saved) {
		return // an earlier call reported this state as well
	}
	s.saved = state
	s.client.Changed(state)
}

// Resume goes on with a legacy session that another process began. What it was subscribed to it subscribes to
// anew, without waiting for that. As for Open, the caller closes the session.
func (g *Gateway) Resume(c Client, from []byte) *Session {
	s := g.session(context.Background(), c)
	var st state
	if json.Unmarshal(from, &st) == nil && st.Revision.Known() {
		s.principal.Store(&st.Principal)
		s.shown.list(0) // the client probably did, in the other process
		s.revision, s.caps, s.level = st.Revision, st.Capabilities, st.Level
	}
	s.subs.Restore(st.Subscriptions)
	g.sessions.add(s)
	s.noteOpened()
	if s.level != "" {
		g.levels.send()
	}
	if len(st.Subscriptions) > 0 {
		s.renewLater(st.Subscriptions)
	}
	return s
}
