package sessionstore

import "sort"

// overhead is the approximate size of an event without its data, in bytes.
const overhead = 128

// An Event is one message that was sent on a stream. Its data is immutable once it was
// appended.
type Event struct {
	// Seq is the position, which Append assigns: 1 for the first event of a
	// session, and increasing over all its streams. A restart leaves a gap.
	Seq uint64
	// Data is a message in consecutive parts, which must not be modified.
	Data [][]byte
	// Transient events are for connected readers. A reader that was away does
	// not get them, and that is no loss.
	Transient bool
	// Last marks the event that ends a stream. It is never transient.
	Last bool
}

// An entry is an event and the number of its stream.
type entry struct {
	Event
	stream uint32
}

func (e *entry) size() int {
	n := overhead
	for _, part := range e.Data {
		n += len(part)
	}
	return n
}

// A ring holds entries ordered by position. The mu of its Log guards it.
type ring struct {
	buf      []entry
	first, n int
	bytes    int
}

func (r *ring) at(i int) *entry { return &r.buf[(r.first+i)%len(r.buf)] }

func (r *ring) push(e entry) {
	if r.n == len(r.buf) {
		r.resize(max(8, 2*r.n))
	}
	r.n++
	*r.at(r.n - 1) = e
	r.bytes += e.size()
}

func (r *ring) pop() entry {
	e := *r.at(0)
	*r.at(0) = entry{}
	r.first = (r.first + 1) % len(r.buf)
	r.n--
	r.bytes -= e.size()
	if len(r.buf) > 64 && r.n < len(r.buf)/4 {
		r.resize(len(r.buf) / 2)
	}
	return e
}

func (r *ring) resize(size int) {
	buf := make([]entry, size)
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.buf, r.first = buf, 0
}

// after returns the index of the first entry after a position.
func (r *ring) after(position uint64) int {
	return sort.Search(r.n, func(i int) bool { return r.at(i).Seq > position })
}
