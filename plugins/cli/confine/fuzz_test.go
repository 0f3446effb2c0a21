package confine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// FuzzPath checks that what Path, Place and Text accept cannot be opened outside
// the directory, and that no text makes them panic.
func FuzzPath(f *testing.F) {
	if runtime.GOOS == "windows" {
		f.Skip("makes symbolic links")
	}
	top, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	dir := filepath.Join(top, "w")
	if err := os.MkdirAll(filepath.Join(dir, "s", "t"), 0o755); err != nil {
		f.Fatal(err)
	}
	secret := filepath.Join(top, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		f.Fatal(err)
	}
	for name, target := range map[string]string{"l": "../secret", "o": "..", "i": "s/t", "p": "/proc/self/cwd"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	d, err := New(dir)
	if err != nil {
		f.Fatal(err)
	}
	want, err := os.Stat(secret)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"s/../../secret", "i/../../l", "./l", "o/secret", "i/../../../secret", "x:../secret",
		"a,b|l", secret, "%2e%2e/secret", "p/../secret", "s//.././/l", "~/x", "file:../secret"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.ContainsRune(value, 0) {
			t.Skip()
		}
		for kind, check := range map[string]func(string) error{"path": d.Path, "place": d.Place, "text": d.Text,
			"sentence": d.Sentence} {
			if check(value) != nil {
				continue
			}
			full := value
			if !filepath.IsAbs(value) {
				full = dir + string(os.PathSeparator) + value
			}
			for _, spelling := range []string{full, filepath.Clean(full)} {
				if got, err := os.Stat(spelling); err == nil && os.SameFile(got, want) {
					t.Errorf("%s %q opens a file outside", kind, value)
				}
			}
		}
	})
}
