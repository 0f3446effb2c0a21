package command

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// TestFilesInShutDirectories: what a command names is kept, although a tool has shut its directory
// for a while.
func TestFilesInShutDirectories(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test, and its user with it
	root := t.TempDir()
	shut := filepath.Join(root, "app")
	if err := errors.Join(os.Mkdir(shut, 0o700), os.WriteFile(filepath.Join(shut, "__main__.py"), nil, 0o600),
		os.Chmod(shut, 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o700) })
	_ = os.Chmod(filepath.Dir(root), 0o711)
	_ = os.Chmod(root, 0o755)
	if os.Getuid() == 0 {
		if err := syscall.Setfsuid(65534); err != nil {
			t.Skip(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	if _, err := os.ReadDir(shut); err == nil {
		t.Skip("every directory is open to this user")
	}
	for _, c := range []struct {
		words []string
		env   map[string]string
		want  string
	}{
		{[]string{"python3", "app"}, nil, "app/__main__.py"},
		{[]string{"python3", "-Bm", "app"}, nil, "app/__main__.py"},
		{[]string{"served"}, map[string]string{"KUBECONFIG": shut + "/config"}, "app/config"},
		{[]string{"node", "app/x"}, nil, "app/x.js"},
	} {
		got, _ := Line{Words: c.words, Env: c.env, Dir: root, Path: "/usr/bin"}.Files()
		if !slices.Contains(got, filepath.Join(root, c.want)) {
			t.Errorf("%v: no %s in %v", c.words, c.want, got)
		}
	}
}
