package interoptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A terminal is a terminal with a shell, as over SSH.
type terminal struct {
	t      *testing.T
	socket string
	env    []string
	runs   int
}

// openTerminal starts a terminal in a workspace.
func (s *workspace) openTerminal() *terminal {
	s.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		skip(s.t, "tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tmux-") // the path of a socket is limited
	if err != nil {
		s.t.Fatal(err)
	}
	c := &terminal{t: s.t, socket: filepath.Join(dir, "s"),
		env: append(s.command().Env, "TERM=xterm", "PS1=$ ", "ENV=")}
	s.t.Cleanup(func() {
		_, _ = c.tmux("kill-server")
		_ = os.RemoveAll(dir)
	})
	// Wide enough for a URL on one line.
	if out, err := c.tmux("-f", os.DevNull, "new-session", "-d", "-x", "1500", "-y", "100", "-c", s.dir,
		"sh"); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return c
}

func (c *terminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", c.socket}, args...)...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// typeLine types a line.
func (c *terminal) typeLine(line string) {
	c.t.Helper()
	for _, args := range [][]string{{"send-keys", "-l", line}, {"send-keys", "Enter"}} {
		if out, err := c.tmux(args...); err != nil {
			c.t.Fatalf("%v: %s", err, out)
		}
	}
}

// waitFor waits until a pattern is shown, and returns its matches.
func (c *terminal) waitFor(pattern string) []string {
	c.t.Helper()
	fits := regexp.MustCompile(pattern)
	var found []string
	eventually.NoError(c.t, func() error {
		text, err := c.tmux("capture-pane", "-p", "-J")
		if found = fits.FindStringSubmatch(text); found != nil {
			return nil
		}
		if err != nil {
			c.t.Fatalf("%q was not shown (%v):\n%s", pattern, err, text)
		}
		return fmt.Errorf("%q was not shown:\n%s", pattern, text)
	})
	return found
}

// begin clears the terminal and types a junctor command line, whose exit status
// is shown.
func (c *terminal) begin(args string) {
	c.t.Helper()
	c.runs++
	c.typeLine(fmt.Sprintf("clear; echo run %d begins; %s %s; echo run %d ends with $?",
		c.runs, program("junctor"), args, c.runs))
	c.waitFor(fmt.Sprintf(`(?m)^run %d begins`, c.runs)) // and no earlier output
}

// end waits for the end of the command.
func (c *terminal) end(status int) {
	c.t.Helper()
	if got := c.waitFor(fmt.Sprintf(`run %d ends with (\d+)`, c.runs))[1]; got != fmt.Sprint(status) {
		text, _ := c.tmux("capture-pane", "-p", "-J")
		c.t.Errorf("exit status %s, want %d:\n%s", got, status, strings.TrimSpace(text))
	}
}

// openElsewhere opens the shown page in a browser on another machine. It
// returns the last URL, which leads to nothing there.
func (c *terminal) openElsewhere() *url.URL {
	c.t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Get(c.waitFor(`(?s)(http://\S+/authorize\?\S+).*\n> `)[1])
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	end, err := res.Location()
	if err != nil {
		c.t.Fatal(err)
	}
	return end
}

// TestHeadlessLogin logs in at a terminal without a browser. Invalid input ends
// with a reason. AUO-07, AUO-13
func TestHeadlessLogin(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	c := s.openTerminal()

	c.begin("login up --no-browser")
	end := c.openElsewhere()
	stray := *end
	stray.RawQuery = url.Values{"code": {"secret-of-another-tab"}, "state": {"of-another-tab"}}.Encode()
	c.typeLine(stray.String())
	c.waitFor(`That answer belongs to another login`)
	c.typeLine("what is it that you want?")
	for path, status := range map[string]int{"/favicon.ico": 404, "/": 404} {
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + end.Host + path)
		if err != nil || res.StatusCode != status {
			t.Fatalf("%s: %v, %v", path, res, err)
		}
		_ = res.Body.Close()
	}
	c.typeLine(end.String())
	c.waitFor(`logged in to up`)
	c.end(0)
	s.run("call", "up__whoami").exits(0)

	// With a forwarded port no input is needed.
	c.begin("login up --no-browser")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(c.openElsewhere().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	c.end(0)

	v.Redirect = func(answer url.Values) { answer.Del("code"); answer.Set("error", "access_denied") }
	c.begin("login up --no-browser")
	c.typeLine(c.openElsewhere().String())
	c.waitFor(`(?s)the login was declined.*login\.failed`)
	c.end(4)

	first := busyPorts(t, 15)
	c.begin(fmt.Sprintf("login up --no-browser --callback-port %d-%d", first, first+14))
	c.waitFor(fmt.Sprintf(`ports %d-%d of 127\.0\.0\.1 cannot be used`, first, first+14))
	c.end(4)

	c.begin("login up --no-browser")
	c.openElsewhere()
	if out, err := c.tmux("send-keys", "C-c"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.end(130)
	s.run("call", "up__whoami").exits(0) // the existing login is unchanged
}

// freePort returns a free port below 32768, where the system does not choose
// ports.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 11000 + rand.IntN(10000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// busyPorts occupies count consecutive ports and returns the first.
func busyPorts(t *testing.T, count int) int {
	t.Helper()
	for first := 21000; first < 32000; first += count {
		var all []net.Listener
		for port := first; port < first+count; port++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				break
			}
			all = append(all, l)
		}
		if len(all) == count {
			t.Cleanup(func() {
				for _, l := range all {
					_ = l.Close()
				}
			})
			return first
		}
		for _, l := range all {
			_ = l.Close()
		}
	}
	t.Fatalf("no %d consecutive free ports", count)
	return 0
}
