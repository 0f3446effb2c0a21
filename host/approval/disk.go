package approval

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/sqlitefile"
)

// A disk writes the entries of a store to a file, in a goroutine of its own. A call waits for
// the disk only when it uses up an approval, so that no process uses it again after this one
// was killed. An entry that could not be written is tried again. Keep makes it, and Close ends
// it.
type disk struct {
	db   *sql.DB
	log  hclog.Logger
	wake chan struct{} // holds a token after a change
	stop chan struct{}
	done chan struct{}      // closed when the goroutine has ended
	sync chan chan struct{} // asks for a write; the answer is closed after it

	mu      sync.Mutex
	changed map[Key][]byte // guarded by mu; what to write; nil: delete
	failed  bool           // guarded by mu
}

const (
	retryWrite  = 5 * time.Second
	writeWithin = 5 * time.Second
)

// A record is an entry in the file. Its JSON is what later processes read.
type record struct {
	Pending
	Rule string `json:"rule"` // Terms.Rule, which is no part of the JSON of the terms
}

// Keep reads the entries that an earlier process left in a file, and writes all changes to
// it from now on. The file is created if necessary; only this user can access it. Keep must
// be called before the store is used, and Close when it is not used any longer.
func (s *Store) Keep(path string, log hclog.Logger) error {
	db, err := openDisk(path)
	if err != nil {
		return fmt.Errorf("the approvals in %s: %w", path, err)
	}
	d := &disk{db: db, log: log, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		sync: make(chan chan struct{}), changed: map[Key][]byte{}}
	all, err := d.read()
	if err != nil {
		return fmt.Errorf("the approvals in %s: %w", path, errors.Join(err, db.Close()))
	}
	s.mu.Lock()
	for k, p := range all {
		s.byKey[k] = p
		time.AfterFunc(time.Until(p.Expires)+time.Millisecond, s.expire)
	}
	s.disk = d
	s.forget()
	s.mu.Unlock()
	go d.run()
	return nil
}

// Close writes what is left to be written, and closes the file. Entries that expire later
// are not told. A nil Store has none.
func (s *Store) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	d := s.disk
	s.disk, s.closed = nil, true
	s.mu.Unlock()
	if d == nil {
		return
	}
	close(d.stop)
	<-d.done
	_ = d.db.Close()
}

// keep has an entry written, or removed if p is nil. The caller holds mu.
func (s *Store) keep(k Key, p *Pending) {
	if s.disk == nil {
		return
	}
	var text []byte
	if p != nil {
		var err error
		if text, err = json.Marshal(record{*p, p.Call.Terms.Rule}); err != nil {
			return // arguments that are not JSON are bytes; nothing else can fail
		}
	}
	s.disk.mu.Lock()
	s.disk.changed[k] = text
	s.disk.mu.Unlock()
	select {
	case s.disk.wake <- struct{}{}:
	default:
	}
}

// run writes changes until stop is closed.
func (d *disk) run() {
	defer close(d.done)
	for {
		var again <-chan time.Time
		if !d.write() {
			again = time.After(retryWrite)
		}
		select {
		case <-d.wake:
		case <-again:
		case written := <-d.sync:
			d.write()
			close(written)
		case <-d.stop:
			d.write()
			return
		}
	}
}

// flush waits until all changes are written, or the disk has refused them. d may be nil. It
// blocks, so the caller must not hold the mu of the Store.
func (d *disk) flush() {
	if d == nil {
		return
	}
	written := make(chan struct{})
	select {
	case d.sync <- written:
		<-written
	case <-d.done: // which has written them
	}
}

// write writes all changes and reports whether that worked. It logs the first failure.
func (d *disk) write() (ok bool) {
	d.mu.Lock()
	batch := d.changed
	d.changed = map[Key][]byte{}
	d.mu.Unlock()
	if len(batch) == 0 {
		return true
	}
	err := d.put(batch)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		for k, text := range batch {
			if _, newer := d.changed[k]; !newer {
				d.changed[k] = text
			}
		}
		if !d.failed {
			d.log.Error("approvals are not written, so a restart would lose them", "error", err)
		}
	} else if d.failed {
		d.log.Info("approvals are written again")
	}
	d.failed = err != nil
	return err == nil
}

// put writes a batch in one transaction.
func (d *disk) put(batch map[Key][]byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // has no effect after Commit
	for k, text := range batch {
		if text == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM approvals WHERE key = ?", k[:])
		} else {
			_, err = tx.ExecContext(ctx, "INSERT INTO approvals (key, entry) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET entry = excluded.entry",
				k[:], text)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// read reads the file. Entries that are not valid are left out: a person answers again.
func (d *disk) read() (map[Key]*Pending, error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	rows, err := d.db.QueryContext(ctx, "SELECT key, entry FROM approvals LIMIT ?", MaxKept)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[Key]*Pending{}
	for rows.Next() {
		var key, text []byte
		if err := rows.Scan(&key, &text); err != nil {
			return nil, err
		}
		var r record
		if len(key) != len(Key{}) || json.Unmarshal(text, &r) != nil || r.Call == nil {
			continue
		}
		r.Call.Terms.Rule = r.Rule
		if Key(key) == r.Call.Key() { // else what a person approved would be for another call
			p := r.Pending
			all[Key(key)] = &p
		}
	}
	return all, rows.Err()
}

// openDisk opens or creates the file.
func openDisk(path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// One process has the file. A commit survives its end.
	db, err := sqlitefile.Open(path, "busy_timeout(1000)", "locking_mode(EXCLUSIVE)", "journal_mode(WAL)",
		"synchronous(NORMAL)", "journal_size_limit(4194304)")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS approvals (key BLOB PRIMARY KEY, entry BLOB NOT NULL) WITHOUT ROWID; COMMIT"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
