package credential

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	strikesMost = 3
	crossTime   = 10 * time.Second // within which a refusal may be about what was there before
	crossMost   = 256
	proofTime   = time.Minute // without a refusal, after which a credential was good
	proofUses   = 3
)

// strikePauses are how long a server is left alone that refused and for which
// the provider has nothing else, after the first strike and after the second.
var strikePauses = [strikesMost]time.Duration{0, 5 * time.Second, 30 * time.Second}

// refusals counts what the server refused.
//
// Where a transport does not say which credential a refusal is about, what was
// handed out lately is counted: each use can be refused once, and as many
// refusals that come shortly after a credential was replaced are taken to be
// about the one before.
type refusals struct {
	generation int         // grows when a credential is replaced
	name       string      // of the one there is, for transports
	bad        [32]byte    // the mark of what was refused last
	out        []time.Time // when it was handed out lately, as far as no refusal came

	crossing int       // uses of the one before that may still be refused
	changed  time.Time // when that was replaced

	strikes   int       // refusals that nothing good came after
	uses      int       // since the last strike
	firstUsed time.Time // since the last strike
}

// hand takes note that the credential is presented.
func (r *refusals) hand(now time.Time) {
	if r.uses++; r.uses == 1 {
		r.firstUsed = now
	}
	if len(r.out) == crossMost {
		r.out = r.out[1:]
	}
	r.out = append(r.out, now)
}

// names counts the credentials of all brokers.
var names atomic.Uint64

// replaced takes note that another credential is there from now on.
func (r *refusals) replaced(now time.Time) {
	r.generation++
	r.name = strconv.FormatUint(names.Add(1), 36)
	r.crossing, r.changed = 0, now
	for _, t := range r.out {
		if now.Sub(t) < crossTime {
			r.crossing++
		}
	}
	r.out = nil
}

// crosses reports whether a refusal is about what was replaced before it came.
func (r *refusals) crosses(arrived int, now time.Time) bool {
	if r.crossing > 0 && now.Sub(r.changed) < crossTime {
		r.crossing--
		return true
	}
	return arrived != r.generation
}

// strike counts a refusal of what is there now.
func (r *refusals) strike(mark [32]byte, now time.Time) {
	if r.uses >= proofUses && now.Sub(r.firstUsed) > proofTime {
		r.strikes = 0
	}
	r.strikes++
	r.bad, r.uses = mark, 0
	r.met()
}

// met takes note that a use was refused.
func (r *refusals) met() {
	if len(r.out) > 0 {
		r.out = r.out[1:]
	}
}

// earlier reports whether a refusal is about a credential that was replaced before
// it came. Who does not say which it is about can mean an earlier one only the
// first time.
func (h *cachedCredential) earlier(c sdk.Challenge, arrived int, now time.Time) bool {
	if c.Presented != "" {
		return c.Presented != h.name
	}
	return c.Attempt <= 1 && h.crosses(arrived, now)
}

// refused decides about a refusal, unless the provider has to be asked. arrived
// is the generation of the credential that was there when the refusal came.
func (h *cachedCredential) refused(c sdk.Challenge, arrived int, stamp string, now time.Time) (res sdk.ChallengeResult, err error, done bool) {
	again := c.Attempt > 1
	if c.Status != http.StatusUnauthorized {
		return h.tooNarrow(c, h.earlier(c, arrived, now), now)
	}
	switch {
	case h.trouble.holds(stamp, now):
		res, err = h.trouble.result(now)
		return res, err, true
	case h.earlier(c, arrived, now):
		return sdk.ChallengeResult{Retry: true}, nil, true
	}
	h.strike(h.mark, now)
	if h.strikes >= strikesMost || again && h.strikes > 1 { // or it was not asked yet
		return h.givesUp("", false, stamp, now), nil, true
	}
	return res, nil, false
}

// helpless takes note that the provider has nothing to present instead.
func (h *cachedCredential) helpless(c sdk.Challenge, res sdk.ChallengeResult, err error, stamp string, now time.Time) (sdk.ChallengeResult, error) {
	h.scopes = res.Scopes
	switch {
	case err != nil && c.Status != http.StatusUnauthorized:
		return res, h.scope.failed(c, err, now)
	case err != nil:
		h.cred = nil
		return res, h.failed(err, stamp, stamp, now)
	case c.Status != http.StatusUnauthorized:
		h.scope.note(c, res)
		return res, nil
	case res.NeedsLogin:
		h.wants(res.Reason, stamp, now)
		return res, nil
	}
	return h.givesUp(res.Reason, true, stamp, now), nil
}

// givesUp leaves the server alone: for a while, and after the last strike until
// something changes. fixed says that the provider cannot renew what it has; then
// it is asked now and then whether somebody gave it something else.
func (h *cachedCredential) givesUp(reason string, fixed bool, stamp string, now time.Time) sdk.ChallengeResult {
	t := &failureState{kind: "refused", err: refusedByServer(reason, h.server, h.tenant), stamp: stamp}
	if h.fixed = h.fixed || fixed; h.strikes < strikesMost {
		t.until = now.Add(strikePauses[h.strikes])
	} else if t.lasting = true; h.fixed {
		t.look, t.until = lookFirst, now.Add(lookFirst)
	}
	h.cred, h.trouble = nil, t
	h.turn("refused", now)
	res, _ := t.result(now)
	return res
}
