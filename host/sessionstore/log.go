package sessionstore

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// Common is the number of the stream that belongs to no request.
const Common uint32 = 0

// An OpenStream is the stream of a request without an answer.
type OpenStream struct {
	Stream  uint32
	Request []byte // JSON-RPC id
}

// A Log holds the events on the streams of one session: the common stream, which never ends,
// and one stream for each request. Its methods may be called concurrently; mu guards the fields
// below it.
type Log struct {
	limits *limits
	disk   *diskState // nil for a store without a file

	mu        sync.Mutex
	closed    bool
	head      uint64 // last position given to an event
	visible   uint64 // last position that can be read
	gap       span   // positions that were skipped when the session was restored
	kept      ring
	transient ring // transient events
	counted   int  // bytes that limits have counted
	streams   map[uint32]*stream
	last      uint32   // last number given to a stream
	empty     []uint32 // ended streams without events, oldest first
	floor     uint64   // last position of the forgotten streams
}

// A span is a range of positions that excludes both ends. It is a value.
type span struct{ from, until uint64 }

func (s span) holds(position uint64) bool { return s.from < position && position < s.until }

// A stream is the state of one stream of a log. The mu of its Log guards it.
type stream struct {
	request []byte
	begun   uint64 // its events have greater positions
	head    uint64 // last event that can be read
	last    uint64 // last event
	ended   bool
	kept    int    // events in the ring
	dropped uint64 // position of the last dropped event
	missed  uint64 // number of dropped events
	changed chan struct{}
	unsaved bool // the file has an outdated record, or none
}

func newLog(l *limits, d *diskState) *Log {
	return &Log{limits: l, disk: d, streams: map[uint32]*stream{Common: {}}}
}

// Begin creates a stream for the answer to the request with this JSON-RPC id,
// and returns its number. The caller bounds the requests in flight, and with
// them the streams without an answer.
func (l *Log) Begin(request []byte) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	s := &stream{request: bytes.Clone(request), begun: l.head}
	l.streams[l.last] = s
	l.disk.markUnsaved(l.last, s)
	l.disk.enqueue()
	return l.last
}

// AwaitWritten waits until the streams that have begun are in the file, the attempt to
// write them has failed, or the disk is too slow. A client that has heard of a stream
// can then ask for it after the process was killed.
func (l *Log) AwaitWritten() { l.disk.awaitWrite() }

// Append adds an event to a stream and returns its position. It never waits.
// The log owns the event's data from then on. On an ended stream or session it
// does nothing and returns 0.
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
		l.disk.markUnsaved(number, s)
	}
	if e.Transient {
		l.transient.push(entry{e, number})
	} else {
		l.kept.push(entry{e, number})
		s.kept++
	}
	if l.disk == nil {
		l.makeVisible(s, e.Seq)
		l.visible = l.head
	} else {
		l.disk.appended(l, &entry{e, number})
	}
	l.trim()
	return e.Seq
}

// makeVisible lets the readers of a stream read it up to a position. The caller
// holds mu.
func (l *Log) makeVisible(s *stream, position uint64) {
	s.head = position
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// makeAllVisible lets readers read all streams up to a position. The caller
// holds mu.
func (l *Log) makeAllVisible(position uint64) {
	from := l.visible
	if position <= from {
		return
	}
	for _, r := range []*ring{&l.kept, &l.transient} {
		for i := r.after(from); i < r.n && r.at(i).Seq <= position; i++ {
			e := r.at(i)
			if s := l.streams[e.stream]; s != nil && s.head < e.Seq {
				l.makeVisible(s, e.Seq)
			}
		}
	}
	l.visible = position
}

// trim drops the oldest events until the log is within its bounds. It keeps the
// newest event, unless all logs together are over their limit. The caller holds
// mu.
func (l *Log) trim() {
	most := l.limits.bytes()
	for l.kept.n > 1 && (l.kept.n > l.limits.events() || l.kept.bytes > most) {
		l.drop()
	}
	for l.transient.n > 1 && (l.transient.n > transientEvents || l.transient.bytes > min(most, transientBytes)) {
		l.transient.pop()
	}
	l.count()
	if l.limits.over() {
		l.dropLarge()
		l.count()
	}
}

// dropLarge drops events until little is left, which may include the newest
// event. Readers are told about the gap. The caller holds mu.
func (l *Log) dropLarge() {
	for l.transient.bytes > l.limits.smallBytes() {
		l.transient.pop()
	}
	if l.kept.bytes <= l.limits.smallBytes() {
		return
	}
	if l.disk != nil {
		l.disk.bypass(l) // so that readers reach the gap
	}
	for l.kept.bytes > l.limits.smallBytes() {
		l.drop()
		if l.kept.n == 0 {
			l.limits.droppedUnread.Add(1)
		}
	}
}

// count tells limits how many bytes the log holds now. The caller holds mu.
func (l *Log) count() {
	held := l.kept.bytes + l.transient.bytes
	if l.closed {
		held = 0
	}
	l.limits.count(held - l.counted)
	l.counted = held
}

// drop drops the oldest event and records the loss for readers of its stream.
// The caller holds mu.
func (l *Log) drop() {
	e := l.kept.pop()
	s := l.streams[e.stream]
	s.kept--
	s.dropped = e.Seq
	s.missed++
	l.disk.markUnsaved(e.stream, s)
	if s.ended && s.kept == 0 {
		l.empty = append(l.empty, e.stream)
	}
	if len(l.empty) > emptyStreams {
		l.forget(l.empty[0])
		l.empty = l.empty[1:]
	}
}

// forget removes a stream without events. From then on a reader of it gets a
// PurgedError, unless its position is past the loss. The caller holds mu.
func (l *Log) forget(number uint32) {
	l.floor = max(l.floor, l.streams[number].last)
	delete(l.streams, number)
	l.disk.removedStream(number)
}

// shrink trims the log to the bounds of the moment.
func (l *Log) shrink() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
}

// close ends all streams. Readers can still read existing events. If the
// session ended for good, events that are not in the file yet become visible
// too, because no reader can come back for them.
func (l *Log) close(forGood bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if forGood {
		l.makeAllVisible(l.head)
	}
	l.count()
	for _, s := range l.streams {
		if s.changed != nil {
			close(s.changed)
			s.changed = nil
		}
	}
}

// Open returns the streams without an answer, ordered by number. Those of a
// restored session will never get an answer from their server.
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
