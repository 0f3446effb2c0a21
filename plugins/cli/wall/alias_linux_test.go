package wall

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// TestOtherNames: a file that no tool may reach or change is recognised under another name in
// the working directory, a hard link or one behind a mount.
func TestOtherNames(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test, and its mounts with it
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cfg/junctor.hcl", "cfg/deep/word", "work/sub/secret", "work/other",
		"work/with space/x", "mnt/x"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, link := range [][2]string{{"work/sub/secret", "work/with space/second"}, {"cfg/junctor.hcl", "work/third"},
		{"work/other", "work/fourth"}} {
		if err := os.Link(at(link[0]), at(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{at("cfg/junctor.hcl"), at("cfg/deep/word"), at("cfg/later"), at("work/sub/secret")}
	want := []string{at("work/third"), at("work/with space/second")}
	got := namesOf(t, files, at("work"))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("hard links: %v, want %v", got, want)
	}
	if got := namesOf(t, files, at("mnt")); len(got) > 0 {
		t.Errorf("in a directory with nothing of it: %v", got)
	}

	if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_FS); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	for _, mount := range [][3]string{{"none", "/", ""}, {at("cfg"), at("mnt"), "bind"}, {at("cfg"),
		at("work/with space"), "bind"}} {
		flags := uintptr(syscall.MS_REC | syscall.MS_PRIVATE)
		if mount[2] != "" {
			flags = syscall.MS_BIND
		}
		if err := syscall.Mount(mount[0], mount[1], "", flags, ""); err != nil {
			t.Skipf("no mounts here: %v", err)
		}
		if mount[2] != "" {
			defer func() { _ = syscall.Unmount(mount[1], 0) }()
		}
	}
	got = namesOf(t, files, at("mnt"))
	for _, want := range []string{"mnt/junctor.hcl", "mnt/deep/word", "mnt/later"} {
		if !slices.Contains(got, at(want)) {
			t.Errorf("a mounted directory: no %s in %v", want, got)
		}
	}
	got = namesOf(t, files, at("work"))
	for _, want := range []string{"work/with space/junctor.hcl", "work/with space/deep/word", "work/third"} {
		if !slices.Contains(got, at(want)) {
			t.Errorf("a mount in the directory: no %s in %v", want, got)
		}
	}
}

func namesOf(t *testing.T, files []string, dir string) []string {
	t.Helper()
	names, err := aliases(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestShutDirectoryMayHoldOtherNames: a directory that the program has shut may hold a hard link,
// and is not granted.
func TestShutDirectoryMayHoldOtherNames(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test, and its user with it
	root := t.TempDir()
	secret, shut := filepath.Join(root, "secret"), filepath.Join(root, "work/shut")
	if err := errors.Join(os.MkdirAll(shut, 0o700), os.WriteFile(secret, nil, 0o644),
		os.Link(secret, filepath.Join(shut, "other")), os.Chmod(shut, 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o700) })
	_ = os.Chmod(filepath.Dir(root), 0o711)
	_ = os.Chmod(root, 0o711)
	_ = os.Chmod(filepath.Dir(shut), 0o755)
	if os.Getuid() == 0 {
		if err := syscall.Setfsuid(65534); err != nil {
			t.Skip(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	if _, err := os.ReadDir(shut); err == nil {
		t.Skip("every directory is open to this user")
	}
	if got := namesOf(t, []string{secret}, filepath.Dir(shut)); !slices.Equal(got, []string{shut}) {
		t.Errorf("%v", got)
	}
	if got := namesOf(t, []string{filepath.Join(root, "other")}, filepath.Dir(shut)); len(got) > 0 {
		t.Errorf("of a file with one name: %v", got)
	}
}
