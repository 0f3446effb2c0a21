package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A state is what has to be known of a legacy session to go on with it in
// another process.
type state struct {
	Principal     identity.Principal `json:"principal"`
	Revision      mcp.Revision       `json:"revision"`
	Capabilities  json.RawMessage    `json:"capabilities"`
	Level         string             `json:"level,omitempty"`
	Subscriptions []string           `json:"subscriptions,omitempty"`
}

// State is what Resume needs to go on with a legacy session. It is nil before
// the handshake.
func (s *Session) State() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == "" {
		return nil
	}
	b, err := json.Marshal(state{s.Principal(), s.revision, s.caps, s.level, slices.Sorted(maps.Keys(s.subs))})
	if err != nil {
		panic(err) // what was parsed can be rendered
	}
	return b
}

// Revision is what was agreed on in the handshake; empty before it.
func (s *Session) Revision() mcp.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// changed tells that State is another one.
func (s *Session) changed() {
	if s.client.Changed != nil {
		s.client.Changed(s.State())
	}
}

// Resume goes on with a legacy session that another process began. What it was
// subscribed to it subscribes to anew, without waiting for that.
func (g *Gateway) Resume(c Client, from []byte) *Session {
	s := g.session(context.Background(), c)
	var st state
	if json.Unmarshal(from, &st) == nil && st.Revision.Known() {
		s.who.Store(&st.Principal)
		s.revision, s.caps, s.level = st.Revision, st.Capabilities, st.Level
	}
	g.enrol(s)
	if s.level != "" {
		g.setLevels()
	}
	if len(st.Subscriptions) > 0 {
		s.work.Go(func() {
			for _, uri := range st.Subscriptions {
				r := &request{session: s, ctx: s.ctx, params: mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri))}
				if _, err := subscribe(r); err != nil {
					g.opts.Log.Warn("a subscription was not renewed", "uri", clip(uri), "error", string(err.object()))
				}
			}
		})
	}
	return s
}
