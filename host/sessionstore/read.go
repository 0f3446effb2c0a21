package sessionstore

import "io"

// readMost is how many events are read at once when the reader does not say.
const readMost = 1000

// readBytes is how much is read at once, unless one event has more: the reader
// holds it as long as its client takes, also when the log has dropped it.
const readBytes = squeezedBytes

// closedChannel is what has changed already.
var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Read returns the events of a stream behind a position, in order, at most n,
// and fewer where they are large; none when there are none yet. Transient ones are among them if live.
//
// A reader that was there all the time reads live. One that comes back asks
// for the Head first and reads up to it not live; then it goes on from there,
// or from where it is if that is farther, and live.
//
// The error is io.EOF behind the last event of a stream, or of a session,
// that has ended; a *PurgedError when something behind the position is no
// longer kept; ErrNoStream for a stream or a position that never was.
func (l *Log) Read(number uint32, after uint64, live bool, n int) ([]Event, error) {
	if n <= 0 {
		n = readMost
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[number]
	switch {
	case number > l.last || after > l.visible || l.hole.holds(after):
		return nil, ErrNoStream
	case s == nil && after >= l.floor:
		return nil, io.EOF
	case s == nil: // forgotten
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

// collect takes the events of a stream from both rings, in order.
func (l *Log) collect(number uint32, after uint64, live bool, n int) []Event {
	var events []Event
	i, j := l.kept.after(after), l.passing.n
	if live {
		j = l.passing.after(after)
	}
	size := 0
	for len(events) < n && (i < l.kept.n || j < l.passing.n) {
		var e *entry
		if j == l.passing.n || i < l.kept.n && l.kept.at(i).Seq < l.passing.at(j).Seq {
			e = l.kept.at(i)
			i++
		} else {
			e = l.passing.at(j)
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

// Changed returns a channel that is closed at the next change of a stream that
// Read can see, or already, when nothing will change any more. Ask for it
// before you Read.
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

// Head is the position of the last event of a stream that can be read.
func (l *Log) Head(number uint32) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.streams[number]; s != nil {
		return s.head
	}
	return 0
}
