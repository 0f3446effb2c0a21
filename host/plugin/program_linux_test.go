package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestPinned checks that a program with another digest never runs, not even to describe
// itself. L1, #7 #11 P7 P8
func TestPinned(t *testing.T) {
	h := newHost(t)
	path := h.copied("marker")
	_, digest, err := h.another().Describe(h.soon(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path + ".EVIL_DESCRIBED")
	_ = os.RemoveAll(filepath.Join(h.dir, "cache"))

	flip(t, path, -1)
	_, _, err = h.another().Describe(h.soon(), path, digest)
	mustFail(t, err, fault.PluginChecksum, digest, "update sha256")
	r := h.request("", "", "")
	r.Spec.Path, r.Spec.SHA256 = path, digest
	h.mustNotOpen(r, fault.PluginChecksum)
	if _, err := os.Stat(path + ".EVIL_DESCRIBED"); err == nil {
		t.Error("the program ran")
	}

	// Upper case denotes the same digest, and every start checks again.
	flip(t, path, -1)
	r.Spec.SHA256 = strings.ToUpper(digest)
	for range 3 {
		c, err := h.another().Open(h.soon(), r)
		if err != nil {
			t.Fatal(err)
		}
		c.echoes(t)
		c.Close(0)
	}
}

// copied returns a private copy of the plugin, which the test may change.
func (h *testHost) copied(mode string) string {
	h.t.Helper()
	path := h.brokenProgram(mode)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o755)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

// flip changes one byte of a file. A negative offset counts from the end.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); at < 0 && err == nil {
		at += info.Size()
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0xff
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// TestChanged checks what a start does about a program that has changed since it was described: a
// pinned one is refused, and another one takes its place unless it is not allowed. L2
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
		same   bool // the digest stays
		lost   bool // there is no program that may run
	}{
		{"in place", func(t *testing.T, path string) { flip(t, path, -1) }, false, false},
		{"in place, with its old times", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			flip(t, path, -1)
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"by another", func(t *testing.T, path string) { replace(t, path, func(b []byte) { b[len(b)-1] ^= 0xff }) },
			false, false},
		{"by a link to another", func(t *testing.T, path string) {
			replace(t, path, func(b []byte) { b[len(b)-1] ^= 0xff })
			if err := os.Rename(path, path+"-2"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+"-2", path); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"removed", func(t *testing.T, path string) { _ = os.Remove(path) }, false, true},
		{"touched", func(t *testing.T, path string) { flip(t, path, -1); flip(t, path, -1) }, true, false},
		{"by itself", func(t *testing.T, path string) { replace(t, path, func([]byte) {}) }, true, false},
		{"others may write to it", func(t *testing.T, path string) {
			if err := os.Chmod(path, 0o777); err != nil {
				t.Fatal(err)
			}
		}, true, true},
	} {
		for _, pinned := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, pinned %t", c.name, pinned), func(t *testing.T) {
				h := newHost(t)
				r := h.request("", "", "")
				r.Spec.Path = h.copied("")
				_, digest, err := h.Describe(h.soon(), r.Spec.Path, "")
				if err != nil {
					t.Fatal(err)
				}
				if r.Spec.Digest = digest; pinned {
					r.Spec.SHA256 = digest
				}
				c.change(t, r.Spec.Path)
				if !c.lost && (c.same || !pinned) {
					conn := h.mustOpen(r)
					conn.echoes(t)
					conn.Close(time.Second)
					return
				}
				_, err = h.Open(h.soon(), r)
				switch f := fault.As(err); {
				case c.lost && (f.Code == fault.PluginNotFound || f.Code == fault.PluginNotAllowed):
				case !c.lost && f.Code == fault.PluginChecksum && strings.Contains(f.Message, "requires "+digest):
				default:
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestReplacedProgramIsDescribedAgain checks that digests and descriptions are those of the file that
// is there now, and that a program with other settings than those of the configuration does not
// start.
func TestReplacedProgramIsDescribedAgain(t *testing.T) {
	h := newHost(t)
	r := h.request("", "", "")
	r.Spec.Path = h.copied("")
	_, first, err := h.Describe(h.soon(), r.Spec.Path, "")
	if err != nil {
		t.Fatal(err)
	}
	replace(t, r.Spec.Path, func(b []byte) { b[len(b)-1] ^= 0xff })
	_, second, err := h.Describe(h.soon(), r.Spec.Path, "")
	if err != nil || second == first {
		t.Fatalf("the digest is %s, %v", second, err)
	}
	_, _, err = h.Describe(h.soon(), r.Spec.Path, first)
	mustFail(t, err, fault.PluginChecksum, "has sha256 "+second+", the configuration requires "+first)
	if _, _, err := h.Describe(h.soon(), r.Spec.Path, second); err != nil {
		t.Errorf("the new digest: %v", err)
	}
	r.Spec.Digest = strings.Repeat("0", 64)
	_, err = h.Open(h.soon(), r)
	mustFail(t, err, fault.PluginChecksum, "was replaced by version 1.2.3, which offers other", "junctor reload")
}

// replace replaces the file at path, as an installer does.
func replace(t *testing.T, path string, change func([]byte)) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(b)
	if err := os.WriteFile(path+".new", b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestSwapped checks that the executed program is the pinned one, even if the file at its path is
// replaced concurrently. L2
func TestSwapped(t *testing.T) {
	h := newHost(t)
	path := filepath.Join(h.dir, "bin", FilePrefix+"swapped")
	first, err := os.ReadFile(h.brokenProgram(""))
	if err != nil {
		t.Fatal(err)
	}
	other := append(first, []byte("something else at its end")...)
	write := func(to string, b []byte) {
		if err := os.WriteFile(to, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(path, first)
	write(path+"-good", first)
	write(path+"-bad", other)
	s := h.another()
	_, digest, err := s.Describe(h.soon(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	s.limits.crashes, s.limits.backoffFirst, s.limits.backoffMax = 1000, 2, 2

	var stop atomic.Bool
	swapping := make(chan struct{})
	go func() {
		defer close(swapping)
		for !stop.Load() {
			for _, from := range []string{"-bad", "-good"} {
				_ = os.Link(path+from, path+"-next")
				_ = os.Rename(path+"-next", path)
			}
		}
	}()
	started, refused := 0, 0
	for i := range 40 {
		r := h.request("", "", "")
		r.Spec.Path, r.Spec.SHA256, r.Spec.Alone = path, digest, strings.Repeat("x", i)
		c, err := s.Open(h.soon(), r)
		if err != nil {
			mustFail(t, err, fault.PluginChecksum)
			refused++
			continue
		}
		started++
		for _, st := range s.Status() {
			if st.Alone != r.Spec.Alone {
				continue
			}
			runs := program{}
			if runs.file, err = os.Open("/proc/" + strconv.Itoa(st.PID) + "/exe"); err != nil {
				t.Fatal(err)
			}
			if got, err := runs.hash(); err != nil || got != digest {
				t.Fatalf("another program was executed: %v", err)
			}
			runs.close()
		}
		c.Close(0)
	}
	stop.Store(true)
	<-swapping
	t.Logf("%d started, %d rejected", started, refused)
}

// TestNotAllowed checks that a program does not run if other users can write it, or if it
// is not a program. L18 L3
func TestNotAllowed(t *testing.T) {
	root := os.Getuid() == 0
	for _, c := range []struct {
		name   string
		change func(path string) error
		code   fault.Code // empty if allowed
		words  []string
	}{
		{"ordinary", func(string) error { return nil }, "", nil},
		{"writable by all", func(p string) error { return os.Chmod(p, 0o757) }, fault.PluginNotAllowed,
			[]string{"by everybody", "chmod go-w"}},
		{"with a sticky bit", func(p string) error { return os.Chmod(p, 0o757|os.ModeSticky) }, fault.PluginNotAllowed,
			[]string{"by everybody"}},
		{"in a directory of all", func(p string) error { return os.Chmod(filepath.Dir(p), 0o777) },
			fault.PluginNotAllowed, []string{"by everybody"}},
		{"in a directory like /tmp",
			func(p string) error { return os.Chmod(filepath.Dir(p), 0o777|os.ModeSticky) }, "", nil},
		{"of another user", func(p string) error { return os.Chown(p, 12345, -1) }, fault.PluginNotAllowed,
			[]string{"belongs to the user 12345"}},
		{"in another's directory", func(p string) error { return os.Chown(filepath.Dir(p), 12345, -1) },
			fault.PluginNotAllowed, []string{"belongs to the user 12345"}},
		{"writable by a group", func(p string) error { return chownMode(p, 12345, 0o775) }, fault.PluginNotAllowed,
			[]string{"by another group"}},
		{"of a group's directory", func(p string) error { return chownMode(filepath.Dir(p), 12345, 0o775) },
			fault.PluginNotAllowed, []string{"by another group"}},
		{"writable by our group", func(p string) error { return os.Chmod(p, 0o775) }, "", nil},
		{"a link to it", func(p string) error { return relink(p, p+"-real") }, "", nil},
		{"a link to what all may write to", func(p string) error {
			if err := os.Chmod(p, 0o777); err != nil {
				return err
			}
			return relink(p, p+"-real")
		}, fault.PluginNotAllowed, []string{"-real can be written to by everybody"}},
		{"a link to nothing",
			func(p string) error { _ = os.Remove(p); return os.Symlink("nowhere", p) }, fault.PluginNotFound, nil},
		{"missing", os.Remove, fault.PluginNotFound, nil},
		{"a directory", func(p string) error { _ = os.Remove(p); return os.Mkdir(p, 0o755) }, fault.PluginNotAllowed,
			[]string{"not a regular file"}},
		{"a named pipe", func(p string) error { _ = os.Remove(p); return syscall.Mkfifo(p, 0o755) },
			fault.PluginNotAllowed, []string{"not a regular file"}},
		{"not executable", func(p string) error { return os.Chmod(p, 0o644) }, fault.PluginNotAllowed,
			[]string{"not executable", "chmod +x"}},
		{"empty", func(p string) error { return os.Truncate(p, 0) }, fault.PluginNotAllowed,
			[]string{"install a build of the plugin for linux/"}},
		{"text", func(p string) error { return os.WriteFile(p, []byte("hello\n"), 0o755) }, fault.PluginNotAllowed,
			[]string{"install a build of the plugin for linux/"}},
		{"a script", func(p string) error { return os.WriteFile(p, []byte("#!/bin/sh\necho\n"), 0o755) },
			fault.PluginNotAllowed, []string{"is a script"}},
		{"a script for nobody", func(p string) error { return os.WriteFile(p, []byte("#!/nowhere\n"), 0o755) },
			fault.PluginNotAllowed, []string{"is a script"}},
		{"for another machine", func(p string) error { return rewrite(p, 18, 0xee) }, fault.PluginNotAllowed,
			[]string{"install a build of the plugin for linux/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !root && strings.Contains(strings.Join(c.words, ""), "another") {
				t.Skip("only root can change the owner of a file")
			}
			h := newHost(t)
			path := h.copied("")
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			_, _, err := h.Describe(h.soon(), path, "")
			if c.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			mustFail(t, err, c.code, c.words...)
		})
	}
}

func chownMode(path string, group int, mode os.FileMode) error {
	if err := os.Chown(path, -1, group); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

func relink(path, to string) error {
	if err := os.Rename(path, to); err != nil {
		return err
	}
	return os.Symlink(to, path)
}

func rewrite(path string, at int, c byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[at] = c
	return os.WriteFile(path, b, 0o755)
}

// TestStartErrorPermanence checks that only errors of the program itself are permanent.
func TestStartErrorPermanence(t *testing.T) {
	b := &program{path: "/p"}
	for err, forGood := range map[error]bool{
		syscall.EACCES: true, syscall.ENOEXEC: true, syscall.ENOENT: true,
		syscall.EMFILE: false, syscall.EAGAIN: false, syscall.ENOMEM: false, syscall.ETXTBSY: false,
	} {
		if got := permanent(startError(b, &os.PathError{Op: "fork/exec", Path: "/p", Err: err})); got != forGood {
			t.Errorf("%v: permanent is %t", err, got)
		}
	}
}
