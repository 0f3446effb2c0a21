package wall

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRemoveTemp: what a run left is removed, however deep and full it is, with few
// descriptors and without following links.
func TestRemoveTemp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, fill := range map[string]func(t *testing.T, dir string){
		"nothing": func(*testing.T, string) {},
		"deep": func(t *testing.T, dir string) {
			at, err := syscall.Open(dir, syscall.O_RDONLY, 0)
			for range 3000 {
				if err == nil {
					err = syscall.Mkdirat(at, "d", 0o700)
				}
				var next int
				if err == nil {
					next, err = syscall.Openat(at, "d", syscall.O_RDONLY, 0)
				}
				_ = syscall.Close(at)
				at = next
			}
			_ = syscall.Close(at)
			if err != nil {
				t.Fatal(err)
			}
		},
		"full": func(t *testing.T, dir string) {
			for i := range 3 * removeBatch {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o400); err != nil {
					t.Fatal(err)
				}
			}
		},
		"closed": func(t *testing.T, dir string) {
			for _, err := range []error{
				os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o700), os.WriteFile(filepath.Join(dir, "a/b/c/f"), nil, 0),
				os.Chmod(filepath.Join(dir, "a/b/c"), 0), os.Chmod(filepath.Join(dir, "a/b"), 0),
				os.Chmod(filepath.Join(dir, "a"), 0), os.Chmod(dir, 0),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		},
		"links": func(t *testing.T, dir string) {
			for _, err := range []error{
				os.Mkdir(filepath.Join(dir, "d"), 0o700), os.Symlink(filepath.Dir(outside), filepath.Join(dir, "d/up")),
				os.Symlink(outside, filepath.Join(dir, "file")),
				os.Symlink(filepath.Dir(outside), filepath.Join(dir, "dir")),
				os.Symlink("absent", filepath.Join(dir, "none")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := NewTemp()
			if err != nil {
				t.Fatal(err)
			}
			fill(t, dir)
			RemoveTemp(dir)
			if _, err := os.Lstat(dir); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", dir, err)
			}
			if _, err := os.Stat(outside); err != nil {
				t.Error(err)
			}
		})
	}
}
