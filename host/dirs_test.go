package host_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/fault"
)

// TestDirsAreAbsolute: a plugin runs in another directory than the host, so a
// relative path means something else to it.
func TestDirsAreAbsolute(t *testing.T) {
	short, err := os.MkdirTemp("", "d") // its sockets' paths must not be long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	t.Chdir(short)
	here, err := os.Getwd()
	if err == nil {
		err = os.Mkdir("tmp", 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "tmp")
	for name, c := range map[string]struct {
		env                map[string]string
		cache, data, runIn string
	}{
		"JUNCTOR_HOME": {map[string]string{"JUNCTOR_HOME": "home"}, "home/cache", "home/data", "home/run"},
		"HOME":         {map[string]string{"HOME": "."}, ".cache/junctor", ".local/share/junctor", "tmp"},
		"a dot":        {map[string]string{"JUNCTOR_HOME": "."}, "cache", "data", "run"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := host.FindDirs(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
			if err != nil {
				t.Fatal(err)
			}
			defer d.Clean()
			for got, want := range map[string]string{string(d.Cache): c.cache, d.Data: c.data,
				filepath.Dir(d.Run): c.runIn} {
				if got != filepath.Join(here, want) {
					t.Errorf("%s, want %s in %s", got, want, here)
				}
			}
		})
	}
}

// TestExposedSocketDirectoryIsRefused: who can write to the directory of the
// sockets can put others in their place.
func TestExposedSocketDirectoryIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access control lists are not looked at")
	}
	home, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(run, 0o777); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) {
		return map[string]string{"JUNCTOR_HOME": home}[name], name == "JUNCTOR_HOME"
	}
	_, err = host.FindDirs(lookup)
	if f := fault.As(err); err == nil || !strings.Contains(f.Message, run) ||
		!strings.Contains(f.Hint, "chmod go-w "+run) {
		t.Fatalf("%v", err)
	}
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := host.FindDirs(lookup)
	if err != nil {
		t.Fatal(err)
	}
	d.Clean()
}
