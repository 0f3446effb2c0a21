package clientconfig

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWriteReplacesFile: a replaced file keeps its permissions and its symbolic link.
// Each backup has the content before.
func TestWriteReplacesFile(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "mcp.json")
	write(t, real, "one", 0o640)
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	for i, text := range []string{"two", "three", "four"} {
		f, err := Choose([]string{filepath.Join(dir, "none"), link, real})
		if err != nil {
			t.Fatal(err)
		}
		before := content(t, real)
		backup, err := f.Write([]byte(text), noon)
		if err != nil {
			t.Fatal(err)
		}
		want := filepath.Join(filepath.Dir(f.Path), "dotfiles.json.bak-20260203-120000") + []string{"", "-2", "-3"}[i]
		if backup != want || content(t, backup) != before || content(t, real) != text {
			t.Errorf("%s has %q, the file %q", backup, content(t, backup), content(t, real))
		}
		for _, path := range []string{real, backup} {
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if to, err := os.Readlink(link); err != nil || to != real {
		t.Errorf("the link leads to %q: %v", to, err)
	}
}

func TestNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "mcp.json")
	f, err := Choose([]string{path + "c", path})
	if err != nil {
		t.Fatal(err)
	}
	if backup, err := f.Write([]byte("new"), noon); err != nil || backup != "" || content(t, path) != "new" {
		t.Errorf("%q, %v", backup, err)
	}
	if _, err := f.Write([]byte("newer"), noon); err == nil || content(t, path) != "new" {
		t.Errorf("a file that appeared meanwhile was replaced: %v", err)
	}
}

// TestWriteFailsIfFileChanged: clients write their files while they run.
func TestWriteFailsIfFileChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	write(t, path, "one", 0o600)
	f, err := Choose([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "the client's", 0o600)
	if _, err := f.Write([]byte("two"), noon); err == nil || !strings.Contains(err.Error(), "at the same time") {
		t.Errorf("%v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 || content(t, path) != "the client's" {
		t.Errorf("%v, %v: %q", left, err, content(t, path))
	}
}

func TestFilesLeftAlone(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("read-only"), "{}", 0o444)
	write(t, at("file"), "{}", 0o600)
	if err := os.Mkdir(at("directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{"nowhere", "dangling"}, {"loop", "loop"}} {
		if err := os.Symlink(at(link[0]), at(link[1])); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{
		"read-only": "read-only", "directory": "a directory", "dangling": "does not exist",
		"loop": "", "file/below": "",
	} {
		f, err := Choose([]string{at(name)})
		if err == nil {
			_, err = f.Write([]byte("x"), noon)
		}
		bad, ok := errors.AsType[*FileError](err)
		if !ok || !strings.Contains(bad.What, want) || bad.Hint == "" || bad.Path == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if content(t, at("read-only")) != "{}" || content(t, at("file")) != "{}" {
		t.Error("a file was changed")
	}
}
