package credential

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// askedMost is how many different wishes of a server are remembered; each beyond
// is a strike.
const askedMost = 16

// wider remembers what a server asked for beyond the credential that it has,
// with status 403. The credential stays good for everything else, and is not
// given up for it.
type wider struct {
	asked   map[[32]byte]sdk.ChallengeResult // by what the server said
	strikes int
	last    sdk.ChallengeResult
	trouble *failureState // with asking about it; nil: none
}

// tooNarrow decides about a refusal of something for which the credential does
// not do, unless the provider has to be asked. crosses says that it may be about
// the credential before.
func (h *cachedCredential) tooNarrow(c sdk.Challenge, crosses bool, now time.Time) (res sdk.ChallengeResult, err error, done bool) {
	w := &h.scope
	earlier, known := w.asked[saidOf(c)]
	switch {
	case crosses:
		return sdk.ChallengeResult{Retry: true}, nil, true
	case w.trouble.holds("", now):
		return res, w.trouble.error(now), true
	case known && !earlier.Retry:
		return earlier, nil, true
	case known || c.Attempt > 1: // it has what it wanted, and asks for it again
		w.strikes++
	}
	if c.Attempt > 1 || w.strikes >= strikesMost {
		res = w.last
		res.Retry = false
		if res.Reason == "" {
			res.Reason = "the server goes on to ask for more than it was given"
		}
		return res, nil, true
	}
	w.note(c, sdk.ChallengeResult{Retry: true}) // unless the answer is another
	return res, nil, false
}

// failed takes note that it could not be found out, which says nothing about the
// credential.
func (w *wider) failed(c sdk.Challenge, err error, now time.Time) error {
	delete(w.asked, saidOf(c))
	w.trouble = &failureState{kind: "failed", err: asError(err), until: now.Add(pauseLast), merely: true}
	return w.trouble.error(now)
}

// note remembers what became of it.
func (w *wider) note(c sdk.Challenge, res sdk.ChallengeResult) {
	said := saidOf(c)
	if _, known := w.asked[said]; !known && len(w.asked) >= askedMost || res.NeedsLogin {
		w.strikes++
	}
	if w.asked == nil {
		w.asked = map[[32]byte]sdk.ChallengeResult{}
	}
	if len(w.asked) < askedMost {
		w.asked[said] = res
	}
	w.last = res
}

func saidOf(c sdk.Challenge) [32]byte {
	text, err := json.Marshal(c.WWWAuthenticate)
	if err != nil {
		panic(err) // texts only
	}
	return sha256.Sum256(text)
}
