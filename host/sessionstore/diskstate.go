package sessionstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
)

// A diskState is what the store knows about a session's file. A nil diskState
// belongs to a store without files. It lives as long as its Session or slot. Three locks guard
// its fields, as the groups say.
type diskState struct {
	disk    *disk
	session *Session // nil if the session is only in the file
	path    string

	queued  atomic.Bool  // in the disk's queue
	deleted atomic.Bool  // the session has ended, and its file is removed
	stale   atomic.Bool  // the file has an outdated state
	used    atomic.Int64 // time of last use in the file, in milliseconds

	// The log's mu guards the following fields.
	committed uint64   // last position in the file
	pending   int      // bytes of the events that were appended after the last batch in the file
	bypassed  bool     // events can be read before they are in the file
	streams   []uint32 // streams with outdated records
	forgotten []uint32 // streams in the file that the log has removed

	waiting     []chan struct{} // guarded by disk.mu; closed after the next attempt to write
	mayHaveFile bool            // guarded by disk.mu

	// Only the writer uses the following fields once the session is published.
	written    bool  // the file is whole and ends at size
	size, base int64 // bytes now, and when it was written anew
}

// newState returns the diskState of a session, which may be nil, by the name of its file.
func (d *disk) newState(x *Session, name string) *diskState {
	if d == nil {
		return nil
	}
	return &diskState{disk: d, session: x, path: filepath.Join(d.path, name)}
}

// removeFile removes the session's file.
func (d *diskState) removeFile() error { return removeFile(d.path) }

// removeFile removes a file that may not exist.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// markUnsaved records that the file has an outdated record of a stream.
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
// file, or at once if the disk fails or is too slow. The caller holds the log's mu, as for
// markUnsaved, isBehind, bypass and removedStream.
func (d *diskState) appended(l *Log, e *entry) {
	if !e.Transient {
		d.pending += e.size()
	}
	if d.bypassed || d.disk.failing.Load() {
		d.bypass(l)
	} else if d.isBehind(l) {
		d.bypass(l)
		d.disk.markUnhealthy(errBehind)
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

// endBypass records that the disk has caught up, or need not. The caller holds the
// log's mu.
func (d *diskState) endBypass() {
	if d.bypassed {
		d.bypassed = false
		d.disk.bypassed.Add(-1)
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
// failed, or diskTimeout has passed. It blocks, so its caller must hold no lock.
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
	d.mayHaveFile = d.mayHaveFile || taken
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
// by slack or more.
func (d *diskState) refresh(now time.Time, slack time.Duration) {
	if d == nil {
		return
	}
	if used := d.session.lastUsed(now).UnixMilli(); used-d.used.Load() >= slack.Milliseconds() {
		d.enqueue()
	}
}

// remove queues the removal of an ended session's file if there may be one, and else
// removes the session from the queue.
func (d *diskState) remove() {
	if d == nil {
		return
	}
	d.deleted.Store(true)
	d.session.log.mu.Lock()
	d.endBypass()
	d.session.log.mu.Unlock()
	release(d.takeWaiters(false))
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	if i := slices.Index(d.disk.queue, d); i >= 0 {
		d.disk.queue = slices.Delete(d.disk.queue, i, i+1)
	}
	if d.mayHaveFile && !d.disk.closed {
		d.disk.queue = slices.Insert(d.disk.queue, 0, d) // first: the disk may be full
		d.disk.wake()
	}
}
