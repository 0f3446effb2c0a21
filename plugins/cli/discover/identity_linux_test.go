package discover

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOddProgramsAreNotRead: a tool can replace its own program in the working directory, and
// must not make Junctor wait or compute with it.
func TestOddProgramsAreNotRead(t *testing.T) {
	dir := t.TempDir()
	c := cache{dir: filepath.Join(dir, "cache")}
	pipe, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge")
	if err := syscall.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		if digest, err := c.digest(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %q, %v", path, digest, err)
		}
	}
	if err := os.WriteFile(huge, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 2<<40); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	if digest, err := c.digest(huge); err != nil || len(digest) != 64 {
		t.Errorf("%q, %v", digest, err)
	}
}
