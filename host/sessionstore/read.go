package sessionstore

import (
	"errors"
	"fmt"
	"io"
)

// ErrNoStream means that a stream never existed, or that no event was ever
// sent at a position.
var ErrNoStream = errors.New("unknown stream or position")

// A PurgedError means that events after a reader's position are no longer kept.
// A reader that accepts the loss continues at Resume.
type PurgedError struct {
	Missed uint64 // number of lost events, at least 1; an upper bound
	Resume uint64 // position
}

func (e *PurgedError) Error() string {
	return fmt.Sprintf("up to %d unread events are no longer kept", e.Missed)
}

// defaultReadEvents is the number of events that Read returns if the caller
// does not say.
const defaultReadEvents = 1000

// readBytes bounds the events of one Read, unless a single event is larger. A
// reader keeps them in memory until its client has taken them.
const readBytes = smallBytes

// closedChannel is a closed channel, for streams that do not change any more.
var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Read returns up to n events of a stream after a position, in order, and fewer
// if they are large. It returns no events and no error if there are none yet.
// With live it includes transient events.
//
// A reader that stays connected reads live. A reader that reconnects calls Head
// first and reads up to that position without live. It then continues live,
// from its own position if that is greater.
//
// The error is io.EOF after the last event of an ended stream or session. It is
// a *PurgedError if events after the position are no longer kept. It is
// ErrNoStream for a stream or position that never existed. It does not wait.
func (l *Log) Read(number uint32, after uint64, live bool, n int) ([]Event, error) {
	if n <= 0 {
		n = defaultReadEvents
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[number]
	switch {
	case number > l.last || after > l.visible || l.gap.holds(after):
		return nil, ErrNoStream
	case s == nil && after >= l.floor:
		return nil, io.EOF
	case s == nil: // the stream was removed
		return nil, &PurgedError{Missed: 1, Resume: l.floor}
	case after < s.dropped && s.dropped <= l.visible:
		return nil, &PurgedError{Missed: min(s.missed, s.dropped-after), Resume: s.dropped}
	}
	events := l.collect(number, max(after, s.begun), live, n)
	if len(events) == 0 && (l.closed || s.ended && s.last <= l.visible) {
		return nil, io.EOF
	}
	return events, nil
}

// collect merges the events of a stream from both rings, in order. The caller holds mu.
func (l *Log) collect(number uint32, after uint64, live bool, n int) []Event {
	var events []Event
	i, j := l.kept.after(after), l.transient.n
	if live {
		j = l.transient.after(after)
	}
	size := 0
	for len(events) < n && (i < l.kept.n || j < l.transient.n) {
		var e *entry
		if j == l.transient.n || i < l.kept.n && l.kept.at(i).Seq < l.transient.at(j).Seq {
			e = l.kept.at(i)
			i++
		} else {
			e = l.transient.at(j)
			j++
		}
		if e.Seq > l.visible {
			break
		}
		if e.stream == number {
			if size += e.size(); size > readBytes && len(events) > 0 {
				break
			}
			events = append(events, e.Event)
		}
	}
	return events
}

// Changed returns a channel that is closed at the next visible change of a
// stream. It is closed already if the stream cannot change any more. Call it
// before Read.
func (l *Log) Changed(number uint32) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[number]
	if l.closed || s == nil || s.ended && s.last <= l.visible {
		return closedChannel
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Head returns the position of the last event of a stream that can be read.
func (l *Log) Head(number uint32) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.streams[number]; s != nil {
		return s.head
	}
	return 0
}
