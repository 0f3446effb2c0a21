package sessionstore

import (
	"bytes"
	"time"
)

// Bounds for the events of one session in one transaction.
const (
	batchEvents = 64
	batchBytes  = 4 << 20
)

// A sessionWrite is what one transaction writes of one session.
type sessionWrite struct {
	disk      *diskState
	used      int64
	state     []byte
	stale     bool // write the state
	head      uint64
	last      uint32
	floor     uint64
	streams   []streamRow
	forgotten []uint32
	events    []entry
	bytes     int
	prune     uint64 // delete events before this position; 0: none
	more      bool   // unwritten events remain
	waiting   []chan struct{}
}

type streamRow struct {
	number          uint32
	request         []byte
	ended           bool
	dropped, missed uint64
}

// take returns what to write of a session now, or nil. It reads events before
// the state. The file therefore never has an event without the state that was
// set before it.
func (d *diskState) take() *sessionWrite {
	d.queued.Store(false)
	waiting := d.takeWaiters(true) // first: the data they wait for is read below
	if d.deleted.Load() {
		release(waiting)
		return nil
	}
	sv := &sessionWrite{disk: d, waiting: waiting}
	l := d.session.log
	l.mu.Lock()
	d.takeEvents(sv, l)
	d.takeStreams(sv, l)
	if d.prunable >= pruneEvents || d.prunableSize >= pruneBytes {
		sv.prune, d.prunable, d.prunableSize = l.kept.at(0).Seq, 0, 0
	}
	sv.last, sv.floor = l.last, l.floor
	l.mu.Unlock()

	sv.used = d.session.lastUsed(time.Now()).UnixMilli()
	sv.stale = d.stale.Swap(false)
	sv.state = d.session.State()
	return sv
}

func (d *diskState) takeEvents(sv *sessionWrite, l *Log) {
	sv.head = max(l.head, d.committed)
	for i := l.kept.after(d.committed); i < l.kept.n; i++ {
		e := *l.kept.at(i)
		if len(sv.events) > 0 && (len(sv.events) == batchEvents || sv.bytes+e.size() > batchBytes) {
			sv.more = true
			sv.head = sv.events[len(sv.events)-1].Seq
			return
		}
		sv.events = append(sv.events, e)
		sv.bytes += e.size()
	}
}

// takeStreams adds the changed streams. A stream is not ended in the file
// before its last event is in the file.
func (d *diskState) takeStreams(sv *sessionWrite, l *Log) {
	numbers := d.streams
	d.streams = nil
	for _, number := range numbers {
		s := l.streams[number]
		if s == nil {
			continue // removed meanwhile
		}
		s.unsaved = false
		ended := s.ended && s.last <= sv.head
		sv.streams = append(sv.streams, streamRow{number, s.request, ended, s.dropped, s.missed})
		if s.ended && !ended {
			d.markUnsaved(number, s)
		}
	}
	sv.forgotten, d.forgotten = d.forgotten, nil
}

// committed records that the write is in the file, and makes its events
// readable.
func (w *sessionWrite) committed() {
	f, l := w.disk, w.disk.session.log
	f.written = true
	f.used.Store(w.used)
	l.mu.Lock()
	// Events that the log has dropped meanwhile are not in pending any more.
	for i := range w.events {
		if e := &w.events[i]; l.kept.n > 0 && e.Seq >= l.kept.at(0).Seq {
			f.pending -= e.size()
		} else {
			f.prunable++
			f.prunableSize += e.size()
		}
	}
	f.committed = max(f.committed, w.head)
	l.makeAllVisible(f.committed)
	if f.bypassed && f.committed >= l.head {
		f.bypassed = false
		f.disk.bypassed.Add(-1)
	}
	l.mu.Unlock()
	if w.more {
		f.enqueue()
	}
}

// rolledBack records that the write is not in the file.
func (w *sessionWrite) rolledBack() {
	f, l := w.disk, w.disk.session.log
	if w.stale {
		f.stale.Store(true)
	}
	l.mu.Lock()
	for _, row := range w.streams {
		if s := l.streams[row.number]; s != nil {
			f.markUnsaved(row.number, s)
		}
	}
	f.forgotten = append(f.forgotten, w.forgotten...)
	if w.prune > 0 {
		f.prunable += pruneEvents
	}
	l.mu.Unlock()
	f.enqueue()
}

// write executes the write within a transaction.
func (w *sessionWrite) write(f *file) error {
	x, row := w.disk.session, w.disk.row
	var err error
	exec := func(query string, args ...any) {
		if err == nil {
			err = f.exec(query, args...)
		}
	}
	if !w.disk.written {
		exec(`INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, row, x.ID, x.Owner,
			x.born.UnixMilli(), w.used, w.state, w.head, w.last, w.floor)
	} else {
		exec(`UPDATE sessions SET used = ?, head = ?, last = ?, floor = ? WHERE no = ?`, w.used, w.head, w.last, w.floor, row)
		if w.stale {
			exec(`UPDATE sessions SET state = ? WHERE no = ?`, w.state, row)
		}
	}
	for _, s := range w.streams {
		exec(`INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?, ?)`, row, s.number, s.request, s.ended, s.dropped, s.missed)
	}
	for _, number := range w.forgotten {
		exec(`DELETE FROM streams WHERE session = ? AND stream = ?`, row, number)
	}
	for i := range w.events {
		e := &w.events[i]
		exec(`INSERT INTO events VALUES (?, ?, ?, ?, ?)`, row, e.Seq, e.stream, e.Last, bytes.Join(e.Data, nil))
	}
	if w.prune > 0 {
		exec(`DELETE FROM events WHERE session = ? AND seq < ?`, row, w.prune)
	}
	return err
}
