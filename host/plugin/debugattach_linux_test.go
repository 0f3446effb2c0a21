package plugin

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// byHand starts the ordinary plugin with the argument attach and returns its socket.
func byHand(t *testing.T, h *testHost) (cmd *exec.Cmd, socket string) {
	t.Helper()
	cmd = exec.Command(h.brokenProgram(""), "attach")
	cmd.Env = append(os.Environ(), "TMPDIR="+h.dir)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, value, ok := strings.Cut(lines.Text(), "export JUNCTOR_ATTACH_EVIL="); ok {
			go func() {
				for lines.Scan() {
				}
			}()
			return cmd, value
		}
	}
	t.Fatal("the plugin printed no socket")
	return nil, ""
}

// withoutOrphans keeps a host from killing the test's own children.
func withoutOrphans(h *testHost) { h.opts.Orphans = nil }

// TestAttach checks that a manually started plugin replaces the program, survives hosts
// and breakpoints, and that its end is reported.
func TestAttach(t *testing.T) {
	other := newHost(t, withoutOrphans) // first, because it ends last
	h := newHost(t, watchful, withoutOrphans)
	var warned []string
	h.opts.Warn = func(message, _ string) { warned = append(warned, message) }
	cmd, socket := byHand(t, h)
	h.env["JUNCTOR_ATTACH_EVIL"] = socket
	c := h.mustOpen(h.request("", "", ""))
	c.echoes(t)
	if pid := h.pid(); pid != cmd.Process.Pid {
		t.Errorf("attached to process %d, want %d", pid, cmd.Process.Pid)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "which was started manually") {
		t.Errorf("warned %q", warned)
	}
	freeze(t, cmd.Process.Pid)
	// The plugin is stopped for longer than health checks take to fail.
	time.Sleep(2 * (h.limits.healthEvery + time.Duration(h.limits.maxMisses)*h.limits.healthTime))
	kill(t, cmd.Process.Pid, syscall.SIGCONT)
	c.echoes(t)
	c.Close(time.Second)

	other.env["JUNCTOR_ATTACH_EVIL"] = socket
	other.mustOpen(other.request("", "", "")).echoes(t)
	other.Stop(time.Second)

	h.mustOpen(h.request("", "", "")).echoes(t) // while another host connects and disconnects
	c = h.mustOpen(h.request("", "", ""))
	kill(t, cmd.Process.Pid, syscall.SIGINT)
	if _, err := c.Read(); err != io.EOF { // the stream or the whole connection may end first
		mustFail(t, err, fault.PluginExited)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the plugin ended with %v", err)
	}
	if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
		t.Errorf("its directory still exists: %v", err)
	}
	// A stream can end shortly before its connection, and until then the plugin is taken for a running one.
	eventually.NoError(t, func() error {
		_, err := h.Open(h.soon(), h.request("", "", ""))
		if f := new(fault.Error); errors.As(err, &f) && f.Code == fault.PluginExited {
			return err
		}
		return nil
	})
	h.mustNotOpen(h.request("", "", ""), fault.PluginNotAllowed, "no such file",
		"run the plugin with the argument attach")
}

// TestAttachRejected checks that a socket of another user is rejected, and that a pinned
// program is not replaced.
func TestAttachRejected(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(h *testHost, socket string) string
		words []string
	}{
		"others may enter": {func(_ *testHost, s string) string { _ = os.Chmod(filepath.Dir(s), 0o755); return s },
			[]string{"mode 0700"}},
		"a link": {func(h *testHost, s string) string {
			link := filepath.Join(h.dir, "link")
			_ = os.Symlink(filepath.Dir(s), link)
			return filepath.Join(link, "plugin")
		}, []string{"mode 0700"}},
		"a link to the socket": {func(_ *testHost, s string) string {
			_ = os.Symlink(s, s+"2")
			return s + "2"
		}, []string{"a socket that belongs to you"}},
		"a file": {func(_ *testHost, s string) string { _ = os.WriteFile(s+"2", nil, 0o600); return s + "2" },
			[]string{"a socket that belongs to you"}},
		"nothing":  {func(_ *testHost, s string) string { return s + "2" }, []string{"no such file"}},
		"relative": {func(*testHost, string) string { return "plugin" }, []string{"the path is not absolute"}},
		"of another user": {func(_ *testHost, s string) string {
			if os.Getuid() == 0 {
				_ = os.Chown(filepath.Dir(s), 12345, -1)
				return s
			}
			return "/proc/1/plugin"
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, withoutOrphans)
			_, socket := byHand(t, h)
			h.env["JUNCTOR_ATTACH_EVIL"] = c.spoil(h, socket)
			h.mustNotOpen(h.request("", "", ""), fault.PluginNotAllowed, c.words...)
		})
	}
	t.Run("pinned", func(t *testing.T) {
		h := newHost(t, withoutOrphans)
		_, socket := byHand(t, h)
		h.env["JUNCTOR_ATTACH_EVIL"] = socket
		r := h.request("", "", "")
		_, digest, err := h.Describe(h.soon(), r.Spec.Path, "")
		if err != nil {
			t.Fatal(err)
		}
		r.Spec.SHA256 = digest
		h.mustNotOpen(r, fault.PluginChecksum, "pins the program")
	})
	t.Run("another plugin", func(t *testing.T) {
		h := newHost(t, withoutOrphans)
		cmd, socket := byHand(t, h)
		h.env["JUNCTOR_ATTACH_ACME"] = socket
		h.mustOpen(h.request("", "", "")).echoes(t)
		if h.pid() == cmd.Process.Pid {
			t.Error("the wrong plugin was accepted")
		}
	})
}
