package sessionstore

import (
	"bytes"
	"time"
)

// What is written at once.
const (
	batchEvents = 64
	batchBytes  = 4 << 20
)

// A save is what is to be written of one session.
type save struct {
	f         *follower
	used      int64
	state     []byte
	stale     bool // the state is to be written
	head      uint64
	last      uint32
	floor     uint64
	streams   []streamRow
	forgotten []uint32
	events    []entry
	bytes     int
	prune     uint64 // events before this one go; 0 for none
	more      bool   // there is more to write
	waiting   []chan struct{}
}

type streamRow struct {
	number          uint32
	request         []byte
	ended           bool
	dropped, missed uint64
}

// take says what is to be written of a session now; nil for nothing. The
// events come first: a state that was set before an event was sent is taken
// with it or before.
func (f *follower) take() *save {
	f.queued.Store(false)
	waiting := f.waiters(true) // first: what they wait for is taken below
	if f.gone.Load() {
		release(waiting)
		return nil
	}
	sv := &save{f: f, waiting: waiting}
	l := f.x.log
	l.mu.Lock()
	f.takeEvents(sv, l)
	f.takeStreams(sv, l)
	if f.prunable >= pruneEvents || f.prunableSize >= pruneBytes {
		sv.prune, f.prunable, f.prunableSize = l.kept.at(0).Seq, 0, 0
	}
	sv.last, sv.floor = l.last, l.floor
	l.mu.Unlock()

	sv.used = f.x.lastUsed(time.Now()).UnixMilli()
	sv.stale = f.stale.Swap(false)
	sv.state = f.x.State()
	return sv
}

func (f *follower) takeEvents(sv *save, l *Log) {
	sv.head = max(l.head, f.committed)
	for i := l.kept.after(f.committed); i < l.kept.n; i++ {
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

// takeStreams takes the streams that have changed. One whose last event is not
// among what is written goes on in the file until that is.
func (f *follower) takeStreams(sv *save, l *Log) {
	numbers := f.streams
	f.streams = nil
	for _, number := range numbers {
		s := l.streams[number]
		if s == nil {
			continue // forgotten meanwhile
		}
		s.unsaved = false
		ended := s.ended && s.last <= sv.head
		sv.streams = append(sv.streams, streamRow{number, s.request, ended, s.dropped, s.missed})
		if s.ended && !ended {
			f.mark(number, s)
		}
	}
	sv.forgotten, f.forgotten = f.forgotten, nil
}

// done takes note that a save is in the file: its events can be read.
func (sv *save) done() {
	f, l := sv.f, sv.f.x.log
	f.written = true
	f.used.Store(sv.used)
	l.mu.Lock()
	// What was dropped meanwhile was taken from pending already.
	for i := range sv.events {
		if e := &sv.events[i]; l.kept.n > 0 && e.Seq >= l.kept.at(0).Seq {
			f.pending -= e.size()
		} else {
			f.prunable++
			f.prunableSize += e.size()
		}
	}
	f.committed = max(f.committed, sv.head)
	l.showAll(f.committed)
	if f.lapsed && f.committed >= l.head {
		f.lapsed = false
		f.disk.lapsed.Add(-1)
	}
	l.mu.Unlock()
	if sv.more {
		f.touch()
	}
}

// undo takes note that a save is not in the file.
func (sv *save) undo() {
	f, l := sv.f, sv.f.x.log
	if sv.stale {
		f.stale.Store(true)
	}
	l.mu.Lock()
	for _, row := range sv.streams {
		if s := l.streams[row.number]; s != nil {
			f.mark(row.number, s)
		}
	}
	f.forgotten = append(f.forgotten, sv.forgotten...)
	if sv.prune > 0 {
		f.prunable += pruneEvents
	}
	l.mu.Unlock()
	f.touch()
}

// write writes the save, within a transaction.
func (sv *save) write(f *file) error {
	x, row := sv.f.x, sv.f.row
	var err error
	exec := func(query string, args ...any) {
		if err == nil {
			err = f.exec(query, args...)
		}
	}
	if !sv.f.written {
		exec(`INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, row, x.ID, x.Owner,
			x.born.UnixMilli(), sv.used, sv.state, sv.head, sv.last, sv.floor)
	} else {
		exec(`UPDATE sessions SET used = ?, head = ?, last = ?, floor = ? WHERE no = ?`, sv.used, sv.head, sv.last, sv.floor, row)
		if sv.stale {
			exec(`UPDATE sessions SET state = ? WHERE no = ?`, sv.state, row)
		}
	}
	for _, s := range sv.streams {
		exec(`INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?, ?)`, row, s.number, s.request, s.ended, s.dropped, s.missed)
	}
	for _, number := range sv.forgotten {
		exec(`DELETE FROM streams WHERE session = ? AND stream = ?`, row, number)
	}
	for i := range sv.events {
		e := &sv.events[i]
		exec(`INSERT INTO events VALUES (?, ?, ?, ?, ?)`, row, e.Seq, e.stream, e.Last, bytes.Join(e.Data, nil))
	}
	if sv.prune > 0 {
		exec(`DELETE FROM events WHERE session = ? AND seq < ?`, row, sv.prune)
	}
	return err
}
