// Package sqlitefile opens small SQLite files that only this user can access.
package sqlitefile

import (
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the driver
)

// Open opens the database at a path, which it creates if necessary, with one connection
// and pragmas such as "busy_timeout(1000)". SQLite reads the file with the first statement.
func Open(path string, pragmas ...string) (*sql.DB, error) {
	created, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = created.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file"))
	}
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' { // a Windows drive
		slashed = "/" + slashed
	}
	db, err := sql.Open("sqlite",
		(&url.URL{Scheme: "file", Path: slashed, RawQuery: url.Values{"_pragma": pragmas}.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}
