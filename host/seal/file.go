package seal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/sqlitefile"
)

// A File remembers uses in a file that several processes share, and that outlives them. It
// is opened with the first use. The Codec owns and closes it.
type File struct {
	path string

	mu     sync.Mutex
	db     *sql.DB   // guarded by mu; nil: not open
	closed bool      // guarded by mu
	pruned time.Time // guarded by mu
}

// NewFile returns a File at a path.
func NewFile(path string) *File { return &File{path: path} }

// maxWait bounds how long one use waits for other processes.
const maxWait = 5 * time.Second

// pragmas set up each connection. A commit survives the end of the process. After a power
// failure the last uses may be missing, and their tokens expire within minutes.
var pragmas = []string{"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(4194304)"}

// Add implements [Uses].
func (f *File) Add(ctx context.Context, id ID, expires time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	db, err := f.open(ctx)
	if err != nil {
		return err
	}
	if now := time.Now(); f.shouldPrune(now) {
		if _, err := db.ExecContext(ctx, "DELETE FROM uses WHERE expires < ?", now.UnixMilli()); err != nil {
			return f.failed(err)
		}
	}
	done, err := db.ExecContext(ctx, "INSERT INTO uses (id, expires) VALUES (?, ?) ON CONFLICT DO NOTHING",
		id[:], expires.UnixMilli())
	if err != nil {
		return f.failed(err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrUsed)
	}
	return nil
}

// Remove implements [Uses].
func (f *File) Remove(ctx context.Context, id ID) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	db, err := f.open(ctx)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM uses WHERE id = ?", id[:]); err != nil {
		return f.failed(err)
	}
	return nil
}

// shouldPrune reports whether it is time to delete expired uses.
func (f *File) shouldPrune(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.pruned) < pruneEvery {
		return false
	}
	f.pruned = now
	return true
}

// open returns the database, which it opens or creates first if necessary. It does not keep
// an error: the next use tries again.
func (f *File) open(ctx context.Context) (*sql.DB, error) {
	f.mu.Lock()
	db, closed := f.db, f.closed
	f.mu.Unlock()
	switch {
	case closed:
		return nil, fs.ErrClosed
	case db != nil:
		return db, nil
	}
	db, err := connect(ctx, f.path)
	if err != nil {
		return nil, f.failed(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != nil || f.closed { // another use was quicker
		_ = db.Close()
	} else {
		f.db = db
	}
	if f.closed {
		return nil, fs.ErrClosed
	}
	return f.db, nil
}

func (f *File) failed(err error) error { return fmt.Errorf("the used tokens in %s: %w", f.path, err) }

// connect opens or creates the file, which only this user can access.
func connect(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sqlitefile.Open(path, pragmas...)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx,
		"CREATE TABLE IF NOT EXISTS uses (id BLOB PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close implements [Uses].
func (f *File) Close() error {
	f.mu.Lock()
	db := f.db
	f.db, f.closed = nil, true
	f.mu.Unlock()
	if db == nil {
		return nil
	}
	return db.Close()
}
