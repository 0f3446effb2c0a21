package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/host"
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
			for got, want := range map[string]string{string(d.Cache): c.cache, d.Data: c.data, filepath.Dir(d.Run): c.runIn} {
				if got != filepath.Join(here, want) {
					t.Errorf("%s, want %s in %s", got, want, here)
				}
			}
		})
	}
}
