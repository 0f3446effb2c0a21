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
	"time"
)

// A screen is a terminal with a shell in it, as somebody has who came over SSH.
type screen struct {
	t      *testing.T
	socket string
	env    []string
	runs   int
}

// openScreen starts it, at a site.
func (s *site) openScreen() *screen {
	s.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		skip(s.t, "tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path is short
	if err != nil {
		s.t.Fatal(err)
	}
	c := &screen{t: s.t, socket: filepath.Join(dir, "s"), env: append(s.command().Env, "TERM=xterm", "PS1=$ ", "ENV=")}
	s.t.Cleanup(func() {
		_, _ = c.tmux("kill-server")
		_ = os.RemoveAll(dir)
	})
	// Wide, so that an address is one line.
	if out, err := c.tmux("-f", os.DevNull, "new-session", "-d", "-x", "1500", "-y", "100", "-c", s.dir, "sh"); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return c
}

func (c *screen) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", c.socket}, args...)...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// types types a line.
func (c *screen) types(line string) {
	c.t.Helper()
	for _, args := range [][]string{{"send-keys", "-l", line}, {"send-keys", "Enter"}} {
		if out, err := c.tmux(args...); err != nil {
			c.t.Fatalf("%v: %s", err, out)
		}
	}
}

// shows waits until something is on the screen, and returns what it is.
func (c *screen) shows(pattern string) []string {
	c.t.Helper()
	fits := regexp.MustCompile(pattern)
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		text, err := c.tmux("capture-pane", "-p", "-J")
		if found := fits.FindStringSubmatch(text); found != nil {
			return found
		}
		if err != nil || time.Now().After(until) {
			c.t.Fatalf("%q is not shown (%v):\n%s", pattern, err, text)
		}
	}
}

// begins clears the screen and types a junctor command line, whose exit status
// will be shown.
func (c *screen) begins(args string) {
	c.t.Helper()
	c.runs++
	c.types(fmt.Sprintf("clear; echo run %d begins; %s %s; echo run %d ends with $?", c.runs, program("junctor"), args, c.runs))
	c.shows(fmt.Sprintf(`(?m)^run %d begins`, c.runs)) // and nothing of before any more
}

// ends waits for the end of what was begun.
func (c *screen) ends(status int) {
	c.t.Helper()
	if got := c.shows(fmt.Sprintf(`run %d ends with (\d+)`, c.runs))[1]; got != fmt.Sprint(status) {
		text, _ := c.tmux("capture-pane", "-p", "-J")
		c.t.Errorf("exit status %s, want %d:\n%s", got, status, strings.TrimSpace(text))
	}
}

// elsewhere opens the page that the screen shows in a browser on another machine,
// and returns the address where it ends, which leads to nothing there.
func (c *screen) elsewhere() *url.URL {
	c.t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Get(c.shows(`(?s)(http://\S+/authorize\?\S+).*\n> `)[1])
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

// TestHeadlessLogin: somebody at a terminal without a browser logs in, whatever
// else comes, and whatever does not work ends with a reason. AUO-07, AUO-13
func TestHeadlessLogin(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	c := s.openScreen()

	c.begins("login up --no-browser")
	end := c.elsewhere()
	stray := *end
	stray.RawQuery = url.Values{"code": {"secret-of-another-tab"}, "state": {"of-another-tab"}}.Encode()
	c.types(stray.String())
	c.shows(`an answer to another login`)
	c.types("what is it that you want?")
	for path, status := range map[string]int{"/favicon.ico": 404, "/": 404} {
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + end.Host + path)
		if err != nil || res.StatusCode != status {
			t.Fatalf("%s: %v, %v", path, res, err)
		}
		_ = res.Body.Close()
	}
	c.types(end.String())
	c.shows(`logged in to up`)
	c.ends(0)
	s.run("call", "up__whoami").exits(0)

	// The port may be forwarded: then nothing has to be pasted.
	c.begins("login up --no-browser")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(c.elsewhere().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	c.ends(0)

	v.Redirect = func(answer url.Values) { answer.Del("code"); answer.Set("error", "access_denied") }
	c.begins("login up --no-browser")
	c.types(c.elsewhere().String())
	c.shows(`(?s)the login was declined.*login\.failed`)
	c.ends(4)

	first := busyPorts(t, 15)
	c.begins(fmt.Sprintf("login up --no-browser --callback-port %d-%d", first, first+14))
	c.shows(fmt.Sprintf(`ports %d-%d of 127\.0\.0\.1 cannot be used`, first, first+14))
	c.ends(4)

	c.begins("login up --no-browser")
	c.elsewhere()
	if out, err := c.tmux("send-keys", "C-c"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.ends(130)
	s.run("call", "up__whoami").exits(0) // none of it cost the login that there is
}

// freePort is one that nobody listens on, and that nobody is given who leaves the
// choice to the system: those begin at 32768.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 11000 + rand.IntN(10000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return 0
}

// busyPorts occupies so many ports in a row, and returns the first.
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
	t.Fatalf("there are no %d ports in a row", count)
	return 0
}
