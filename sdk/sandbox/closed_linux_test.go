package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClosed: a wrapped program of the superuser reads of the system what everybody may, and
// no key that only its owner or a group may.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	modes := []struct {
		name string
		mode os.FileMode
	}{
		{".", 0o755}, {"open", 0o644}, {"key", 0o600}, {"group", 0o640}, {"run", 0o711}, {"ssl/", 0o755},
		{"ssl/key", 0o400}, {"ssl/cert", 0o444}, {"keys/", 0o700}, {"keys/a", 0o644}, {"list/", 0o754},
	}
	for _, m := range modes {
		path := filepath.Join(dir, m.name)
		if strings.HasSuffix(m.name, "/") {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if m.name != "." {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, m := range modes {
		if err := os.Chmod(filepath.Join(dir, m.name), m.mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/absent", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"group", "key", "keys", "list", "run", "ssl/key"} {
		want = append(want, filepath.Join(dir, name))
	}
	if got := closed(0, []string{dir, filepath.Join(dir, "absent")}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := closed(1000, []string{dir}); got != nil {
		t.Errorf("another user is stopped by the modes: %v", got)
	}
}
