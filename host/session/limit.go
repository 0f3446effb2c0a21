package session

import "sync/atomic"

// What is kept of what was sent.
const (
	sessionBytes  = 8 << 20   // of one session
	budgetBytes   = 256 << 20 // of all sessions
	squeezedBytes = 256 << 10 // of one session while all together have more than the budget
	mostBytes     = 512 << 20 // of all sessions, but for squeezedBytes of each

	passingEvents = 256 // transient ones that were not read yet, of one session
	passingBytes  = 1 << 20

	goneStreams = 1024 // ended streams of one session of which nothing is kept but what was dropped
)

// limits are what the logs of a store share.
type limits struct {
	events  int           // kept of a session
	most    int64         // bytes of all sessions
	held    atomic.Int64  // bytes, of all sessions
	lost    atomic.Int64  // events that were not even kept until they were read
	squeeze chan struct{} // holds a token when all sessions together have too much
}

func newLimits(events int) *limits {
	return &limits{events: events, most: mostBytes, squeeze: make(chan struct{}, 1)}
}

// bytes is what a session may keep at the moment.
func (l *limits) bytes() int {
	if l.held.Load() > budgetBytes {
		return squeezedBytes
	}
	return sessionBytes
}

// over reports whether there is no room even for the newest event of a session,
// if that is large.
func (l *limits) over() bool { return l.held.Load() > l.most }

// count takes note of what a session holds more, or less.
func (l *limits) count(delta int) {
	if delta != 0 && l.held.Add(int64(delta)) > budgetBytes && delta > 0 {
		select {
		case l.squeeze <- struct{}{}:
		default:
		}
	}
}
