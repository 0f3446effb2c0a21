package sessionstore

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// Common is the stream that belongs to no request.
const Common uint32 = 0

// An Event is one thing that was sent.
type Event struct {
	// Seq is its position, which Append gives it: 1 for the first event of a
	// session and rising from there, whatever the stream. After a restart there
	// is a gap.
	Seq uint64
	// Data is a message, its parts one after the other. Nobody changes them.
	Data [][]byte
	// Transient events are for those who are there: a reader that was away does
	// not get them, and nobody misses them.
	Transient bool
	// Last ends a stream. It is never transient.
	Last bool
}

// An OpenStream is the stream of a request that was not answered.
type OpenStream struct {
	Stream  uint32
	Request []byte // its JSON-RPC id
}

// A Log is what was sent on the streams of one session: the common one, which
// never ends, and one for each request. Its methods may be called
// concurrently.
type Log struct {
	limits *limits
	disk   *follower // nil when there is only memory

	mu      sync.Mutex
	closed  bool
	head    uint64 // the last position given to an event
	visible uint64 // the last that can be read
	hole    span   // positions that were skipped when the session was restored
	kept    ring
	passing ring // transient events
	counted int  // bytes that limits know of
	streams map[uint32]*stream
	last    uint32   // the last number given to a stream
	gone    []uint32 // ended streams of which nothing is kept, oldest first
	floor   uint64   // the last position of the streams that are forgotten
}

// A span is the positions from and until both exclude.
type span struct{ from, until uint64 }

func (s span) holds(position uint64) bool { return s.from < position && position < s.until }

// A stream is one of the streams of a log.
type stream struct {
	request []byte
	begun   uint64 // its events are behind this position
	head    uint64 // its last event that can be read
	last    uint64 // its last event
	ended   bool
	kept    int    // events in the ring
	dropped uint64 // position of the last event that was dropped
	missed  uint64 // how many were
	changed chan struct{}
	unsaved bool // the file has an old row of it
}

func newLog(l *limits, d *follower) *Log {
	return &Log{limits: l, disk: d, streams: map[uint32]*stream{Common: {}}}
}

// Begin makes a stream for the answer to a request, given its JSON-RPC id.
// Streams without an answer are as many as requests in flight, and bounded by
// whoever lets those in.
func (l *Log) Begin(request []byte) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	s := &stream{request: bytes.Clone(request), begun: l.head}
	l.streams[l.last] = s
	l.disk.mark(l.last, s)
	l.disk.touch()
	return l.last
}

// Append sends an event, whose data belongs to the log from now on, and
// returns its position. It never waits. On a stream or a session that has
// ended nothing is sent, and the position is 0.
func (l *Log) Append(number uint32, e Event) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[number]
	if l.closed || s == nil || s.ended {
		return 0
	}
	l.head++
	e.Seq, s.last = l.head, l.head
	if e.Last = e.Last && number != Common; e.Last {
		e.Transient, s.ended = false, true
		l.disk.mark(number, s)
	}
	if e.Transient {
		l.passing.push(entry{e, number})
	} else {
		l.kept.push(entry{e, number})
		s.kept++
	}
	if l.disk == nil {
		l.show(s, e.Seq)
		l.visible = l.head
	} else {
		l.disk.appended(l, &entry{e, number})
	}
	l.trim()
	return e.Seq
}

// show lets the readers of a stream see it up to a position. The caller holds
// mu.
func (l *Log) show(s *stream, position uint64) {
	s.head = position
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// showAll lets everything up to a position be seen. The caller holds mu.
func (l *Log) showAll(position uint64) {
	from := l.visible
	if position <= from {
		return
	}
	for _, r := range []*ring{&l.kept, &l.passing} {
		for i := r.after(from); i < r.n && r.at(i).Seq <= position; i++ {
			e := r.at(i)
			if s := l.streams[e.stream]; s != nil && s.head < e.Seq {
				l.show(s, e.Seq)
			}
		}
	}
	l.visible = position
}

// trim drops the oldest events until the log is within its bounds; the newest
// is kept, unless there is no room. The caller holds mu.
func (l *Log) trim() {
	most := l.limits.bytes()
	for l.kept.n > 1 && (l.kept.n > l.limits.events || l.kept.bytes > most) {
		l.drop()
	}
	for l.passing.n > 1 && (l.passing.n > passingEvents || l.passing.bytes > min(most, passingBytes)) {
		l.passing.pop()
	}
	l.count()
	if l.limits.over() {
		l.clear()
		l.count()
	}
}

// clear drops what is large, the newest included: that is a gap, which whoever
// reads the stream is told of. The caller holds mu.
func (l *Log) clear() {
	for l.passing.bytes > l.limits.little {
		l.passing.pop()
	}
	if l.kept.bytes <= l.limits.little {
		return
	}
	if l.disk != nil {
		l.disk.lapse(l) // so that readers get to where the gap is
	}
	for l.kept.bytes > l.limits.little {
		l.drop()
		if l.kept.n == 0 {
			l.limits.lost.Add(1)
		}
	}
}

func (l *Log) count() {
	held := l.kept.bytes + l.passing.bytes
	if l.closed {
		held = 0
	}
	l.limits.count(held - l.counted)
	l.counted = held
}

// drop drops the oldest event and remembers that for the readers of its
// stream. The caller holds mu.
func (l *Log) drop() {
	e := l.kept.pop()
	s := l.streams[e.stream]
	s.kept--
	s.dropped = e.Seq
	s.missed++
	l.disk.dropped(&e, s)
	if s.ended && s.kept == 0 {
		l.gone = append(l.gone, e.stream)
	}
	if len(l.gone) > goneStreams {
		l.forget(l.gone[0])
		l.gone = l.gone[1:]
	}
}

// forget forgets a stream of which nothing is kept. From now on a reader of it
// is told that it missed something, unless it cannot have.
func (l *Log) forget(number uint32) {
	l.floor = max(l.floor, l.streams[number].last)
	delete(l.streams, number)
	l.disk.forgot(number)
}

// squeeze makes the log as small as it must be now.
func (l *Log) squeeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
}

// close ends all streams: what is there can still be read, nothing comes. What
// is not in the file yet is there too if the session ended for good: nobody can
// come back and miss it.
func (l *Log) close(forGood bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if forGood {
		l.showAll(l.head)
	}
	l.count()
	for _, s := range l.streams {
		if s.changed != nil {
			close(s.changed)
			s.changed = nil
		}
	}
}

// Open lists the streams without an answer. Those of a session that was
// restored will never get one from the server.
func (l *Log) Open() []OpenStream {
	l.mu.Lock()
	defer l.mu.Unlock()
	var open []OpenStream
	for number, s := range l.streams {
		if number != Common && !s.ended {
			open = append(open, OpenStream{number, s.request})
		}
	}
	slices.SortFunc(open, func(a, b OpenStream) int { return cmp.Compare(a.Stream, b.Stream) })
	return open
}
