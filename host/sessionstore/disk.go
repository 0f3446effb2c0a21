package sessionstore

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// diskTimeout is how long an operation waits for the disk before it continues
// in memory.
const diskTimeout = 2 * time.Second

// retryPause is the pause after a failed write.
const retryPause = time.Second

var (
	errStuck  = errors.New("the disk did not finish a write within 2 seconds")
	errBehind = errors.New("the disk is too slow for the events")
)

// A disk writes the sessions to their files in one goroutine. Unwritten events
// stay in the logs, within their bounds. The queue has one place for each
// session at most.
//
// A disk is unhealthy when a write fails, a write takes longer than
// diskTimeout, or a log has little space left. Unwritten events then become
// readable at once, until the disk has caught up. The Store opens it and closes it. push, use,
// fail and the marks may be called concurrently; the other methods belong to the goroutine of
// run.
type disk struct {
	store  *Store
	path   string // directory of the files
	log    hclog.Logger
	unlock func() // releases the directory
	open   openFunc
	work   chan struct{} // holds a token if the goroutine may have work
	stop   chan struct{}
	done   chan struct{}
	token  chan struct{} // the goroutine that uses the files holds the token

	failing  atomic.Bool   // the last attempt to write failed
	bypassed atomic.Int64  // number of sessions whose events are readable before they are written
	buffer   *bufio.Writer // of the writer

	mu     sync.Mutex
	closed bool         // guarded by mu; nothing is queued any more
	queue  []*diskState // guarded by mu
	err    error        // guarded by mu; why the files are not written
	logged time.Time    // guarded by mu; time of the last log message
}

func (d *disk) push(all ...*diskState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.queue = append(d.queue, all...)
		d.wake()
	}
}

func (d *disk) wake() {
	select {
	case d.work <- struct{}{}:
	default:
	}
}

// run is the goroutine that writes the files.
func (d *disk) run() {
	defer close(d.done)
	for {
		x, closed := d.next()
		switch {
		case x != nil:
			d.flush(x)
		case closed:
			return
		case d.failing.Load():
			if d.attempt(d.probe) {
				d.markHealthy()
			}
		default:
			select {
			case <-d.work:
			case <-d.stop:
			}
		}
		if d.failing.Load() && !d.waitToRetry() {
			return
		}
	}
}

// next takes the first session of the queue. Nothing is queued any more once closed is
// true: the store is being closed and everything is written.
func (d *disk) next() (x *diskState, closed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 {
		d.closed = d.closing()
		return nil, d.closed
	}
	x, d.queue = d.queue[0], d.queue[1:]
	return x, false
}

// flush writes what is new of a session, or removes its file.
func (d *disk) flush(x *diskState) {
	x.queued.Store(false)
	if x.deleted.Load() {
		release(x.takeWaiters(false))
		if !d.attempt(x.removeFile) {
			d.push(x)
			return
		}
		d.markHealthy()
		return
	}
	b := x.take()
	if d.attempt(func() error { return b.write(d.open, d.buffer) }) {
		b.committed()
		d.markHealthy()
	} else {
		b.failed()
	}
	release(b.waiting)
}

// waitToRetry waits after a failed write and reports whether to retry.
func (d *disk) waitToRetry() bool {
	if d.closing() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.closed = true
		return false
	}
	wait := time.NewTimer(retryPause)
	defer wait.Stop()
	select {
	case <-d.stop:
	case <-wait.C:
	}
	return true
}

func (d *disk) closing() bool {
	select {
	case <-d.stop:
		return true
	default:
		return false
	}
}

// probe writes a file to test whether the disk is writable.
func (d *disk) probe() error {
	path := filepath.Join(d.path, "probe")
	f, err := d.open(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, 4096), 0)
	return errors.Join(err, f.Close(), os.Remove(path))
}

// attempt calls do and reports whether it succeeded. After diskTimeout the disk
// counts as failing.
func (d *disk) attempt(do func() error) bool {
	fired := make(chan struct{})
	stuck := time.AfterFunc(diskTimeout, func() { defer close(fired); d.fail(errStuck) })
	<-d.token
	err := do()
	d.token <- struct{}{}
	if !stuck.Stop() {
		<-fired
	}
	if err != nil {
		d.fail(err)
	}
	return err == nil
}

// use calls do. The error is errStuck if the disk is not free within diskTimeout.
func (d *disk) use(do func() error) error {
	timeout := time.NewTimer(diskTimeout)
	defer timeout.Stop()
	select {
	case <-d.token:
		defer func() { d.token <- struct{}{} }()
		return do()
	case <-timeout.C:
		return errStuck
	}
}

// fail records an error of the disk and lets all sessions continue in memory.
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

func (d *disk) markUnhealthy(err error) {
	d.mu.Lock()
	say := d.err == nil && time.Since(d.logged) > time.Minute
	if say {
		d.logged = time.Now()
	}
	d.err = fmt.Errorf("writing the session store %s: %w", d.path, err)
	d.mu.Unlock()
	if say {
		d.log.Error("sessions are kept in memory only: events are lost if the process ends",
			"file", d.path, "error", err)
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

// close writes what is left and releases the directory.
func (d *disk) close() error {
	if d == nil {
		return nil
	}
	close(d.stop)
	<-d.done
	d.unlock()
	return d.healthy()
}
