package sessionstore

import (
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/limit"
)

// Limits for event logs, unless the memory for messages allows less.
const (
	sessionBytes = 8 << 20   // per session
	softBytes    = 256 << 20 // of all sessions, above which each session keeps smallBytes
	smallBytes   = 256 << 10 // per session above softBytes
	maxBytes     = 512 << 20 // of all sessions, above which events over smallBytes are dropped

	transientEvents = 256     // unread transient events per session
	transientBytes  = 1 << 20 // unread transient events per session

	emptyStreams = 1024 // ended streams without events, per session, whose losses are remembered
)

// limits are the bounds that the logs of a store share, and what they use. A Store has one. Its
// methods may be called concurrently, with or without a log's mu.
type limits struct {
	memory        *limit.Memory
	bounds        atomic.Pointer[bounds]
	held          atomic.Int64  // bytes of all sessions
	droppedUnread atomic.Int64  // events that were dropped before they were read
	shrink        chan struct{} // holds a token if all sessions together exceed softBytes
}

// bounds are the bounds of the logs. They are immutable.
type bounds struct {
	events     int   // kept per session
	softBytes  int64 // bytes of all sessions, above which each keeps smallBytes
	maxBytes   int64 // bytes of all sessions, above which large events are dropped
	smallBytes int   // bytes per session above softBytes
}

func newLimits(events, sessions int, memory *limit.Memory) *limits {
	l := &limits{memory: memory, shrink: make(chan struct{}, 1)}
	l.set(events, sessions)
	return l
}

// set sets bounds under which all logs take half of the memory at most. Up to a
// quarter, each session keeps what its own bounds allow. Above that, each session
// keeps its part of a quarter.
func (l *limits) set(events, sessions int) {
	b := &bounds{events: events, softBytes: softBytes, maxBytes: maxBytes, smallBytes: smallBytes}
	if most := l.memory.Most(); most > 0 {
		b.softBytes, b.maxBytes = min(b.softBytes, most/4), min(b.maxBytes, most/2)
		b.smallBytes = min(b.smallBytes, int(most/4)/sessions)
	}
	l.bounds.Store(b)
}

// events returns how many events a session may keep.
func (l *limits) events() int { return l.bounds.Load().events }

// smallBytes returns how many bytes a session may keep if all sessions together keep
// too many.
func (l *limits) smallBytes() int { return l.bounds.Load().smallBytes }

// bytes returns how many bytes a session may keep at the moment.
func (l *limits) bytes() int {
	if b := l.bounds.Load(); l.held.Load() > b.softBytes {
		return b.smallBytes
	}
	return sessionBytes
}

// over reports whether even the newest event of a session must be dropped if it
// is large.
func (l *limits) over() bool { return l.held.Load() > l.bounds.Load().maxBytes || l.memory.Full() }

// count adds delta bytes to what the logs use, and requests a shrink if that is
// too much.
func (l *limits) count(delta int) {
	l.memory.Count(delta)
	if delta != 0 && l.held.Add(int64(delta)) > l.bounds.Load().softBytes && delta > 0 {
		select {
		case l.shrink <- struct{}{}:
		default:
		}
	}
}
