package credential

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// skew is how long before it expires a credential is replaced: the clocks of
// servers differ, and requests take their time. One that is short-lived is used
// for half its life, or every request would be a refresh.
const skew = 30 * time.Second

// cachedCredential is one credential and what is known about it. Its methods are called
// with the broker's lock held, and do nothing but change it.
type cachedCredential struct {
	server, tenant string
	request        sdk.AuthRequest // that it is for
	used           time.Time
	asking         *question // under way; nil: none

	cred    *sdk.Credential // nil: none
	mark    [32]byte        // of the last one there was
	margin  time.Duration   // before it expires, in which it is replaced
	stamp   string          // of what was stored when it was obtained
	trouble *failureState   // nil: none
	pause   time.Duration   // after the last failure of the provider

	refusals
	scope wider
	fixed bool // the provider once had nothing to renew it with

	kind   string // of State
	since  time.Time
	scopes []string
}

// keyOf is what a credential is for.
func keyOf(r sdk.AuthRequest) string {
	scopes := slices.Sorted(slices.Values(r.Scopes))
	resource, _, _ := strings.Cut(cmp.Or(r.Resource, r.URL), "#")
	key, err := json.Marshal([]any{resource, scopes, r.Subject})
	if err != nil {
		panic(err) // texts only
	}
	return string(key)
}

// answer is what can be said without asking: a credential, an error, or neither.
func (h *cachedCredential) answer(stamp string, now time.Time) (*sdk.Credential, error) {
	switch {
	case h.trouble.holds(stamp, now) && h.valid(now):
	case h.trouble.holds(stamp, now):
		return nil, h.trouble.error(now)
	case h.cred == nil || h.cred.PerRequest || stamp != h.stamp || !h.cred.Expires.IsZero() && h.cred.Expires.Sub(now) <= h.margin:
		return nil, nil
	}
	h.hand(now)
	return h.cred, nil
}

// valid reports whether there is a credential that the server may still take.
func (h *cachedCredential) valid(now time.Time) bool {
	return h.cred != nil && !h.cred.PerRequest && (h.cred.Expires.IsZero() || now.Before(h.cred.Expires))
}

// obtained takes what the provider gave, and reports whether it is of use: it is
// not when it is what was refused to the end. stamp is from after the question.
func (h *cachedCredential) obtained(c sdk.Credential, stamp string, now time.Time) error {
	mark := markOf(c)
	if t := h.trouble; t != nil && t.lasting {
		if mark == h.bad {
			t.again(stamp, now)
			return t.error(now)
		}
		h.strikes = min(h.strikes, strikesMost-1) // something changed, which is worth one attempt
	}
	if mark != h.mark {
		h.replaced(now)
		h.scope = wider{}
	}
	c.Name = h.name
	h.cred, h.mark, h.stamp, h.trouble, h.pause = &c, mark, stamp, nil, 0
	h.margin = min(skew, max(0, c.Expires.Sub(now)/2))
	h.turn("ready", now)
	return nil
}

// failed takes the provider's error. The stamps are from before the question, so
// that nothing that changed meanwhile is missed, and from after it, for a provider
// that says that what it was given is of no use: what it wrote itself is no reason
// to ask it again at once.
func (h *cachedCredential) failed(err error, before, after string, now time.Time) *sdk.Error {
	e := asError(err)
	if e.Code == sdk.NeedsLogin {
		return h.wants(e.Message, before, now)
	}
	h.pause = min(max(2*h.pause, pauseFirst), pauseLast)
	denied := e.Code == sdk.Denied
	if denied {
		h.pause = pauseLast
	}
	h.trouble = &failureState{kind: "failed", err: e, until: now.Add(h.pause), stamp: after, merely: e.Code != sdk.AuthRequired && !denied, final: denied}
	h.turn("failed", now)
	return h.trouble.error(now)
}

// wants takes note that only a person can help. What there was is not presented
// any longer: whoever logged out means it.
func (h *cachedCredential) wants(reason, stamp string, now time.Time) *sdk.Error {
	h.cred = nil
	h.trouble = &failureState{kind: "needs_login", err: needsLogin(reason, h.server, h.tenant), lasting: true, stamp: stamp}
	h.turn("needs_login", now)
	return h.trouble.error(now)
}

func (h *cachedCredential) turn(kind string, now time.Time) {
	if h.kind != kind {
		h.kind, h.since = kind, now
	}
}

// markOf tells credentials apart.
func markOf(c sdk.Credential) [32]byte {
	text, err := json.Marshal([]any{c.Headers, c.Query}) // sorted by name
	if err != nil {
		panic(err) // texts only
	}
	return sha256.Sum256(text)
}
