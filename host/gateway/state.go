package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A state is the part of a legacy session that another process needs to resume it.
type state struct {
	Principal     authn.Principal `json:"principal"`
	Revision      mcp.Revision    `json:"revision"`
	Capabilities  json.RawMessage `json:"capabilities"`
	Level         string          `json:"level,omitempty"`
	Subscriptions []string        `json:"subscriptions,omitempty"`
}

// State returns the input of Resume for this legacy session. It is nil before the
// handshake.
func (s *Session) State() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == "" {
		return nil
	}
	subs := maps.Clone(s.renewing)
	if subs == nil {
		subs = map[string]bool{}
	}
	for uri := range s.subs {
		subs[uri] = true
	}
	b, err := json.Marshal(state{s.Principal(), s.revision, s.caps, s.level, slices.Sorted(maps.Keys(subs))})
	if err != nil {
		panic(err) // what was parsed can be rendered
	}
	return b
}

// Revision returns the negotiated revision; it is empty before the handshake.
func (s *Session) Revision() mcp.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// stateChanged calls Client.Changed if State has changed.
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

// Resume goes on with a legacy session that another process began. What it was
// subscribed to it subscribes to anew, without waiting for that.
func (g *Gateway) Resume(c Client, from []byte) *Session {
	s := g.session(context.Background(), c)
	var st state
	if json.Unmarshal(from, &st) == nil && st.Revision.Known() {
		s.principal.Store(&st.Principal)
		s.revision, s.caps, s.level = st.Revision, st.Capabilities, st.Level
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.renewing, s.stopRenewing = map[string]bool{}, stop
	for _, uri := range st.Subscriptions {
		s.renewing[uri] = true
	}
	g.register(s)
	if s.level != "" {
		g.setLevels()
	}
	if len(st.Subscriptions) > 0 {
		s.work.Go(func() { s.renew(ctx, st.Subscriptions) })
	}
	return s
}

// A server that is not there when a session goes on gets more time: the client
// believes that it is subscribed.
const (
	renewAfter = time.Second // doubled each time
	renewals   = 10
)

// renew renews subscriptions until none is left or the session ends.
func (s *Session) renew(ctx context.Context, uris []string) {
	wait := renewAfter
	for range renewals {
		failed := make([]error, len(uris))
		var all errgroup.Group
		all.SetLimit(subscribingAtOnce)
		for i, uri := range uris {
			all.Go(func() error { failed[i] = s.renewOne(ctx, uri); return nil })
		}
		_ = all.Wait()
		var left []string
		for i, uri := range uris {
			if failed[i] != nil {
				s.gw.opts.Log.Warn("a subscription was not renewed", "uri", clip(uri), "error", failed[i])
				left = append(left, uri)
			}
		}
		if uris = left; len(uris) == 0 {
			return
		}
		select {
		case <-time.After(wait):
			wait *= 2
		case <-ctx.Done():
			return
		}
	}
	s.mu.Lock()
	clear(s.renewing)
	s.mu.Unlock()
	s.stateChanged()
}

// renewOne subscribes to a resource anew, unless the client meanwhile did not
// want it any longer.
func (s *Session) renewOne(ctx context.Context, uri string) error {
	if !s.renews(uri) {
		return nil
	}
	r := &request{
		gw: s.gw, generation: s.gw.enter(), session: s, principal: s.Principal(), route: routes[mcp.MethodSubscribe], method: mcp.MethodSubscribe,
		params: mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri)),
	}
	defer r.leaveGeneration()
	if _, err := s.gw.serve(ctx, r); err != nil {
		return err
	}
	wanted := s.renews(uri)
	s.mu.Lock()
	delete(s.renewing, uri)
	s.mu.Unlock()
	if !wanted {
		s.unsubscribe(uri)
	}
	return nil
}

func (s *Session) renews(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewing[uri]
}
