package wall

import (
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
	for _, name := range []string{"cfg/junctor.hcl", "cfg/deep/word", "work/sub/secret", "work/other", "work/with space/x", "mnt/x"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, link := range [][2]string{{"work/sub/secret", "work/with space/second"}, {"cfg/junctor.hcl", "work/third"}, {"work/other", "work/fourth"}} {
		if err := os.Link(at(link[0]), at(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{at("cfg/junctor.hcl"), at("cfg/deep/word"), at("cfg/later"), at("work/sub/secret")}
	want := []string{at("work/third"), at("work/with space/second")}
	got := aliases(files, at("work"))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("hard links: %v, want %v", got, want)
	}
	if got := aliases(files, at("mnt")); len(got) > 0 {
		t.Errorf("in a directory with nothing of it: %v", got)
	}

	if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_FS); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	for _, mount := range [][3]string{{"none", "/", ""}, {at("cfg"), at("mnt"), "bind"}, {at("cfg"), at("work/with space"), "bind"}} {
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
	got = aliases(files, at("mnt"))
	for _, want := range []string{"mnt/junctor.hcl", "mnt/deep/word", "mnt/later"} {
		if !slices.Contains(got, at(want)) {
			t.Errorf("a mounted directory: no %s in %v", want, got)
		}
	}
	got = aliases(files, at("work"))
	for _, want := range []string{"work/with space/junctor.hcl", "work/with space/deep/word", "work/third"} {
		if !slices.Contains(got, at(want)) {
			t.Errorf("a mount in the directory: no %s in %v", want, got)
		}
	}
}
