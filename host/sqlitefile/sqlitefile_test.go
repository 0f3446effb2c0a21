package sqlitefile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOpen: a new file is only this user's, pragmas are in effect, an odd path is no query,
// and what is no file is refused.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a?mode=memory&b #1.sqlite")
	for range 2 { // new, and there already
		db, err := Open(path, "busy_timeout(1234)", "journal_mode(WAL)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS t (x)"); err != nil {
			t.Fatal(err)
		}
		var timeout int
		var mode string
		if err := db.QueryRowContext(t.Context(),
			"SELECT (SELECT timeout FROM pragma_busy_timeout), (SELECT journal_mode FROM pragma_journal_mode)").
			Scan(&timeout, &mode); err != nil || timeout != 1234 || mode != "wal" {
			t.Errorf("busy_timeout is %d, journal_mode %s, %v", timeout, mode, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{dir, link, filepath.Join(dir, "no", "directory")} {
		if db, err := Open(wrong); err == nil {
			_ = db.Close()
			t.Errorf("%s was opened", wrong)
		}
	}
}
