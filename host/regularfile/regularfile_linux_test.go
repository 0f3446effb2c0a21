package regularfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/host/regularfile"
)

// TestRead: a regular file is read, and nothing else is waited for.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	for _, err := range []error{os.WriteFile(file, []byte("text"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(file,
		link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{file, link} {
		if text, err := regularfile.Read(path, 4); err != nil || string(text) != "text" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	for _, path := range []string{pipe, dir, "/dev/zero"} {
		if text, err := regularfile.Read(path, 4); !errors.Is(err, regularfile.ErrIrregular) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if text, err := regularfile.Read(filepath.Join(dir, "absent"), 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := regularfile.Read(file, 3); err == nil {
		t.Error("a file that is too large was read")
	} else if large, ok := errors.AsType[*regularfile.TooLargeError](err); !ok || large.Limit != 3 {
		t.Error(err)
	}
}
