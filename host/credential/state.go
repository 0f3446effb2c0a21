package credential

import (
	"slices"
	"time"
)

// A State is how it stands with the credential that was asked for last. It
// holds no secret.
type State struct {
	Kind    string // "unknown" (nobody asked yet), "ready", "needs_login", "refused" or "failed"
	Account string
	Scopes  []string  // that the server asked for, where it did
	Expires time.Time // zero: not known
	Since   time.Time // zero: unknown is from the beginning
	Reason  string    // why it is not ready
}

// State says how it stands, without asking anybody.
func (b *Broker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.latest
	if h == nil || h.kind == "" {
		return State{Kind: "unknown"}
	}
	s := State{Kind: h.kind, Scopes: slices.Clone(h.scopes), Since: h.since}
	if h.cred != nil {
		s.Account, s.Expires = h.cred.Account, h.cred.Expires
	}
	if h.trouble != nil {
		s.Reason = h.trouble.err.Message
	}
	return s
}
