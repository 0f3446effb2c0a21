package run

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestReadFollowsNothing checks what is read where a program was to write its file.
func TestReadFollowsNothing(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		make       func(dir, out string) error
		text, says string
	}{
		{"a file", func(_, out string) error { return os.WriteFile(out, []byte("made"), 0o600) }, "made", ""},
		{"a file without rights",
			func(_, out string) error { return os.WriteFile(out, []byte("made"), 0) }, "made", ""},
		{"an empty file", func(_, out string) error { return os.WriteFile(out, nil, 0o600) }, "", ""},
		{"a long file",
			func(_, out string) error { return os.WriteFile(out, []byte("1234567é01234"), 0o600) }, "1234567", ""},
		{"nothing", func(string, string) error { return nil }, "", "wrote no file"},
		{"a link to a file", func(_, out string) error { return os.Symlink(secret, out) }, "", "symbolic link"},
		{"a link to a file of the run", func(dir, out string) error {
			return os.Symlink("junctor-in-x", out)
		}, "", "symbolic link"},
		{"a broken link", func(_, out string) error { return os.Symlink("nowhere", out) }, "", "symbolic link"},
		{"a directory", func(_, out string) error { return os.Mkdir(out, 0o700) }, "", "a directory"},
		{"another directory in place of the run's", func(dir, out string) error {
			other := t.TempDir()
			if err := os.WriteFile(filepath.Join(other, filepath.Base(out)), []byte("secret"), 0o600); err != nil {
				return err
			}
			if err := os.Rename(dir, dir+"-moved"); err != nil {
				return err
			}
			return os.Symlink(other, dir)
		}, "", "wrote no file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			d, err := OpenFiles(dir, &Call{Files: []File{{"junctor-in-x", "text"}}, Out: "junctor-out"})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if text, err := os.ReadFile(filepath.Join(dir, "junctor-in-x")); string(text) != "text" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			if err := c.make(dir, filepath.Join(dir, "junctor-out")); err != nil {
				if runtime.GOOS == "windows" {
					t.Skip(err) // links need a privilege there
				}
				t.Fatal(err)
			}
			w := d.Read(8)
			if string(w.Head) != c.text || (w.Problem != "") != (c.says != "") || !strings.Contains(w.Problem, c.says) {
				t.Errorf("%q, %q", w.Head, w.Problem)
			}
			if long := c.name == "a long file"; (w.Omitted == 7) != long || (w.Omitted != 0) != long {
				t.Errorf("%d left out", w.Omitted)
			}
		})
	}
	if d, err := OpenFiles(t.TempDir(), &Call{}); err != nil || d.Read(1) != nil {
		t.Errorf("a call without a file has one: %v", err)
	} else {
		d.Close()
	}
}
