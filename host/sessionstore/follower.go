package sessionstore

import (
	"sync/atomic"
	"time"
)

// patience is how long anything waits for the disk before it goes on without.
const patience = 2 * time.Second

// pruneEvents and pruneBytes are how much of what was dropped may stay in the
// file until it is deleted there too.
const (
	pruneEvents = 1000
	pruneBytes  = 1 << 20
)

// A follower is what the file knows of a session. The nil follower is that of
// a store without a file.
type follower struct {
	disk *disk
	x    *Session
	row  int64

	queued atomic.Bool  // it is in the disk's queue
	gone   atomic.Bool  // the session has ended, its rows with it
	stale  atomic.Bool  // the file has an old state
	used   atomic.Int64 // what the file has, in milliseconds

	// The log's mu guards these.
	committed    uint64   // the last position in the file
	pending      int      // bytes of the events behind it
	lapsed       bool     // events can be read before they are in the file
	streams      []uint32 // those that the file has an old row of
	forgotten    []uint32 // those that the file has and the log has not
	prunable     int      // events in the file that the log has dropped
	prunableSize int

	waiting []chan struct{} // guarded by disk.mu; closed at the next attempt to write
	taken   bool            // guarded by disk.mu; the file may have rows of it

	written bool // the session has a row; only the writer uses it
}

// mark takes note that the file has an old row of a stream.
func (f *follower) mark(number uint32, s *stream) {
	if f != nil && !s.unsaved {
		s.unsaved = true
		f.streams = append(f.streams, number)
	}
}

// touch queues the session to be written.
func (f *follower) touch() {
	if f != nil && f.queued.CompareAndSwap(false, true) {
		f.disk.push(f)
	}
}

// appended takes note of a new event, which nobody can read before it is in
// the file, unless the disk does not work or is far behind.
func (f *follower) appended(l *Log, e *entry) {
	if !e.Transient {
		f.pending += e.size()
	}
	if f.lapsed || f.disk.failing.Load() {
		f.lapse(l)
	} else if f.isBehind(l) {
		f.lapse(l)
		f.disk.behind()
	}
	f.touch()
}

// isBehind reports whether what waits for the disk takes so much of the log's
// room that it would be dropped before anybody could read it.
func (f *follower) isBehind(l *Log) bool {
	waiting := l.kept.n - l.kept.after(f.committed)
	return waiting > max(1, l.limits.events*3/4) || waiting > 1 && f.pending > sessionBytes*3/4
}

// lapse goes on without the disk until that has caught up. A session that has
// ended meanwhile will not be written, and so would never catch up.
func (f *follower) lapse(l *Log) {
	if !f.lapsed && !f.gone.Load() && l.head > f.committed {
		f.lapsed = true
		f.disk.lapsed.Add(1)
	}
	l.showAll(l.head)
}

// dropped takes note of an event that the log no longer has.
func (f *follower) dropped(e *entry, s *stream) {
	if f == nil {
		return
	}
	f.mark(e.stream, s)
	if e.Seq <= f.committed {
		f.prunable++
		f.prunableSize += e.size()
	} else {
		f.pending -= e.size()
	}
}

// forgot takes note of a stream that the log no longer has.
func (f *follower) forgot(number uint32) {
	if f != nil {
		f.forgotten = append(f.forgotten, number)
	}
}

// save queues the session and waits until it is written, or that has failed.
func (f *follower) save() {
	if f == nil {
		return
	}
	f.stale.Store(true)
	if f.disk.failing.Load() {
		f.touch()
		return
	}
	written := make(chan struct{})
	f.disk.mu.Lock()
	if f.disk.closed {
		f.disk.mu.Unlock()
		return
	}
	f.waiting = append(f.waiting, written)
	f.disk.mu.Unlock()
	f.touch()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-written:
	case <-timeout.C:
	}
}

// waiters takes those who wait for the session to be written.
func (f *follower) waiters(taken bool) []chan struct{} {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.taken = f.taken || taken
	list := f.waiting
	f.waiting = nil
	return list
}

func release(waiting []chan struct{}) {
	for _, c := range waiting {
		close(c)
	}
}

// refresh writes when the session was used last, if the file is far behind.
func (f *follower) refresh(now time.Time) {
	if f == nil {
		return
	}
	if used := f.x.lastUsed(now).UnixMilli(); used-f.used.Load() >= f.disk.store.slack().Milliseconds() {
		f.touch()
	}
}

// remove deletes what the file has.
func (f *follower) remove() {
	if f == nil {
		return
	}
	f.gone.Store(true)
	f.x.log.mu.Lock()
	if f.lapsed {
		f.lapsed = false
		f.disk.lapsed.Add(-1)
	}
	f.x.log.mu.Unlock()
	f.disk.remove(f)
}
