package sessionstore

import (
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/limit"
)

// What is kept of what was sent, where the memory for messages does not say less.
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
	events  int // kept of a session
	memory  *limit.Memory
	soft    int64         // bytes of all sessions, above which each keeps little
	most    int64         // bytes of all sessions, above which large events are not kept
	little  int           // bytes of one session above soft
	held    atomic.Int64  // bytes, of all sessions
	lost    atomic.Int64  // events that were not even kept until they were read
	squeeze chan struct{} // holds a token when all sessions together have too much
}

// newLimits returns the limits for logs that take half of the memory at most. A
// quarter is kept as long as the sessions' own bounds allow; above that each
// session keeps its part of a quarter.
func newLimits(events, sessions int, memory *limit.Memory) *limits {
	l := &limits{
		events: events, memory: memory, soft: budgetBytes, most: mostBytes, little: squeezedBytes,
		squeeze: make(chan struct{}, 1),
	}
	if most := memory.Most(); most > 0 {
		l.soft, l.most = min(l.soft, most/4), min(l.most, most/2)
		l.little = min(l.little, int(most/4)/sessions)
	}
	return l
}

// bytes is what a session may keep at the moment.
func (l *limits) bytes() int {
	if l.held.Load() > l.soft {
		return l.little
	}
	return sessionBytes
}

// over reports whether there is no room even for the newest event of a session,
// if that is large.
func (l *limits) over() bool { return l.held.Load() > l.most || l.memory.Full() }

// count takes note of what a session holds more, or less.
func (l *limits) count(delta int) {
	l.memory.Count(delta)
	if delta != 0 && l.held.Add(int64(delta)) > l.soft && delta > 0 {
		select {
		case l.squeeze <- struct{}{}:
		default:
		}
	}
}
