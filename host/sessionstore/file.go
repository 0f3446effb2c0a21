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
	applicationID = 0x4a756e63 // application id of our files ("Junc")
	schemaVersion = 1          // version of the schema
)

// schema is the schema of the file. An event's row names its session by number.
// The events of ended sessions are deleted in small batches. The table garbage
// lists these sessions.
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

// errUnusable means that the file is not usable and may be replaced.
var errUnusable = errors.New("not a session store that this version can read")

// A file is an open database that this process has locked.
type file struct {
	db   *sql.DB
	conn *sql.Conn // the only connection, which holds the lock
}

// openFile opens or creates the file at a path. It renames an unusable file,
// and aside is the new name.
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
	if aside, err = moveAside(path, found); err != nil {
		return nil, "", fmt.Errorf("%w, and renaming it failed: %v", why, err)
	}
	if _, err = prepare(path); err == nil {
		f, err = connect(path)
	}
	return f, aside, err
}

// prepare ensures that the file exists and is readable by this user only. It
// does not open an existing file, because closing it would release this
// process's locks.
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

// moveAside renames the file and its companion files, and returns the new name.
func moveAside(path string, found fs.FileInfo) (string, error) {
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

// connect opens an existing file.
func connect(path string) (*file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' { // a Windows drive
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
	switch sqliteCode(err) {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return nil, fmt.Errorf("another process uses the session store %s", path)
	}
	if isCorrupt(err) {
		err = fmt.Errorf("%w: %v", errUnusable, err)
	}
	return nil, fmt.Errorf("session store %s: %w", path, err)
}

// setUp locks the file for as long as it is open, and checks or creates its
// schema.
func (f *file) setUp() error {
	for _, pragma := range []string{
		"busy_timeout = 1000",      // the previous process may be about to exit
		"locking_mode = EXCLUSIVE", // before journal_mode, which then needs no shared memory
		"journal_mode = WAL",
		"synchronous = NORMAL", // a commit survives the end of the process
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
	case mark == applicationID && have == schemaVersion:
		return f.exec("BEGIN IMMEDIATE; COMMIT")
	case mark == applicationID:
		return fmt.Errorf("%w: schema version %d, want %d", errUnusable, have, schemaVersion)
	case mark != 0 || tables != 0:
		return errors.New("the file is a database of another program")
	}
	return f.exec(fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", schema, applicationID, schemaVersion))
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

// sqliteCode returns the primary SQLite code of an error, or 0.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// isCorrupt reports whether an error means that the file is corrupt.
func isCorrupt(err error) bool {
	switch sqliteCode(err) {
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB, codes.SQLITE_FORMAT:
		return true
	}
	return false
}
