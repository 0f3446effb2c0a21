package audit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
)

const (
	applicationID = 0x4a756e61 // application id of our files ("Juna")
	schemaVersion = 1          // version of the schema
)

// blockBits is the binary logarithm of the rows in a block. Blocks take the place of
// indexes: the table "found" has the values in the rows of each block, once each. A search
// reads only the blocks with the values that it looks for. An index for each column would
// write a page for each row and column.
const blockBits = 10

// schema is the schema of the file. The table events has what rows are searched by, and
// contents what is hashed. chain has one row: the first sequence number, the hash of the
// row before it, the last sequence number and its hash. Every transaction that adds or
// removes rows changes it. spans has the times of the rows in each block.
const schema = `
CREATE TABLE events (
	seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL, server TEXT NOT NULL, item TEXT NOT NULL,
	tenant TEXT NOT NULL, subject TEXT NOT NULL, method TEXT NOT NULL, outcome TEXT NOT NULL, request TEXT NOT NULL);
CREATE TABLE contents (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, content BLOB NOT NULL);
CREATE TABLE found (field TEXT NOT NULL, value TEXT NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (field, value, block)) WITHOUT ROWID;
CREATE TABLE spans (block INTEGER PRIMARY KEY, earliest INTEGER NOT NULL, latest INTEGER NOT NULL);
CREATE TABLE chain (one INTEGER PRIMARY KEY CHECK (one = 1), first INTEGER NOT NULL, anchor BLOB NOT NULL, last INTEGER NOT NULL, head BLOB NOT NULL);
INSERT INTO chain VALUES (1, 1, zeroblob(32), 0, zeroblob(32));
`

// A hash is the SHA-256 of a row, or zero before the first row.
type hash [sha256.Size]byte

// next returns the hash of the row that follows the one with hash h.
func (h hash) next(seq int64, content []byte) hash {
	d := sha256.New()
	d.Write(h[:])
	d.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	d.Write(content)
	d.Sum(h[:0])
	return h
}

// A file is an open audit log. One goroutine uses it: that of the writer, or that of a Reader.
// Its opener closes it.
type file struct {
	path string
	info fs.FileInfo // of the open file
	db   *sql.DB
	conn *sql.Conn

	insertEvent, insertContent, insertFound, insertSpan, readChain, writeHead *sql.Stmt

	copies copies

	block int64             // the last block with a row of this process
	found map[foundKey]bool // the values in it
}

// A foundKey is a value in a block, by the name of its column.
type foundKey struct{ field, value string }

// CheckPath returns why a file may not hold the audit log: it lies in a directory of
// plugins, or another user could change it. The file need not exist.
func CheckPath(path string, pluginDirs []string) error {
	refuse := func(hint, format string, args ...any) error {
		return fault.New(fault.AuditFile, format, args...).WithHint("%s", hint)
	}
	for _, dir := range pluginDirs {
		if within(path, dir) {
			return refuse("set file in the audit block to a path elsewhere",
				"the audit log may not be in the directory of plugins %s: %s", dir, path)
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return refuse("set file in the audit block to a path that can be read",
			"the audit log %s cannot be read: %v", path, err)
	case !info.Mode().IsRegular():
		return refuse("set file in the audit block to the path of a file",
			"the audit log %s is not a regular file", path)
	case info.Mode().Perm()&0o022 != 0 && writableBits:
		return refuse(fmt.Sprintf("run `chmod 600 %s`", path),
			"the audit log %s can be written to by other users", path)
	default:
		if why, command := ownership.Exposed(path); why != "" {
			return refuse(fmt.Sprintf("run `%s %s`", command, path), "the audit log %s %s", path, why)
		}
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // created with mode 0700
	}
	if why, command := ownership.Exposed(dir); why != "" {
		return refuse(fmt.Sprintf("run `%s %s`", command, dir), "the directory of the audit log %s %s", dir, why)
	}
	return nil
}

// writableBits is whether permission bits say who can write to a file.
const writableBits = os.PathSeparator == '/'

// within reports whether a path is in a directory, also through symbolic links.
func within(path, dir string) bool {
	real := func(p string) string {
		rest := ""
		for at := p; ; at = filepath.Dir(at) {
			if resolved, err := filepath.EvalSymlinks(at); err == nil {
				return filepath.Join(resolved, rest)
			}
			if at == filepath.Dir(at) {
				return p
			}
			rest = filepath.Join(filepath.Base(at), rest)
		}
	}
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// openFile opens or creates the audit log at a path, for writing.
func openFile(path string, full bool, most int64) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	created, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = created.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err := connect(path, "rw")
	if err != nil {
		return nil, err
	}
	if err := f.setUp(full, most); err != nil {
		f.close()
		return nil, fmt.Errorf("audit log %s: %w", path, err)
	}
	return f, nil
}

// connect opens an existing file.
func connect(path, mode string) (*file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' { // a Windows drive
		slashed = "/" + slashed
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=" + mode}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, conn.Close(), db.Close())
	}
	return &file{path: path, info: info, db: db, conn: conn}, nil
}

const (
	busyTime = 2 * time.Second // how long a transaction waits for other processes
	// busyPoll is the longest time between two attempts to begin a transaction. The waits
	// of SQLite grow to 100 ms. A process that waits so long meets the short moments between
	// the transactions of two busy processes too rarely.
	busyPoll = 2 * time.Millisecond
)

// errForeign means that the file was made by another program or version.
var errForeign = errors.New("the file is not an audit log that this version can use")

// setUp prepares the file for writing and creates its tables if it is empty.
func (f *file) setUp(full bool, most int64) error {
	level := "NORMAL" // a commit survives the end of the process
	if full {
		level = "FULL" // and of the system
	}
	for _, pragma := range []string{
		"busy_timeout = 0", // see busyPoll
		"journal_mode = WAL", "synchronous = " + level, "cache_size = -8192",
		fmt.Sprintf("wal_autocheckpoint = %d", walPages(most)), fmt.Sprintf("journal_size_limit = %d", walLimit(most)),
	} {
		if err := f.patiently("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	if err := f.patiently("BEGIN IMMEDIATE"); err != nil { // another process may create the tables
		return err
	}
	err := f.create()
	if err == nil {
		return errors.Join(f.exec("COMMIT"), f.prepare(), f.checkpoint())
	}
	return errors.Join(err, f.exec("ROLLBACK"))
}

const (
	pageSize    = 4096
	maxWALPages = 4000
)

// walPages returns after how many pages the WAL is written to the file. With the largest
// transaction it stays within a fifth of a small MaxSize.
func walPages(most int64) int64 {
	if most <= 0 {
		return maxWALPages
	}
	return min(most/pageSize/16, maxWALPages)
}

// walLimit returns the bytes that a WAL keeps when it begins again.
func walLimit(most int64) int64 {
	if most <= 0 {
		return 64 << 20
	}
	return min(most/10, 64<<20)
}

// checkpoint writes the WAL to the file, as far as readers let it. A copy of the file alone
// then has the rows.
func (f *file) checkpoint() error { return f.exec("PRAGMA wal_checkpoint(PASSIVE)") }

// create creates the tables of an empty file, and checks those of any other.
func (f *file) create() error {
	mark, version, tables, err := f.marks()
	switch {
	case err != nil:
		return err
	case mark == applicationID && version == schemaVersion:
		return nil
	case mark != 0 || tables != 0:
		return errForeign
	}
	return f.exec(fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d;",
		schema, applicationID, schemaVersion))
}

func (f *file) marks() (mark, version, tables int, err error) {
	err = f.conn.QueryRowContext(context.Background(), `SELECT
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&mark, &version, &tables)
	return mark, version, tables, err
}

func (f *file) prepare() (err error) {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&f.insertEvent, `INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&f.insertContent, `INSERT INTO contents VALUES (?, ?, ?)`},
		{&f.insertFound, `INSERT OR IGNORE INTO found VALUES (?, ?, ?)`},
		{&f.insertSpan, `INSERT INTO spans VALUES (?1, ?2, ?2) ON CONFLICT DO UPDATE SET earliest = min(earliest, ?2), latest = max(latest, ?2)`},
		{&f.readChain, `SELECT first, anchor, last, head FROM chain`},
		{&f.writeHead, `UPDATE chain SET last = ?, head = ?`},
	} {
		if *p.stmt, err = f.conn.PrepareContext(context.Background(), p.query); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) exec(query string, args ...any) error {
	_, err := f.conn.ExecContext(context.Background(), query, args...)
	return err
}

// transact calls do within a transaction that excludes other writers.
func (f *file) transact(do func() error) error {
	if err := f.patiently("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = f.exec("COMMIT")
	}
	if err != nil {
		_ = f.exec("ROLLBACK") // fails if SQLite has rolled back
	}
	return err
}

// patiently executes a statement, again and again for busyTime while other processes use
// the file.
func (f *file) patiently(query string) error {
	for deadline := time.Now().Add(busyTime); ; {
		err := f.exec(query)
		if err == nil || !busy(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(time.Duration(rand.Int64N(int64(busyPoll))))
	}
}

func (f *file) close() error {
	return errors.Join(f.conn.Close(), f.db.Close())
}

// replaced reports whether the path names another file by now, or none.
func (f *file) replaced() bool {
	now, err := os.Lstat(f.path)
	return err != nil || !os.SameFile(now, f.info)
}

// busy reports whether an error means that another process uses the file.
func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == codes.SQLITE_BUSY || e.Code()&0xff == codes.SQLITE_LOCKED)
}

// A chain is the state of the chain of hashes in a file.
type chain struct {
	first  int64 // sequence number of the first row
	anchor hash  // of the row before it
	last   int64 // sequence number of the last row; first-1: there is none
	head   hash  // of the last row
}

func (f *file) chain() (c chain, err error) {
	var anchor, head []byte
	if f.readChain != nil {
		err = f.readChain.QueryRow().Scan(&c.first, &anchor, &c.last, &head)
	} else {
		err = f.conn.QueryRowContext(context.Background(), `SELECT first, anchor, last, head FROM chain`).Scan(&c.first,
			&anchor, &c.last, &head)
	}
	if err == nil && (copy(c.anchor[:], anchor) != len(c.anchor) || copy(c.head[:], head) != len(c.head)) {
		err = errForeign
	}
	return c, err
}
