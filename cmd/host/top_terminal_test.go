//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A topTerminal is a terminal in which junctor top runs.
type topTerminal struct {
	t      *testing.T
	socket string
	env    []string
	name   string // of its screens
}

// openTop starts junctor top for a process in a terminal of a size.
func openTop(t *testing.T, s *reloadSite, name string, width, height int, env ...string) *topTerminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tmux-") // the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	c := &topTerminal{t, filepath.Join(dir, "s"),
		append(append(s.cmd.Env[:len(s.cmd.Env):len(s.cmd.Env)], "TERM=xterm-256color", "LC_ALL=C.UTF-8"), env...),
		name}
	t.Cleanup(func() {
		_, _ = c.tmux("kill-server")
		_ = os.RemoveAll(dir)
	})
	if out, err := c.tmux("-f", os.DevNull, "-u", "new-session", "-d", "-x", fmt.Sprint(width), "-y",
		fmt.Sprint(height), "-c", s.cmd.Dir, "sh -c 'junctor top; echo status $?; sleep 60'"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return c
}

func (c *topTerminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", c.socket}, args...)...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// press presses keys, by their names in tmux.
func (c *topTerminal) press(keys ...string) {
	c.t.Helper()
	if out, err := c.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
}

// waitFor waits until a pattern is shown. It keeps the screen in the directory
// TEST_SCREENS, if that is set.
func (c *topTerminal) waitFor(step, pattern string) {
	c.t.Helper()
	fits := regexp.MustCompile(pattern)
	eventually.NoError(c.t, func() error {
		text, err := c.tmux("capture-pane", "-p")
		if err != nil {
			c.t.Fatalf("%s: %v:\n%s", step, err, text)
		}
		if !fits.MatchString(text) {
			return fmt.Errorf("%s: %q is not shown:\n%s", step, pattern, text)
		}
		return nil
	})
	c.keep(step)
}

// keep writes the screen to a file, with its colours.
func (c *topTerminal) keep(step string) {
	dir := os.Getenv("TEST_SCREENS")
	if dir == "" {
		return
	}
	for ext, args := range map[string][]string{".txt": {"capture-pane", "-p"}, ".ansi": {"capture-pane", "-p", "-e"}} {
		text, err := c.tmux(args...)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "top-"+c.name+"-"+step+ext), []byte(text), 0o600)
		}
		if err != nil {
			c.t.Error(err)
		}
	}
}

// TestTopInTerminal uses junctor top at two sizes, with and without colours: it chooses a
// server, looks at its details and its log, restarts it, and quits.
func TestTopInTerminal(t *testing.T) {
	t.Parallel()
	s := startReloadSite(t)
	if _, err := (&reloadClient{url: s.url}).call("steady__add"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		width, height int
		env           []string
	}{"80x24": {80, 24, nil}, "200x50": {200, 50, nil}, "plain": {80, 24, []string{"NO_COLOR=1"}}} {
		t.Run(name, func(t *testing.T) {
			top := openTop(t, s, name, c.width, c.height, c.env...)
			top.waitFor("table", `(?m)^> steady +ready .*\n  other +(ready|not started)`)
			top.waitFor("table", `q quit`)
			coloured, err := top.tmux("capture-pane", "-p", "-e")
			if hasGreen := strings.Contains(coloured, "\x1b[32m"); err != nil || c.env != nil && hasGreen {
				t.Errorf("%v, green %t:\n%q", err, hasGreen, coloured)
			}
			top.press("Down")
			top.waitFor("chosen", `(?m)^> other `)
			top.press("Up", "Enter")
			top.waitFor("details", `(?m)^server +steady\n(.*\n)*log level +info`)
			top.press("l")
			top.waitFor("log", `(records about|steady:)`)
			top.press("Escape")
			top.waitFor("back", `CALLS/S`)
			top.press("r")
			top.waitFor("question", `restart steady\? calls in progress fail \(y/n\)`)
			top.press("y")
			top.waitFor("restarted", `steady was restarted in `)
			top.press("a")
			top.waitFor("approvals", `nothing waits for an approval`)
			if out, err := top.tmux("resize-window", "-x", "100", "-y", "30"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			top.press("Escape")
			top.waitFor("resized", `(?s)PLUGIN.*(\n.*){15}q quit`)
			top.press("q")
			top.waitFor("end", `status 0`)
		})
	}
	if st := s.server("steady"); st.Connects != 4 {
		t.Errorf("after three restarts it was connected %d times", st.Connects)
	}
}

// TestTopEndsWithProcess ends the process that is shown.
func TestTopEndsWithProcess(t *testing.T) {
	t.Parallel()
	s := startReloadSite(t)
	top := openTop(t, s, "ended", 80, 24)
	top.waitFor("table", `(?m)^> steady `)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	top.waitFor("end", `(?s)did not answer.*status 3`)
}

// TestTopRefusesDumbTerminal runs it where nothing can be drawn twice.
func TestTopRefusesDumbTerminal(t *testing.T) {
	t.Parallel()
	s := startReloadSite(t)
	top := openTop(t, s, "dumb", 120, 24, "TERM=dumb")
	top.press("") // the server of tmux sets TERM itself, so the verb gets it again
	if out, err := top.tmux("respawn-pane", "-k", "TERM=dumb junctor top; echo status $?; sleep 60"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	top.waitFor("refused", `(?s)cannot draw on this terminal: TERM is "dumb".*hint: run .junctor top --once.*status 2`)
}
