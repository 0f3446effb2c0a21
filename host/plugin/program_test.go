package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestFind checks that programs are found only in the intended directories, whatever
// their names are. L3
func TestFind(t *testing.T) {
	dir := t.TempDir()
	touch := func(elem ...string) string {
		path := filepath.Join(append([]string{dir}, elem...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := touch("one", fileName("a"))
	touch("two", fileName("a"))
	second := touch("two", fileName("b"))
	touch("only", fileName("something"))
	touch("many", fileName("x"))
	touch("many", fileName("y"))
	touch("sh")
	dirs := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	for _, c := range []struct{ source, name, want string }{
		{"builtin/a", "a", first},
		{"builtin/b", "renamed", second},
		{"builtin/c", "c", ""},
		{"builtin/x/../../../sh", "sh", ""},
		{"builtin/../sh", "sh", ""},
		{"builtin/../two/" + fileName("b"), "b", ""},
		{"builtin/", "a", ""},
		{filepath.Join(dir, "two"), "b", second},
		{filepath.Join(dir, "two"), "x/../../sh", ""},
		{filepath.Join(dir, "only"), "acme", ""}, // another plugin
		{filepath.Join(dir, "many"), "acme", ""},
		{filepath.Join(dir, "nowhere"), "acme", ""},
		{second, "acme", second},
	} {
		got, err := Find(c.source, c.name, dirs)
		if got != c.want || (err == nil) != (c.want != "") || err != nil && !fault.Is(err, fault.PluginNotFound) {
			t.Errorf("Find(%q, %q) = %q, %v; want %q", c.source, c.name, got, err, c.want)
		}
	}
}

func TestDirs(t *testing.T) {
	lookup := func(string) (string, bool) { return "/mine", true }
	with := Dirs(lookup)
	without := Dirs(func(string) (string, bool) { return "", true })
	if len(with) != len(without)+1 || with[0] != "/mine" || filepath.Base(without[0]) != "plugins" {
		t.Errorf("got %q and %q", with, without)
	}
}
