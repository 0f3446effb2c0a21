package sessionstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

const (
	application = 0x4a756e63 // marks a file as one of ours
	version     = 1          // of the schema
)

// schema is the file's. An event's row belongs to a session by its number; the
// rows of sessions that are gone are deleted a few at a time, and garbage says
// which those are.
const schema = `
CREATE TABLE sessions (
	no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
	born INTEGER NOT NULL, used INTEGER NOT NULL, state BLOB,
	head INTEGER NOT NULL, last INTEGER NOT NULL, floor INTEGER NOT NULL);
CREATE TABLE streams (
	session INTEGER NOT NULL, stream INTEGER NOT NULL, request BLOB,
	ended INTEGER NOT NULL, dropped INTEGER NOT NULL, missed INTEGER NOT NULL,
	PRIMARY KEY (session, stream)) WITHOUT ROWID;
CREATE TABLE events (
	session INTEGER NOT NULL, seq INTEGER NOT NULL, stream INTEGER NOT NULL,
	last INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session, seq));
CREATE TABLE garbage (session INTEGER PRIMARY KEY);
`

// errUnusable is a file that cannot be used and can be replaced.
var errUnusable = errors.New("not a session store that this version can read")

// A file is a database that is open, and nobody else's.
type file struct {
	db   *sql.DB
	conn *sql.Conn // the only one: the lock on the file is its
}

// openFile opens or makes the file at a path. What is there and cannot be used
// is renamed; aside is its new name.
func openFile(path string) (f *file, aside string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, "", err
	}
	found, err := prepare(path)
	if err != nil {
		return nil, "", err
	}
	f, err = connect(path)
	if !errors.Is(err, errUnusable) {
		return f, "", err
	}
	why := err
	if aside, err = putAside(path, found); err != nil {
		return nil, "", fmt.Errorf("%w, and it cannot be renamed: %v", why, err)
	}
	if _, err = prepare(path); err == nil {
		f, err = connect(path)
	}
	return f, aside, err
}

// prepare makes sure that there is a file only we can read. An existing one is
// not opened: closing it would give up locks that this process has on it.
func prepare(path string) (fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return info, os.Chmod(path, 0o600)
}

// putAside renames the file and what belongs to it.
func putAside(path string, found fs.FileInfo) (string, error) {
	now, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !os.SameFile(now, found) {
		return "", fmt.Errorf("another process replaced %s meanwhile", path)
	}
	aside := path + time.Now().UTC().Format(".aside-20060102T150405.000000000")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// connect opens a file that exists.
func connect(path string) (*file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' { // a drive
		slashed = "/" + slashed
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slashed}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	f := &file{db: db, conn: conn}
	if err == nil {
		err = f.setUp()
	}
	if err == nil {
		return f, nil
	}
	f.close()
	switch code(err) {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return nil, fmt.Errorf("another process uses the session store %s", path)
	}
	if damaged(err) {
		err = fmt.Errorf("%w: %v", errUnusable, err)
	}
	return nil, fmt.Errorf("session store %s: %w", path, err)
}

// setUp locks the file, for as long as it is open, and sees what is in it.
func (f *file) setUp() error {
	for _, pragma := range []string{
		"busy_timeout = 1000",      // a predecessor may be about to exit
		"locking_mode = EXCLUSIVE", // before the next one: no shared memory then
		"journal_mode = WAL",       //
		"synchronous = NORMAL",     // what is committed outlives the process
		"journal_size_limit = 67108864",
	} {
		if err := f.exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	var mark, have, tables int
	if err := f.conn.QueryRowContext(context.Background(), `SELECT
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&mark, &have, &tables); err != nil {
		return err
	}
	switch {
	case mark == application && have == version:
		return f.exec("BEGIN IMMEDIATE; COMMIT")
	case mark == application:
		return fmt.Errorf("%w: version %d of the schema, not %d", errUnusable, have, version)
	case mark != 0 || tables != 0:
		return errors.New("the file is the database of another program")
	}
	return f.exec(fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", schema, application, version))
}

func (f *file) exec(query string, args ...any) error {
	_, err := f.conn.ExecContext(context.Background(), query, args...)
	return err
}

func (f *file) close() error {
	var err error
	if f.conn != nil {
		err = f.conn.Close()
	}
	return errors.Join(err, f.db.Close())
}

// code is SQLite's code for an error, without its details.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// damaged reports whether an error says that the file is not what it was.
func damaged(err error) bool {
	switch code(err) {
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB, codes.SQLITE_FORMAT:
		return true
	}
	return false
}
