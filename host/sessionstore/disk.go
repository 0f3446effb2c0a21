package sessionstore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

var (
	errStuck  = errors.New("the disk does not answer")
	errBehind = errors.New("the disk does not keep up")
	errNoFile = errors.New("the file is damaged and cannot be replaced")
	// errReplaced is no longer true when what is in memory is in the new file.
	errReplaced = errors.New("the file was damaged and has been replaced")
)

// A disk writes the sessions to the file, in one goroutine. What waits to be
// written waits in the logs, within their bounds, so the queue is at most one
// place for each session. When writing fails, takes longer than patience, or
// a log has little room left, what waits can be read at once, the store is
// unhealthy, and the disk catches up later.
type disk struct {
	store *Store
	path  string
	log   hclog.Logger
	work  chan struct{} // holds a token when there may be something to do
	stop  chan struct{}
	done  chan struct{}

	failing atomic.Bool  // the last attempt to write failed
	lapsed  atomic.Int64 // sessions whose events could be read too early
	broken  atomic.Bool  // the file is damaged

	// token is held by whoever uses the file; what is behind it may change.
	token chan struct{}
	file  *file // nil while a damaged one is not replaced

	mu       sync.Mutex
	closed   bool        // guarded by mu; nothing is queued any more
	queue    []*follower // guarded by mu
	discards []int64     // guarded by mu; rows of sessions that have ended
	err      error       // guarded by mu; why the file could not be written
	said     time.Time   // guarded by mu; when the log was told last
	row      int64       // guarded by mu; the last number given to a session

	// Only the writer uses these.
	garbage []int64 // sessions whose events are to be deleted
	writes  int     // since the last sweep
	renewed bool    // the file was replaced, and has still to be filled
	last    bool    // it was tried once more, since the store is being closed
}

// follow makes the follower of a new session.
func (d *disk) follow(x *Session) *follower {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.row++
	return &follower{disk: d, x: x, row: d.row}
}

func (d *disk) push(f *follower) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.queue = append(d.queue, f)
		d.wake()
	}
}

func (d *disk) discard(rows ...int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.discards = append(d.discards, rows...)
		d.wake()
	}
}

// remove takes a session that has ended out of the queue, and out of the file
// if it can be there.
func (d *disk) remove(f *follower) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.queue, f); i >= 0 {
		d.queue = slices.Delete(d.queue, i, i+1)
	}
	for _, c := range f.waiting {
		close(c)
	}
	f.waiting = nil
	if f.taken && !d.closed {
		d.discards = append(d.discards, f.row)
		d.wake()
	}
}

func (d *disk) wake() {
	select {
	case d.work <- struct{}{}:
	default:
	}
}

// fail takes note that the file cannot be written and lets the sessions go on
// without it.
func (d *disk) fail(err error) {
	d.unwell(err)
	d.failing.Store(true) // first: who appends from now on sees it
	for _, x := range d.store.awake() {
		x.log.mu.Lock()
		x.disk.lapse(x.log)
		x.log.mu.Unlock()
		release(x.disk.waiters(false))
	}
}

// behind takes note that a session does not wait for the disk any more.
func (d *disk) behind() { d.unwell(errBehind) }

func (d *disk) unwell(err error) {
	d.mu.Lock()
	say := d.err == nil && time.Since(d.said) > time.Minute
	if say {
		d.said = time.Now()
	}
	d.err = fmt.Errorf("writing the session store %s: %w", d.path, err)
	d.mu.Unlock()
	if say {
		d.log.Error("sessions go on in memory only: what was sent would be lost with the process", "file", d.path, "error", err)
	}
}

// well takes note that the file was written.
func (d *disk) well() {
	d.failing.Store(false)
	if d.lapsed.Load() > 0 {
		return
	}
	d.mu.Lock()
	again := d.err != nil
	d.err = nil
	d.mu.Unlock()
	if again {
		d.log.Info("the session store is written again", "file", d.path)
	}
}

func (d *disk) healthy() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// use calls f with the file, if it is free soon.
func (d *disk) use(f func(*file) error) error {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-d.token:
		defer func() { d.token <- struct{}{} }()
		if d.file == nil {
			return errNoFile
		}
		return f(d.file)
	case <-timeout.C:
		return errStuck
	}
}

// close writes what is left and closes the file.
func (d *disk) close() error {
	if d == nil {
		return nil
	}
	close(d.stop)
	<-d.done
	err := d.healthy()
	if d.file != nil {
		err = errors.Join(err, d.file.close())
	}
	return err
}
