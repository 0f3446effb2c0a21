package sessionstore

import (
	"context"
	"time"
)

// retryPause is the pause after a failed write.
const retryPause = time.Second

// The events of ended sessions are deleted when there is nothing to write, and
// at the latest after sweepAfter writes. One sweep deletes sweepEvents events
// of sweepSessions sessions at most.
const (
	sweepAfter    = 8
	sweepEvents   = 500
	sweepSessions = 200
)

// run is the goroutine that writes the file.
func (d *disk) run() {
	defer close(d.done)
	for {
		saves, discards := d.nextBatch()
		switch {
		case len(saves)+len(discards) > 0:
			d.write(saves, discards)
			if d.writes++; d.writes >= sweepAfter && len(d.garbage) > 0 && !d.failing.Load() {
				d.sweep()
			}
		case d.finished():
			return
		case d.broken.Load() && !d.failing.Load():
			d.attempt(d.probe)
		case len(d.garbage) > 0 && !d.failing.Load():
			d.sweep()
		default:
			d.pause()
			if d.failing.Load() {
				d.attempt(d.probe)
			}
		}
		if d.failing.Load() && !d.waitToRetry() {
			return
		}
	}
}

// pause waits until there is something to write.
func (d *disk) pause() {
	if d.failing.Load() {
		return
	}
	select {
	case <-d.work:
	case <-d.stop:
	}
}

// waitToRetry waits after a failed write and reports whether to retry. When the
// store is being closed it allows one more attempt, and only for a new file.
func (d *disk) waitToRetry() bool {
	if d.closing() && d.renewed && !d.last {
		d.last = true
		return true
	}
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

// finished reports whether the store is being closed and everything is written.
// Nothing is queued afterwards.
func (d *disk) finished() bool {
	if !d.closing() {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = len(d.queue)+len(d.discards) == 0
	return d.closed
}

// nextBatch returns what to write in one transaction. A session that is queued
// again meanwhile is not taken twice, so sessions take turns.
func (d *disk) nextBatch() (saves []*sessionWrite, discards []int64) {
	d.mu.Lock()
	queued := d.queue
	d.queue = nil
	d.mu.Unlock()
	for events, bytes := 0, 0; len(queued) > 0 && events < batchEvents && bytes < batchBytes; queued = queued[1:] {
		if sv := queued[0].take(); sv != nil {
			saves = append(saves, sv)
			events += 1 + len(sv.events)
			bytes += sv.bytes
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(queued, d.queue...)
	n := min(len(d.discards), batchEvents)
	discards, d.discards = d.discards[:n:n], d.discards[n:]
	return saves, discards
}

// write writes a batch in one transaction.
func (d *disk) write(saves []*sessionWrite, discards []int64) {
	ok := d.attempt(func(f *file) error {
		for _, sv := range saves {
			if err := sv.write(f); err != nil {
				return err
			}
		}
		for _, row := range discards {
			if err := remove(f, row); err != nil {
				return err
			}
		}
		return nil
	})
	for _, sv := range saves {
		if ok {
			sv.committed()
		} else {
			sv.rolledBack()
		}
		release(sv.waiting)
	}
	if ok {
		d.garbage = append(d.garbage, discards...)
		d.markHealthy()
	} else {
		d.discard(discards...)
	}
}

// remove deletes the rows of a session except its events.
func remove(f *file, row int64) error {
	for _, query := range []string{
		`DELETE FROM sessions WHERE no = ?`, `DELETE FROM streams WHERE session = ?`, `INSERT OR IGNORE INTO garbage VALUES (?)`,
	} {
		if err := f.exec(query, row); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes some events of ended sessions.
func (d *disk) sweep() {
	d.writes = 0
	var done int
	if d.attempt(func(f *file) (err error) { done, err = sweep(f, d.garbage); return err }) {
		d.garbage = d.garbage[done:]
	}
}

// sweep deletes some events and returns how many of the sessions have none
// left.
func sweep(f *file, garbage []int64) (done int, err error) {
	left := int64(sweepEvents)
	for left > 0 && done < min(len(garbage), sweepSessions) {
		row := garbage[done]
		result, err := f.conn.ExecContext(context.Background(),
			`DELETE FROM events WHERE session = ?1 AND seq IN (SELECT seq FROM events WHERE session = ?1 LIMIT ?2)`, row, left)
		if err != nil {
			return done, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return done, err
		}
		if left -= n; left > 0 {
			if err := f.exec(`DELETE FROM garbage WHERE session = ?`, row); err != nil {
				return done, err
			}
			done++
		}
	}
	return done, nil
}

// probe writes a row to test whether the file is writable.
func (d *disk) probe(f *file) error {
	return f.exec(`INSERT OR REPLACE INTO garbage VALUES (0)`)
}

// attempt runs do in a transaction and reports whether it was committed. After
// diskTimeout the disk counts as failing.
func (d *disk) attempt(do func(*file) error) bool {
	fired := make(chan struct{})
	stuck := time.AfterFunc(diskTimeout, func() { defer close(fired); d.fail(errStuck) })
	<-d.token
	err := d.transact(do)
	if isCorrupt(err) || d.broken.Load() {
		err = d.replaceFile(err)
	}
	d.token <- struct{}{}
	if !stuck.Stop() {
		<-fired
	}
	if err != nil {
		d.fail(err)
		return false
	}
	d.renewed = false
	d.markHealthy()
	return true
}

func (d *disk) transact(do func(*file) error) error {
	if d.file == nil {
		return errNoFile
	}
	if err := d.file.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do(d.file)
	if err == nil {
		err = d.file.exec("COMMIT")
	}
	if err != nil {
		_ = d.file.exec("ROLLBACK") // fails if the error rolled it back already
	}
	return err
}

// replaceFile moves a damaged file aside and starts a new one with the sessions
// in memory. It always returns an error, because the batch was not written.
func (d *disk) replaceFile(why error) error {
	d.broken.Store(true)
	if d.file != nil {
		found, err := prepare(d.path)
		if err != nil {
			return err
		}
		_ = d.file.close() // its content is not needed
		d.file = nil
		aside, err := moveAside(d.path, found)
		if err != nil {
			return err
		}
		d.log.Error("the session store is damaged: its file was moved aside, and sessions that were not used since the start are lost",
			"file", d.path, "aside", aside, "error", why)
	}
	var err error
	if d.file, _, err = openFile(d.path); err != nil {
		return err
	}
	d.broken.Store(false)
	d.garbage, d.renewed = nil, true
	d.store.dropUnloaded()
	for _, x := range d.store.loaded() {
		x.disk.reset()
	}
	return errReplaced
}
