package sessionstore

import (
	"context"
	"time"
)

// retry is how long a disk that failed is left alone.
const retry = time.Second

// Events of ended sessions are deleted when there is nothing to write, and
// after so many writes in any case; so many of them, and of so many sessions,
// at once.
const (
	sweepAfter    = 8
	sweepEvents   = 500
	sweepSessions = 200
)

// run is the writer.
func (d *disk) run() {
	defer close(d.done)
	for {
		saves, discards := d.gather()
		switch {
		case len(saves)+len(discards) > 0:
			d.write(saves, discards)
			if d.writes++; d.writes >= sweepAfter && len(d.garbage) > 0 && !d.failing.Load() {
				d.sweep()
			}
		case d.stopped():
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
		if d.failing.Load() && !d.again() {
			return
		}
	}
}

// pause waits for something to do.
func (d *disk) pause() {
	if d.failing.Load() {
		return
	}
	select {
	case <-d.work:
	case <-d.stop:
	}
}

// again leaves a disk that fails alone for a while and reports whether to try
// again: once more when the store is being closed, also into a new file.
func (d *disk) again() bool {
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
	wait := time.NewTimer(retry)
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

// stopped reports whether the store is being closed and nothing is left to
// write. Nothing is queued afterwards.
func (d *disk) stopped() bool {
	if !d.closing() {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = len(d.queue)+len(d.discards) == 0
	return d.closed
}

// gather takes what is to be written at once. Sessions take turns: one that is
// queued again meanwhile is not taken twice.
func (d *disk) gather() (saves []*save, discards []int64) {
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

// write writes what was gathered, all of it or nothing.
func (d *disk) write(saves []*save, discards []int64) {
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
			sv.done()
		} else {
			sv.undo()
		}
		release(sv.waiting)
	}
	if ok {
		d.garbage = append(d.garbage, discards...)
		d.well()
	} else {
		d.discard(discards...)
	}
}

// remove deletes a session, but not its events.
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

// sweep deletes some events of sessions that have ended.
func (d *disk) sweep() {
	d.writes = 0
	var done int
	if d.attempt(func(f *file) (err error) { done, err = sweep(f, d.garbage); return err }) {
		d.garbage = d.garbage[done:]
	}
}

// sweep says how many of the sessions have no events any more.
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

// probe writes something, to see whether that is possible.
func (d *disk) probe(f *file) error {
	return f.exec(`INSERT OR REPLACE INTO garbage VALUES (0)`)
}

// attempt does something in a transaction and takes note of how that went.
func (d *disk) attempt(do func(*file) error) bool {
	fired := make(chan struct{})
	stuck := time.AfterFunc(patience, func() { defer close(fired); d.fail(errStuck) })
	<-d.token
	err := d.transact(do)
	if damaged(err) || d.broken.Load() {
		err = d.startOver(err)
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
	d.well()
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
		_ = d.file.exec("ROLLBACK") // an error may have rolled it back already
	}
	return err
}

// startOver puts a damaged file aside and writes what is in memory to a new
// one. The error is never nil: what was to be written was not.
func (d *disk) startOver(why error) error {
	d.broken.Store(true)
	if d.file != nil {
		found, err := prepare(d.path)
		if err != nil {
			return err
		}
		_ = d.file.close() // nothing in it is needed
		d.file = nil
		aside, err := putAside(d.path, found)
		if err != nil {
			return err
		}
		d.log.Error("the session store is damaged and was put aside; sessions that were not asked for since the start are lost",
			"file", d.path, "aside", aside, "error", why)
	}
	var err error
	if d.file, _, err = openFile(d.path); err != nil {
		return err
	}
	d.broken.Store(false)
	d.garbage, d.renewed = nil, true
	d.store.dropAsleep()
	for _, x := range d.store.awake() {
		x.disk.reset()
	}
	return errReplaced
}
