//go:build unix

package seal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// keysOf is set in a child process. It names the directory whose key the child prints.
const keysOf = "SEAL_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(keysOf); dir != "" {
		keys, _, err := OpenDir(dir)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(keys[0].text())
		return
	}
	os.Exit(m.Run())
}

// TestProcessesCreateOneKey: of several processes that start at once, one creates the key, and
// all have it. Only this user can access it.
func TestProcessesCreateOneKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	var mu sync.Mutex
	seen := map[string]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), keysOf+"="+dir)
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[string(out)]++
		})
	}
	all.Wait()
	if len(seen) != 1 {
		t.Errorf("%d keys", len(seen))
	}
	for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, filepath.Join(dir, keyFile): 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// TestKeysRotate: the first key of the file seals, and all open.
func TestKeysRotate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	before, _, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := sealed(t, New(before, "", nil), noteFor(time.Minute), "a")
	added := NewKey()
	if err := os.WriteFile(filepath.Join(dir, keyFile),
		slices.Concat(added.text(), []byte("\n"), before[0].text(), []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	now, _, err := OpenDir(dir)
	if err != nil || len(now) != 2 || now[0] != added {
		t.Fatal(now, err)
	}
	s := New(now, "", nil)
	if _, err := s.Open(old, []byte("a")); err != nil {
		t.Errorf("the old key does not open: %v", err)
	}
	fresh := sealed(t, s, noteFor(time.Minute), "a")
	if _, err := New(before, "", nil).Open(fresh, []byte("a")); !errors.Is(err, ErrInvalid) {
		t.Errorf("the old key sealed: %v", err)
	}
}

// TestUnsafeKeysAreRefused: a key file or a directory that others can access, a link, and a
// damaged file are errors with the command that corrects them, and stay as they are.
func TestUnsafeKeysAreRefused(t *testing.T) {
	good := string(NewKey().text())
	for name, c := range map[string]struct {
		spoil     func(dir, path string) error
		want, fix string
	}{
		"others can read it": {func(_, path string) error { return os.Chmod(path, 0o604) }, "mode 0604",
			"chmod go-rwx"},
		"the group can read it": {func(_, path string) error { return os.Chmod(path, 0o640) }, "mode 0640",
			"chmod go-rwx"},
		"others can write it": {func(_, path string) error { return os.Chmod(path, 0o602) }, "mode 0602",
			"chmod go-rwx"},
		"others can list the folder": {func(dir, _ string) error { return os.Chmod(dir, 0o755) }, "mode 0755",
			"chmod go-rwx"},
		"a link": {func(dir, path string) error {
			return errors.Join(os.Rename(path, filepath.Join(dir, "real")), os.Symlink("real", path))
		}, "is neither a regular file nor a directory", "rm"},
		"a link to nothing": {
			func(_, path string) error { return errors.Join(os.Remove(path), os.Symlink("none", path)) },
			"is neither a regular file", "rm",
		},
		"a directory": {func(_, path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
			"", ""},
		"the folder is a link": {func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+"-real"), os.Symlink(dir+"-real", dir))
		}, "is neither a regular file nor a directory", "rm"},
		"empty":            {write(""), "has no key in line 1", "rm"},
		"a short key":      {write(good[:40]), "has no key in line 1", "rm"},
		"a second line":    {write(good + "\nx\n"), "has no key in line 2", "rm"},
		"an empty line":    {write(good + "\n\n" + good), "has no key in line 2", "rm"},
		"too many keys":    {write(strings.Repeat(good+"\n", maxKeys+1)), "has 17 keys, and at most 16 are read", "rm"},
		"a huge file":      {write(strings.Repeat(good+"\n", 1000)), "has more than 4096 bytes", "rm"},
		"bits after a key": {write(good[:42] + "B"), "has no key in line 1", "rm"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			path := filepath.Join(dir, keyFile)
			if _, _, err := OpenDir(dir); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(dir, path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, _, err := OpenDir(dir)
			unsafe, ok := errors.AsType[*UnsafeError](err)
			if err == nil ||
				c.want != "" && (!ok || !strings.Contains(unsafe.Error(), c.want) || unsafe.Command != c.fix) {
				t.Errorf("%v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func write(text string) func(dir, path string) error {
	return func(_, path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

// TestUnwritableDirectory: a directory that cannot be created or written to is told from one
// that is not safe.
func TestUnwritableDirectory(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := OpenDir(filepath.Join(file, "state"))
	if _, ok := errors.AsType[*UnwritableError](err); !ok {
		t.Errorf("%v", err)
	}
	if os.Getuid() == 0 {
		return // root can write anywhere
	}
	dir := filepath.Join(base, "state")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, _, err = OpenDir(dir)
	if _, ok := errors.AsType[*UnwritableError](err); !ok {
		t.Errorf("%v", err)
	}
}
