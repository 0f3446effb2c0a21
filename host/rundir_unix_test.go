//go:build unix

package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestNoDirectoryForSockets names each directory that was tried, and why it cannot be used.
func TestNoDirectoryForSockets(t *testing.T) {
	dir, err := os.MkdirTemp("", "d") // a short path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing, long := filepath.Join(dir, "m"), filepath.Join(dir, strings.Repeat("x", 200))
	_, err = makeRunDir([]runPlace{{long, tempPrefix}, {filepath.Join(file, "run"), ""}, {missing, tempPrefix}})
	f := fault.As(err)
	for _, want := range []string{long + ": the path is ", file + "/run: not a directory",
		missing + ": no such file or directory"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("%q does not say %q", f.Message, want)
		}
	}
	if !strings.Contains(f.Hint, "TMPDIR") {
		t.Error(f.Hint)
	}
}
