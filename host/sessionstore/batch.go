package sessionstore

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// spareBytes is by how much a file may grow before it is written anew, beside its size at
// the last time.
const spareBytes = 512 << 10

// timePrecision is how exact the time of a file is.
const timePrecision = time.Second

// A batch is what one write adds to the file of a session. The writer makes it and is its only
// user.
type batch struct {
	disk      *diskState
	whole     bool // write the file anew; else append
	used      time.Time
	heads     []uint64 // numbers of the record
	state     []byte
	stale     bool // write the state
	streams   []streamRecord
	forgotten []uint32
	events    []entry
	pending   int // bytes that diskState.pending counts
	waiting   []chan struct{}
}

type streamRecord struct {
	number          uint32
	request         []byte
	ended           bool
	dropped, missed uint64
}

// take returns what to write of a session now. It reads events before the state. The file
// therefore never has an event without the state that was set before it. Only the writer calls
// it.
func (d *diskState) take() *batch {
	b := &batch{disk: d, whole: !d.written || d.size > 2*d.base+spareBytes}
	b.waiting = d.takeWaiters(true) // first: the data they wait for is read below
	l := d.session.log
	l.mu.Lock()
	from := d.committed
	if b.whole {
		from = 0
		for number, s := range l.streams {
			if number != Common || s.dropped > 0 {
				d.markUnsaved(number, s)
			}
		}
	}
	for i := l.kept.after(from); i < l.kept.n; i++ {
		b.events = append(b.events, *l.kept.at(i))
	}
	for _, number := range d.streams {
		if s := l.streams[number]; s != nil {
			s.unsaved = false
			ended := s.ended && s.kept == 0 // else the record of its last event says so
			b.streams = append(b.streams, streamRecord{number, s.request, ended, s.dropped, s.missed})
		}
	}
	b.forgotten, b.pending = d.forgotten, d.pending
	d.streams, d.forgotten = nil, nil
	b.heads = []uint64{l.head, uint64(l.last), l.floor}
	l.mu.Unlock()

	b.used = d.session.lastUsed(time.Now())
	b.stale = d.stale.Swap(false)
	b.state = d.session.State()
	return b
}

// committed records that the batch is in the file, and makes its events readable.
func (b *batch) committed() {
	d, l := b.disk, b.disk.session.log
	d.used.Store(b.used.UnixMilli())
	l.mu.Lock()
	defer l.mu.Unlock()
	d.pending -= b.pending
	d.committed = max(d.committed, b.heads[0])
	l.makeAllVisible(d.committed)
	if d.committed >= l.head {
		d.endBypass()
	}
}

// failed records that the end of the file is unknown. It is written anew.
func (b *batch) failed() {
	b.disk.written = false
	b.disk.enqueue()
}

// A writable is an open file.
type writable interface {
	io.WriterAt
	io.Closer
	Sync() error
	Stat() (fs.FileInfo, error)
}

// An openFunc opens a file for writing, with the flags of os.OpenFile.
type openFunc func(path string, flag int) (writable, error)

// write writes the batch, through a buffer. A file that is written anew replaces the
// other one, if there is one, at the end. It runs on the goroutine of the disk.
func (b *batch) write(open openFunc, w *bufio.Writer) error {
	d := b.disk
	if !b.whole {
		size, err := b.writeTo(open, w, d.path, os.O_WRONLY, d.size)
		d.size = size
		return err
	}
	part := d.path
	if d.base > 0 {
		part += partSuffix
	}
	size, err := b.writeTo(open, w, part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0)
	if err == nil && part != d.path {
		err = os.Rename(part, d.path)
	}
	if err != nil {
		_ = os.Remove(part) // its space is needed
		return err
	}
	d.written, d.base, d.size = true, size, size
	return nil
}

// writeTo writes the records of the batch at a position of a file, and returns the position
// after them. The time of the file becomes that of the last use, which most often is now.
func (b *batch) writeTo(open openFunc, w *bufio.Writer, path string, flag int, at int64) (end int64, err error) {
	f, err := open(path, flag)
	if err != nil {
		return at, err
	}
	w.Reset(io.NewOffsetWriter(f, at))
	end = at + b.encode(w)
	err = w.Flush()
	if err == nil && b.whole && b.disk.base > 0 { // a power failure must leave one of both files
		err = f.Sync()
	}
	info, statErr := f.Stat()
	err = errors.Join(err, statErr, f.Close())
	if err == nil && info.ModTime().Sub(b.used).Abs() > timePrecision {
		err = os.Chtimes(path, time.Time{}, b.used)
	}
	return end, err
}

// encode writes the records and returns their size.
func (b *batch) encode(w *bufio.Writer) (n int64) {
	x := b.disk.session
	if b.whole {
		_, _ = w.WriteString(magic)
		owner := []uint64{uint64(x.born.UnixMilli()), uint64(len(x.ID))}
		n = int64(len(magic)) + writeRecord(w, recordOwner, owner, []byte(x.ID), []byte(x.Owner))
	}
	if b.whole || b.stale {
		n += writeRecord(w, recordState, nil, b.state)
	}
	for _, s := range b.streams {
		numbers := []uint64{uint64(s.number), flagNumber(s.ended), s.dropped, s.missed}
		n += writeRecord(w, recordStream, numbers, s.request)
	}
	for _, number := range b.forgotten {
		n += writeRecord(w, recordForget, []uint64{uint64(number)})
	}
	for i := range b.events {
		e := &b.events[i]
		n += writeRecord(w, recordEvent, []uint64{e.Seq, uint64(e.stream), flagNumber(e.Last)}, e.Data...)
	}
	return n + writeRecord(w, recordHeads, b.heads)
}

// flagNumber returns 1 for true, and else 0.
func flagNumber(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
