package credential

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	maxStrikes = 3
	crossTime  = 10 * time.Second // within which a refusal may be about the replaced credential
	crossMost  = 256
	proofTime  = time.Minute // without a refusal, after which a credential counts as accepted
	proofUses  = 3
)

// strikePauses are how long nothing is presented after the first and the second
// refusal, if the provider has no replacement.
var strikePauses = [maxStrikes]time.Duration{0, 5 * time.Second, 30 * time.Second}

// rejections counts the credentials that the server refused. The broker's mu guards it, as part
// of a cachedCredential.
//
// Some transports do not say which credential a refusal is about. For these it
// counts recent uses. Each use can be refused once. Shortly after a replacement, as
// many refusals as there were recent uses are attributed to the old credential.
// Broker.Challenge and the queries are the users.
type rejections struct {
	generation int         // number of replacements
	name       string      // of the current credential, for transports
	bad        [32]byte    // fingerprint of the last refused credential
	out        []time.Time // times of recent uses, less one for each refusal

	crossing int       // uses of the replaced credential that may still be refused
	changed  time.Time // time of the last replacement

	strikes   int       // refusals since the server last accepted a credential
	uses      int       // since the last strike
	firstUsed time.Time // since the last strike
}

// recordUse records that the credential is presented.
func (r *rejections) recordUse(now time.Time) {
	if r.uses++; r.uses == 1 {
		r.firstUsed = now
	}
	if len(r.out) == crossMost {
		r.out = r.out[1:]
	}
	r.out = append(r.out, now)
}

// names numbers the credentials of all brokers.
var names atomic.Uint64

// replaced records that there is another credential from now on.
func (r *rejections) replaced(now time.Time) {
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

// crosses reports whether a refusal is about the replaced credential. arrived is the
// generation when the refusal came.
func (r *rejections) crosses(arrived int, now time.Time) bool {
	if r.crossing > 0 && now.Sub(r.changed) < crossTime {
		r.crossing--
		return true
	}
	return arrived != r.generation
}

// strike counts a refusal of the current credential.
func (r *rejections) strike(mark [32]byte, now time.Time) {
	if r.uses >= proofUses && now.Sub(r.firstUsed) > proofTime {
		r.strikes = 0
	}
	r.strikes++
	r.bad, r.uses = mark, 0
	r.dropUse()
}

// dropUse removes one recent use, because it was refused.
func (r *rejections) dropUse() {
	if len(r.out) > 0 {
		r.out = r.out[1:]
	}
}

// earlier reports whether a refusal is about a replaced credential. Transports that
// do not name the credential can mean an earlier one only on their first attempt.
func (cc *cachedCredential) earlier(c sdk.Challenge, arrived int, now time.Time) bool {
	if c.Presented != "" {
		return c.Presented != cc.name
	}
	return c.Attempt <= 1 && cc.crosses(arrived, now)
}

// decide answers a refusal without the provider, if possible; done reports whether
// it did. arrived is the generation when the refusal came.
func (cc *cachedCredential) decide(c sdk.Challenge, arrived int, stamp string, now time.Time) (
	res sdk.ChallengeResult, err error, done bool,
) {
	again := c.Attempt > 1
	if c.Status != http.StatusUnauthorized {
		return cc.tooNarrow(c, cc.earlier(c, arrived, now), now)
	}
	switch {
	case cc.failure.holds(stamp, now):
		res, err = cc.failure.result(now)
		return res, err, true
	case cc.earlier(c, arrived, now):
		return sdk.ChallengeResult{Retry: true}, nil, true
	}
	cc.strike(cc.mark, now)
	if cc.strikes >= maxStrikes || again && cc.strikes > 1 { // the replacement was refused too, or three in a row
		return cc.block("", false, stamp, now), nil, true
	}
	return res, nil, false
}

// noReplacement records that the provider has nothing else to present.
func (cc *cachedCredential) noReplacement(c sdk.Challenge, res sdk.ChallengeResult, err error, stamp string,
	now time.Time) (sdk.ChallengeResult, error) {
	cc.scopes = res.Scopes
	switch {
	case err != nil && c.Status != http.StatusUnauthorized:
		return res, cc.scope.failed(c, err, now)
	case err != nil:
		cc.cred = nil
		return res, cc.failed(err, stamp, stamp, now)
	case c.Status != http.StatusUnauthorized:
		cc.scope.note(c, res)
		return res, nil
	case res.NeedsLogin:
		cc.requireLogin(res.Reason, stamp, now)
		return res, nil
	}
	return cc.block(res.Reason, true, stamp, now), nil
}

// block stops presenting credentials: for a pause, and after the last strike until
// the stored secrets change. If fixed is set the provider cannot renew, so the broker
// asks it occasionally for a credential that a person has replaced.
func (cc *cachedCredential) block(reason string, fixed bool, stamp string, now time.Time) sdk.ChallengeResult {
	t := &failureState{kind: "refused", err: refusedByServer(reason, cc.server, cc.tenant), stamp: stamp}
	if cc.fixed = cc.fixed || fixed; cc.strikes < maxStrikes {
		t.until = now.Add(strikePauses[cc.strikes])
	} else if t.lasting = true; cc.fixed {
		t.recheck, t.until = recheckFirst, now.Add(recheckFirst)
	}
	cc.cred, cc.failure = nil, t
	cc.setKind("refused", now)
	res, _ := t.result(now)
	return res
}
