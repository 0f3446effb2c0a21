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

// skew is how long before its expiry a credential is replaced. It covers the
// difference between clocks and the duration of requests. A short-lived credential
// is used for half its life, so that not every request causes a refresh.
const skew = 30 * time.Second

// A cachedCredential is one credential and its history. Its methods are called with the
// broker's mu held and have no effect outside the entry. The broker makes and evicts it.
type cachedCredential struct {
	server, tenant string
	request        sdk.AuthRequest // its purpose
	used           time.Time
	pending        *query // in flight; may be nil

	cred    *sdk.Credential // may be nil
	mark    [32]byte        // fingerprint of the latest credential
	margin  time.Duration   // before the expiry, in which the credential is replaced
	stamp   string          // Changed when the credential was obtained
	failure *failureState   // may be nil
	pause   time.Duration   // after the last failure of the provider

	rejections
	scope scopeChallenges
	fixed bool // the provider once had no replacement

	kind   string // as in State
	since  time.Time
	scopes []string
}

// keyOf returns the purpose of a request: its resource, scopes and subject.
func keyOf(r sdk.AuthRequest) string {
	scopes := slices.Sorted(slices.Values(r.Scopes))
	resource, _, _ := strings.Cut(cmp.Or(r.Resource, r.URL), "#")
	key, err := json.Marshal([]any{resource, scopes, r.Subject})
	if err != nil {
		panic(err) // cannot happen: the values are strings
	}
	return string(key)
}

// cached returns the answer that needs no query: a credential or an error. It
// returns neither if the provider has to be asked.
func (cc *cachedCredential) cached(stamp string, now time.Time) (*sdk.Credential, error) {
	switch {
	case cc.failure.holds(stamp, now) && cc.valid(now):
	case cc.failure.holds(stamp, now):
		return nil, cc.failure.error(now)
	case cc.cred == nil || cc.cred.PerRequest || stamp != cc.stamp ||
		!cc.cred.Expires.IsZero() && cc.cred.Expires.Sub(now) <= cc.margin:
		return nil, nil
	}
	cc.recordUse(now)
	return cc.cred, nil
}

// valid reports whether the credential has not expired yet.
func (cc *cachedCredential) valid(now time.Time) bool {
	return cc.cred != nil && !cc.cred.PerRequest && (cc.cred.Expires.IsZero() || now.Before(cc.cred.Expires))
}

// obtained stores the provider's credential. It returns an error if the server has
// already refused this one for good. stamp is Changed after the query.
func (cc *cachedCredential) obtained(c sdk.Credential, stamp string, now time.Time) error {
	mark := markOf(c)
	if t := cc.failure; t != nil && t.lasting {
		if mark == cc.bad {
			t.extend(stamp, now)
			return t.error(now)
		}
		cc.strikes = min(cc.strikes, maxStrikes-1) // a change of the stored secrets is worth one attempt
	}
	if mark != cc.mark {
		cc.replaced(now)
		cc.scope = scopeChallenges{}
	}
	c.Name = cc.name
	cc.cred, cc.mark, cc.stamp, cc.failure, cc.pause = &c, mark, stamp, nil, 0
	cc.margin = min(skew, max(0, c.Expires.Sub(now)/2))
	cc.setKind("ready", now)
	return nil
}

// failed records the provider's error and returns what callers receive. A
// NeedsLogin keeps before, so that no change during the query is missed. Other
// errors keep after: the provider's own writes are no reason to ask it again.
func (cc *cachedCredential) failed(err error, before, after string, now time.Time) *sdk.Error {
	e := asError(err)
	if e.Code == sdk.NeedsLogin {
		return cc.requireLogin(e.Message, before, now)
	}
	cc.pause = min(max(2*cc.pause, pauseFirst), pauseLast)
	denied := e.Code == sdk.Denied
	if denied {
		cc.pause = pauseLast
	}
	cc.failure = &failureState{kind: "failed", err: e, until: now.Add(cc.pause), stamp: after,
		temporary: e.Code != sdk.AuthRequired && !denied, final: denied}
	cc.setKind("failed", now)
	return cc.failure.error(now)
}

// requireLogin records that only a login can help. It drops the credential, because
// a person who logged out does not want it presented again.
func (cc *cachedCredential) requireLogin(reason, stamp string, now time.Time) *sdk.Error {
	cc.cred = nil
	cc.failure = &failureState{kind: "needs_login", err: needsLogin(reason, cc.server, cc.tenant), lasting: true,
		stamp: stamp}
	cc.setKind("needs_login", now)
	return cc.failure.error(now)
}

func (cc *cachedCredential) setKind(kind string, now time.Time) {
	if cc.kind != kind {
		cc.kind, cc.since = kind, now
	}
}

// markOf returns the fingerprint of a credential.
func markOf(c sdk.Credential) [32]byte {
	text, err := json.Marshal([]any{c.Headers, c.Query}) // maps are encoded in sorted order
	if err != nil {
		panic(err) // cannot happen: the values are strings
	}
	return sha256.Sum256(text)
}
