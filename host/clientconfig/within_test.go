package clientconfig

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestProjectFilesAreNotWrittenThroughLinks tries links that lead out of a project, and those
// that stay in it.
func TestProjectFilesAreNotWrittenThroughLinks(t *testing.T) {
	cases := []struct {
		name, file string
		links      map[string]string // in the project, by name; OUT is a directory outside
		ok         bool
	}{
		{"a plain file", "mcp.json", nil, true},
		{"a new file in a new directory", ".x/y/new.json", nil, true},
		{"a file that is a link in the project", "link.json", map[string]string{"link.json": "mcp.json"}, true},
		{"a directory that is a link in the project", "d/new.json", map[string]string{"d": "sub"}, true},
		{"a file that is a link out", "link.json", map[string]string{"link.json": "OUT/own.json"}, false},
		{"a relative link out", "link.json", map[string]string{"link.json": "../out/own.json"}, false},
		{"a link to a link out", "link.json", map[string]string{"link.json": "two", "two": "OUT/own.json"}, false},
		{"a file in a directory that is a link out", "d/own.json", map[string]string{"d": "OUT"}, false},
		{"a new file in a directory that is a link out", "d/new.json", map[string]string{"d": "OUT"}, false},
		{"a new directory below a link out", "d/e/new.json", map[string]string{"d": "OUT"}, false},
		{"a link to a file that does not exist", "link.json", map[string]string{"link.json": "OUT/none.json"}, false},
		{"a link to the directory above", "up/own.json", map[string]string{"up": "../out"}, false},
		{"a path with dots", "../out/own.json", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			root, out := filepath.Join(base, "project"), filepath.Join(base, "out")
			put(t, filepath.Join(root, "mcp.json"), "{}")
			put(t, filepath.Join(root, "sub", "a.json"), "{}")
			put(t, filepath.Join(out, "own.json"), "{}")
			for name, to := range c.links {
				if len(to) > 3 && to[:3] == "OUT" {
					to = out + to[3:]
				} else if to == "OUT" {
					to = out
				}
				if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
					t.Skip(err)
				}
			}
			f, err := ChooseWithin(root, []string{filepath.Join(root, c.file)})
			if err == nil {
				_, err = f.Write([]byte(`{"a": 1}`), time.Now())
			}
			if ok := err == nil; ok != c.ok {
				t.Errorf("written: %v, %v", ok, err)
			}
			if _, isFile := errors.AsType[*FileError](err); err != nil && !isFile {
				t.Errorf("the error is %T: %v", err, err)
			}
			if names, _ := os.ReadDir(out); len(names) != 1 || contentOf(t, filepath.Join(out, "own.json")) != "{}" {
				t.Errorf("the directory outside has %v", names)
			}
		})
	}
}

// TestDirectoryThatBecomesALinkIsNotFollowed replaces a directory of the project by a link
// between the choice and the writing.
func TestDirectoryThatBecomesALinkIsNotFollowed(t *testing.T) {
	for _, existing := range []bool{true, false} {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		root, out := filepath.Join(base, "project"), filepath.Join(base, "out")
		put(t, filepath.Join(root, ".vscode", "other"), "")
		put(t, filepath.Join(out, "other"), "")
		if existing {
			put(t, filepath.Join(root, ".vscode", "mcp.json"), "{}")
			put(t, filepath.Join(out, "mcp.json"), "{}")
		}
		f, err := ChooseWithin(root, []string{filepath.Join(root, ".vscode", "mcp.json")})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(root, ".vscode"), filepath.Join(root, "was")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(out, filepath.Join(root, ".vscode")); err != nil {
			t.Skip(err)
		}
		if _, err := f.Write([]byte(`{"a": 1}`), time.Now()); err == nil {
			t.Errorf("existing %v: written", existing)
		}
		want := 1
		if existing {
			want = 2
		}
		if names, _ := os.ReadDir(out); len(names) != want {
			t.Errorf("existing %v: the directory outside has %v", existing, names)
		}
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
