package seal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// openUses returns both kinds of uses, and for each how it is opened again.
func openUses(t *testing.T) map[string]Uses {
	path := filepath.Join(t.TempDir(), "uses.sqlite")
	file := NewFile(path)
	t.Cleanup(func() { _ = file.Close() })
	return map[string]Uses{"memory": NewMemory(), "file": file}
}

// TestTokensAreUsedOnce: of many concurrent uses of a token, one succeeds. Another token can
// be used meanwhile, and one whose use is taken back can be used again.
func TestTokensAreUsedOnce(t *testing.T) {
	for name, u := range openUses(t) {
		t.Run(name, func(t *testing.T) {
			s := New([]Key{someKey}, "", u)
			n := noteFor(time.Minute)
			var used atomic.Int64
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					switch err := s.Use(t.Context(), n); {
					case err == nil:
						used.Add(1)
					case !errors.Is(err, ErrUsed):
						t.Error(err)
					}
				})
			}
			all.Wait()
			if used.Load() != 1 {
				t.Errorf("used %d times", used.Load())
			}
			if err := s.Use(t.Context(), noteFor(time.Minute)); err != nil {
				t.Error(err)
			}
			if err := s.Return(t.Context(), n); err != nil {
				t.Error(err)
			}
			if first, second := s.Use(t.Context(), n), s.Use(t.Context(), n); first != nil ||
				!errors.Is(second, ErrUsed) {
				t.Errorf("after it was returned: %v, %v", first, second)
			}
		})
	}
}

// TestProcessesShareUses: a token that was used by one process cannot be used by another one
// with the same directory, nor after a restart.
func TestProcessesShareUses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	open := func() *Codec {
		keys, uses, err := OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return New(keys, "c", uses)
	}
	one, two := open(), open()
	n := noteFor(time.Minute)
	token := sealed(t, one, n, "a")
	if err := one.Use(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	three := open()
	for name, s := range map[string]*Codec{"another process": two, "after a restart": three} {
		got, err := s.Open(token, []byte("a"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Use(t.Context(), got); !errors.Is(err, ErrUsed) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Use(t.Context(), got); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s, closed: %v", name, err)
		}
	}
}

// TestUsesAreForgotten: expired uses are removed, and there is a limit for the others.
func TestUsesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		for range maxRemembered {
			if err := m.Add(t.Context(), NewID(), time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Add(t.Context(), NewID(), time.Now().Add(time.Minute)); !errors.Is(err, errFull) {
			t.Error(err)
		}
		bubble.Sleep(2 * time.Minute)
		if err := m.Add(t.Context(), NewID(), time.Now().Add(time.Minute)); err != nil || len(m.used) != 1 {
			t.Errorf("%v, %d are left", err, len(m.used))
		}
	})
	f := NewFile(filepath.Join(t.TempDir(), "u"))
	defer f.Close()
	for i := range 100 {
		f.pruned = time.Time{}
		if err := f.Add(t.Context(), NewID(), time.Now().Add(-time.Duration(i+1)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := f.db.QueryRow("SELECT count(*) FROM uses").Scan(&n); err != nil || n > 2 {
		t.Errorf("%d are left, %v", n, err)
	}
}

// TestUnusableFileRefusesUses: if uses cannot be looked up, no token is used. The file is tried
// again with the next one.
func TestUnusableFileRefusesUses(t *testing.T) {
	dir := t.TempDir()
	for name, spoil := range map[string]func(path string) error{
		"garbage": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("garbage ", 1000)), 0o600)
		},
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":      func(path string) error { return os.Symlink(filepath.Join(dir, "elsewhere"), path) },
		"nowhere":     func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if name == "nowhere" {
				path = filepath.Join(dir, "none", "x")
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			f := NewFile(path)
			defer f.Close()
			for range 2 {
				if err := f.Add(context.Background(), NewID(), time.Now().Add(time.Minute)); err == nil ||
					errors.Is(err, ErrUsed) || !strings.Contains(err.Error(), path) {
					t.Errorf("%v", err)
				}
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := f.Add(context.Background(), NewID(), time.Now().Add(time.Minute)); err != nil {
				t.Errorf("after it was mended: %v", err)
			}
		})
	}
}
