package confine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPathsStayInTheDirectory checks paths and texts that stay inside a
// directory or lead out of it.
func TestPathsStayInTheDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes symbolic links")
	}
	top := t.TempDir()
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	dir := filepath.Join(top, "work")
	for _, d := range []string{dir + "/sub", top + "/other", top + "/work-two"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{dir + "/a", dir + "/sub/b", top + "/secret", top + "/other/c"} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"out": "../other", "in": "sub", "file": top + "/secret",
		"dangling": "../new", "deep": "out/c", "loop": "loop", "twice": "out",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	alias := filepath.Join(top, "alias")
	if err := os.Symlink("work", alias); err != nil {
		t.Fatal(err)
	}
	d, err := New(alias)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{ // true: refused
		"a": false, "sub/b": false, "./a": false, "sub/../a": false, "new": false, "new/deep/er": false, "in/b": false,
		"-": false, "": false, ".": false,
		dir + "/a": false, alias + "/a": false, alias: false, "a b": false, "https://example.com/x": true,
		"sub/": false, "...": false, "..a": false, "a/x": false, "x~": false,
		"..": true, "../secret": true, "../work-two/x": true, "sub/../../secret": true,
		"new/../../secret": true, "/etc/passwd": true, "/": true, "/no/such/place": true,
		top + "/secret": true, dir + "/../secret": true, alias + "/../secret": true, dir + "-two/x": true, "out": true,
		"out/c": true, "out/new": true, "file": true, "dangling": true,
		"deep": true, "loop": true, "twice/c": true, "in/../../secret": true, "out/../work/a": false,
		"~/x": true, "~root/x": true, "@/etc/passwd": true, "file:///etc/passwd": true,
		"file:///%65tc/passwd": true, "FILE://localhost/etc/passwd": true, "file:../secret": true,
		strings.Repeat("x/", 700) + "y": false, strings.Repeat("x/", 5000) + "y": true, strings.Repeat("x", 5000): true,
	}
	for value, refused := range paths {
		err := d.Path(value)
		if (err != nil) != refused {
			t.Errorf("path %.80q: %v", value, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), alias)) {
			t.Errorf("path %q: the error names the path or not the directory: %v", value, err)
		}
	}
	texts := map[string]bool{
		"HEAD~1": false, "main..topic": false, "/pattern/": true, "/no/such/thing": true,
		"/x": true, "s/a/b/": false, "a@example.com": false, "k=v": false, "~1": false,
		"https://example.com/../etc/passwd": false, "std::string": false, "fix: the ../ thing": true,
		"a=b=c": false, "@a": false, "profile:x": false, "x=../": true,
		"../x": true, "/etc/passwd": true, "@/etc/passwd": true, "@../secret": true, "name@../secret": true,
		"name=@/etc/passwd": true, "x=</etc/passwd": true, "type=file,src=/etc/passwd,x": true,
		"file:///etc/passwd": true, "{file}:///etc/passwd": true, "~/x": true, "~": true, "file": true, "out/c": true,
		top + "/new": true, "a=" + top + "/new": true, "dangling": true,
	}
	for value, refused := range texts {
		if err := d.Text(value); (err != nil) != refused {
			t.Errorf("text %q: %v", value, err)
		}
	}
	if d.All() {
		t.Error("All is true for a directory that is not the root")
	}
	if root, err := New("/"); err != nil || !root.All() || root.Path("/etc/passwd") != nil {
		t.Errorf("the root: %v", err)
	}
	if _, err := New(filepath.Join(top, "absent")); err == nil {
		t.Error("New accepted a directory that does not exist")
	}
}
