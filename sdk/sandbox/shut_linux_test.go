package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// TestShutDirectories: a program can shut a directory of its user and open it again later.
// Meanwhile Junctor does not see what is in it, so it counts as private as a whole.
func TestShutDirectories(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the thread ends with the test, and its user with it
	if err := os.Chmod(home, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(home, 0o700) })
	_ = os.Chmod(filepath.Dir(home), 0o711)
	_ = os.Chmod(filepath.Dir(filepath.Dir(home)), 0o711)
	if os.Getuid() == 0 {
		if err := syscall.Setfsuid(65534); err != nil {
			t.Skip(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	if _, err := os.ReadDir(home); err == nil {
		t.Skip("every directory is open to this user")
	}
	if got := sandbox.HiddenIn(home); !slices.Equal(got, []string{home}) {
		t.Errorf("hidden: %v", got)
	}
	if got := sandbox.PrivateIn(home); !slices.Contains(got, filepath.Join(home, ".ssh")) {
		t.Errorf("private: %v", got)
	}
	for path, want := range map[string]bool{home: true, filepath.Join(home, "x"): true,
		filepath.Join(filepath.Dir(home), "x"): false} {
		if got := sandbox.MayExist(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	g, err := sandbox.Around(filepath.Dir(home), []string{filepath.Join(home, ".ssh")})
	if err != nil || len(g.Paths) > 0 {
		t.Errorf("granted: %v %v", g.Paths, err)
	}
}
