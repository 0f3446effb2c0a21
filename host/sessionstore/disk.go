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
	errStuck  = errors.New("the disk did not finish a write within 2 seconds")
	errBehind = errors.New("the disk is too slow for the events")
	errNoFile = errors.New("the file is damaged, and replacing it failed")
	// errReplaced holds until the sessions in memory are in the new file.
	errReplaced = errors.New("the file was damaged and has been replaced")
)

// A disk writes the sessions to the file in one goroutine. Unwritten events
// stay in the logs, within their bounds. The queue has one place for each
// session at most.
//
// A disk is unhealthy when a write fails, a write takes longer than
// diskTimeout, or a log has little space left. Unwritten events then become
// readable at once, until the disk has caught up.
type disk struct {
	store *Store
	path  string
	log   hclog.Logger
	work  chan struct{} // holds a token if the goroutine may have work
	stop  chan struct{}
	done  chan struct{}

	failing  atomic.Bool  // the last attempt to write failed
	bypassed atomic.Int64 // number of sessions whose events are readable before they are written
	broken   atomic.Bool  // the file is damaged

	// The goroutine that uses the file holds the token. It may replace the
	// file.
	token chan struct{}
	file  *file // nil while a damaged file is not replaced

	mu       sync.Mutex
	closed   bool         // guarded by mu; nothing is queued any more
	queue    []*diskState // guarded by mu
	discards []int64      // guarded by mu; rows of ended sessions
	err      error        // guarded by mu; why the file is not written
	logged   time.Time    // guarded by mu; time of the last log message
	row      int64        // guarded by mu; last number given to a session

	// Only the writer uses the following fields.
	garbage []int64 // sessions whose events are to be deleted
	writes  int     // since the last sweep
	renewed bool    // the file was replaced and is not complete yet
	last    bool    // the final attempt of a closing store was made
}

// newState returns the diskState of a new session.
func (d *disk) newState(x *Session) *diskState {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.row++
	return &diskState{disk: d, session: x, row: d.row}
}

func (d *disk) push(f *diskState) {
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

// remove removes an ended session from the queue, and from the file if it may
// be there.
func (d *disk) remove(f *diskState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.queue, f); i >= 0 {
		d.queue = slices.Delete(d.queue, i, i+1)
	}
	for _, c := range f.waiting {
		close(c)
	}
	f.waiting = nil
	if f.mayHaveRows && !d.closed {
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

// fail records an error of the file and lets all sessions continue in memory.
func (d *disk) fail(err error) {
	d.markUnhealthy(err)
	d.failing.Store(true) // first, so that every Append from now on sees it
	for _, x := range d.store.loaded() {
		x.log.mu.Lock()
		x.disk.bypass(x.log)
		x.log.mu.Unlock()
		release(x.disk.takeWaiters(false))
	}
}

// tooSlow records that a session no longer waits for the disk.
func (d *disk) tooSlow() { d.markUnhealthy(errBehind) }

func (d *disk) markUnhealthy(err error) {
	d.mu.Lock()
	say := d.err == nil && time.Since(d.logged) > time.Minute
	if say {
		d.logged = time.Now()
	}
	d.err = fmt.Errorf("writing the session store %s: %w", d.path, err)
	d.mu.Unlock()
	if say {
		d.log.Error("sessions are kept in memory only: events are lost if the process ends", "file", d.path, "error", err)
	}
}

// markHealthy records a successful write.
func (d *disk) markHealthy() {
	d.failing.Store(false)
	if d.bypassed.Load() > 0 {
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

// use calls f with the file. The error is errStuck if the file is not free
// within diskTimeout.
func (d *disk) use(f func(*file) error) error {
	timeout := time.NewTimer(diskTimeout)
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
