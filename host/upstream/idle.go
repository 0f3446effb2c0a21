package upstream

import "time"

// Idle says when a connection that is not used is closed. The zero value never
// does.
type Idle struct {
	Adaptive bool
	After    time.Duration
}

// Adaptive idle times: a server that is used more is kept longer.
const (
	idleCold = time.Minute     // fewer than 5 calls in the last hour
	idleWarm = 3 * time.Minute // up to 20
	idleHot  = 5 * time.Minute
)

// An idleClock counts the time in which nothing happens. Its owner's lock
// guards it.
type idleClock struct {
	rule  Idle
	timer *time.Timer
	calls []time.Time // of the last hour
}

// used takes note of a call.
func (i *idleClock) used(now time.Time) {
	if !i.rule.Adaptive {
		return
	}
	i.calls = append(i.calls, now)
	for len(i.calls) > 0 && now.Sub(i.calls[0]) > time.Hour || len(i.calls) > 100 {
		i.calls = i.calls[1:]
	}
}

// start begins to count.
func (i *idleClock) start(f func()) {
	if d := i.after(); d > 0 && i.timer == nil {
		i.timer = time.AfterFunc(d, f)
	}
}

func (i *idleClock) stop() {
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}

func (i *idleClock) after() time.Duration {
	switch n := len(i.calls); {
	case !i.rule.Adaptive:
		return i.rule.After
	case n > 20:
		return idleHot
	case n >= 5:
		return idleWarm
	default:
		return idleCold
	}
}
