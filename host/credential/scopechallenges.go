package credential

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// askedMost is how many different challenges are remembered. Each further one counts
// as a strike.
const askedMost = 16

// scopeChallenges remembers the challenges with status 403: the server wants more scopes
// than the credential has. The credential stays valid for other requests. The broker's mu
// guards it, as part of a cachedCredential.
type scopeChallenges struct {
	asked   map[[32]byte]sdk.ChallengeResult // by digest of WWW-Authenticate
	strikes int
	last    sdk.ChallengeResult
	failure *failureState // of the last query about a challenge; may be nil
}

// tooNarrow answers a 403 without the provider, if possible; done reports whether it
// did. crosses says that the refusal may be about the replaced credential.
func (cc *cachedCredential) tooNarrow(c sdk.Challenge, crosses bool, now time.Time) (
	res sdk.ChallengeResult, err error, done bool,
) {
	s := &cc.scope
	earlier, known := s.asked[saidOf(c)]
	switch {
	case crosses:
		return sdk.ChallengeResult{Retry: true}, nil, true
	case s.failure.holds("", now):
		return res, s.failure.error(now), true
	case known && !earlier.Retry:
		return earlier, nil, true
	case known || c.Attempt > 1: // the server asks again for a scope it was given
		s.strikes++
	}
	if c.Attempt > 1 || s.strikes >= maxStrikes {
		res = s.last
		res.Retry = false
		if res.Reason == "" {
			res.Reason = "the server keeps asking for scopes that the credential already has"
		}
		return res, nil, true
	}
	s.note(c, sdk.ChallengeResult{Retry: true}) // until the provider's answer replaces it
	return res, nil, false
}

// failed records that the provider could not be asked. The credential stays valid.
func (s *scopeChallenges) failed(c sdk.Challenge, err error, now time.Time) error {
	delete(s.asked, saidOf(c))
	s.failure = &failureState{kind: "failed", err: asError(err), until: now.Add(pauseLast), temporary: true}
	return s.failure.error(now)
}

// note records the answer to a challenge.
func (s *scopeChallenges) note(c sdk.Challenge, res sdk.ChallengeResult) {
	said := saidOf(c)
	if _, known := s.asked[said]; !known && len(s.asked) >= askedMost || res.NeedsLogin {
		s.strikes++
	}
	if s.asked == nil {
		s.asked = map[[32]byte]sdk.ChallengeResult{}
	}
	if len(s.asked) < askedMost {
		s.asked[said] = res
	}
	s.last = res
}

func saidOf(c sdk.Challenge) [32]byte {
	text, err := json.Marshal(c.WWWAuthenticate)
	if err != nil {
		panic(err) // cannot happen: the values are strings
	}
	return sha256.Sum256(text)
}
