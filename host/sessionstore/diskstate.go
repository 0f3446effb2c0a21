package sessionstore

import (
	"sync/atomic"
	"time"
)

// diskTimeout is how long an operation waits for the disk before it continues
// in memory.
const diskTimeout = 2 * time.Second

// Bounds for dropped events that are still in the file. Above one of them they
// are deleted there too.
const (
	pruneEvents = 1000
	pruneBytes  = 1 << 20
)

// A diskState is what the store knows about a session's rows in the file. A nil
// diskState belongs to a store without a file.
type diskState struct {
	disk    *disk
	session *Session
	row     int64

	queued  atomic.Bool  // in the disk's queue
	deleted atomic.Bool  // the session has ended, and its rows are deleted
	stale   atomic.Bool  // the file has an outdated state
	used    atomic.Int64 // time of last use in the file, in milliseconds

	// The log's mu guards the following fields.
	committed    uint64   // last position in the file
	pending      int      // bytes of the events after committed
	bypassed     bool     // events can be read before they are in the file
	streams      []uint32 // streams with outdated rows
	forgotten    []uint32 // streams in the file that the log has removed
	prunable     int      // events in the file that the log has dropped
	prunableSize int

	waiting     []chan struct{} // guarded by disk.mu; closed after the next attempt to write
	mayHaveRows bool            // guarded by disk.mu; the file may have rows of the session

	written bool // the session has a row; only the writer uses it
}

// markUnsaved records that the file has an outdated row of a stream.
func (d *diskState) markUnsaved(number uint32, s *stream) {
	if d != nil && !s.unsaved {
		s.unsaved = true
		d.streams = append(d.streams, number)
	}
}

// enqueue adds the session to the queue of the writer.
func (d *diskState) enqueue() {
	if d != nil && d.queued.CompareAndSwap(false, true) {
		d.disk.push(d)
	}
}

// appended records a new event. The event becomes readable when it is in the
// file, or at once if the disk fails or is too slow.
func (d *diskState) appended(l *Log, e *entry) {
	if !e.Transient {
		d.pending += e.size()
	}
	if d.bypassed || d.disk.failing.Load() {
		d.bypass(l)
	} else if d.isBehind(l) {
		d.bypass(l)
		d.disk.tooSlow()
	}
	d.enqueue()
}

// isBehind reports whether unwritten events take so much of the log's space
// that they would be dropped before they become readable.
func (d *diskState) isBehind(l *Log) bool {
	waiting := l.kept.n - l.kept.after(d.committed)
	return waiting > max(1, l.limits.events()*3/4) || waiting > 1 && d.pending > sessionBytes*3/4
}

// bypass makes all events readable until the disk has caught up. It does not
// count an ended session, which is not written again and would never catch up.
func (d *diskState) bypass(l *Log) {
	if !d.bypassed && !d.deleted.Load() && l.head > d.committed {
		d.bypassed = true
		d.disk.bypassed.Add(1)
	}
	l.makeAllVisible(l.head)
}

// dropped records an event that the log has dropped.
func (d *diskState) dropped(e *entry, s *stream) {
	if d == nil {
		return
	}
	d.markUnsaved(e.stream, s)
	if e.Seq <= d.committed {
		d.prunable++
		d.prunableSize += e.size()
	} else {
		d.pending -= e.size()
	}
}

// removedStream records a stream that the log has removed.
func (d *diskState) removedStream(number uint32) {
	if d != nil {
		d.forgotten = append(d.forgotten, number)
	}
}

// save writes the session's state and waits like awaitWrite.
func (d *diskState) save() {
	if d != nil {
		d.stale.Store(true)
		d.awaitWrite()
	}
}

// awaitWrite enqueues the session and waits until it is written, the attempt has
// failed, or diskTimeout has passed.
func (d *diskState) awaitWrite() {
	if d == nil {
		return
	}
	if d.disk.failing.Load() {
		d.enqueue()
		return
	}
	written := make(chan struct{})
	d.disk.mu.Lock()
	if d.disk.closed {
		d.disk.mu.Unlock()
		return
	}
	d.waiting = append(d.waiting, written)
	d.disk.mu.Unlock()
	d.enqueue()
	timeout := time.NewTimer(diskTimeout)
	defer timeout.Stop()
	select {
	case <-written:
	case <-timeout.C:
	}
}

// takeWaiters returns the channels to close after the session was written, and
// clears the list.
func (d *diskState) takeWaiters(taken bool) []chan struct{} {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	d.mayHaveRows = d.mayHaveRows || taken
	list := d.waiting
	d.waiting = nil
	return list
}

func release(waiting []chan struct{}) {
	for _, c := range waiting {
		close(c)
	}
}

// refresh enqueues the session if the time of last use in the file is outdated
// by more than slack.
func (d *diskState) refresh(now time.Time) {
	if d == nil {
		return
	}
	if used := d.session.lastUsed(now).UnixMilli(); used-d.used.Load() >= d.disk.store.slack().Milliseconds() {
		d.enqueue()
	}
}

// remove deletes the session's rows.
func (d *diskState) remove() {
	if d == nil {
		return
	}
	d.deleted.Store(true)
	d.session.log.mu.Lock()
	if d.bypassed {
		d.bypassed = false
		d.disk.bypassed.Add(-1)
	}
	d.session.log.mu.Unlock()
	d.disk.remove(d)
}
