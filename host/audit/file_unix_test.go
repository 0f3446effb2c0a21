//go:build unix

package audit

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCheckPathRefusesUnsafePlaces checks the places of the file.
func TestCheckPathRefusesUnsafePlaces(t *testing.T) {
	dir := t.TempDir()
	plugins, open := filepath.Join(dir, "plugins"), filepath.Join(dir, "open")
	for _, d := range []string{plugins, open} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plugins, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file("target", 0o600), filepath.Join(dir, "linked.db")); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{
		filepath.Join(dir, "audit.db"): true, filepath.Join(dir, "new", "audit.db"): true,
		file("own.db", 0o600): true, file("read.db", 0o644): true,
		filepath.Join(plugins, "audit.db"): false, filepath.Join(plugins, "deep", "audit.db"): false,
		filepath.Join(dir, "link", "audit.db"): false,
		filepath.Join(open, "audit.db"):        false, file("group.db", 0o660): false, file("world.db", 0o666): false,
		filepath.Join(dir, "linked.db"): false, plugins: false,
	} {
		if err := CheckPath(path, []string{plugins}); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestFileIsPrivate checks the mode of a new file.
func TestFileIsPrivate(t *testing.T) {
	path := newPath(t)
	l := newLog(t, Settings{File: path})
	e := sample(1)
	l.End(&e)
	l.Close()
	for _, end := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + end)
		if os.IsNotExist(err) && end != "" {
			continue
		}
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", end, info, err)
		}
	}
}
