//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A reloadSite is a running "junctor serve --http" with its configuration.
type reloadSite struct {
	t    *testing.T
	path string // of the configuration
	url  string
	cmd  *exec.Cmd
	log  chan string // lines of the log
}

// write writes a configuration with a server that never changes and one whose
// arguments have a version. Without a version that server is left out; broken adds
// a block that is not closed.
func (s *reloadSite) write(version string, broken bool) {
	s.t.Helper()
	text := "server \"steady\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"
	if version != "" {
		text += fmt.Sprintf("server \"other\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n    env = { VERSION = %q }\n  }\n}\n", version)
	}
	if broken {
		text += "server \"unclosed\" {\n"
	}
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// hangup makes the process reload and waits until the log has one of the texts.
func (s *reloadSite) hangup(want ...string) string {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	return s.waitLog(want...)
}

func (s *reloadSite) waitLog(want ...string) string {
	s.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case line := <-s.log:
			for _, w := range want {
				if strings.Contains(line, w) {
					return line
				}
			}
		case <-deadline:
			s.t.Fatalf("the log has none of %q", want)
		}
	}
}

func startReloadSite(t *testing.T, flags ...string) *reloadSite {
	t.Helper()
	return startReloadSiteWith(t, "", flags...)
}

// startReloadSiteWith starts it with another variable of the environment.
func startReloadSiteWith(t *testing.T, variable string, flags ...string) *reloadSite {
	t.Helper()
	site := silentSite(t)
	s := &reloadSite{t: t, path: filepath.Join(site.dir, "junctor.hcl"), log: make(chan string, 1<<16)}
	s.write("0", false)
	s.cmd = exec.Command("junctor", append([]string{"serve", "--http=127.0.0.1:0"}, flags...)...)
	s.cmd.Dir, s.cmd.Env = site.dir, site.env
	if variable != "" {
		s.cmd.Env = append(s.cmd.Env, variable)
	}
	s.trust()
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.log <- lines.Text()
		}
	})
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		reading.Wait()
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	line := s.waitLog("serving over HTTP")
	_, rest, _ := strings.Cut(line, "endpoint=")
	s.url, _, _ = strings.Cut(rest, " ")
	return s
}

// A reloadClient calls tools, in a session of the legacy era or as a modern client.
type reloadClient struct {
	url     string
	session string // empty: modern
	id      int
}

// call calls a tool and returns the text of the response.
func (c *reloadClient) call(tool string) (string, error) {
	c.id++
	meta, header := "", http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.session != "" {
		header.Set("Mcp-Session-Id", c.session)
		header.Set("Mcp-Protocol-Version", "2025-11-25")
	} else {
		header.Set("Mcp-Protocol-Version", "2026-07-28")
		header.Set("Mcp-Method", "tools/call")
		header.Set("Mcp-Name", tool)
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	_, text, err := c.post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"a":%d,"b":1}%s}}`, c.id, tool, c.id, meta))
	if err == nil && !strings.Contains(text, fmt.Sprintf(`"sum":%d`, c.id+1)) {
		err = fmt.Errorf("%s: %s", tool, text)
	}
	return text, err
}

func (c *reloadClient) post(header http.Header, body string) (http.Header, string, error) {
	req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Header, string(text), err
}

// initialize begins a legacy session.
func (c *reloadClient) initialize(t *testing.T) {
	t.Helper()
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	got, text, err := c.post(header, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if c.session = got.Get("Mcp-Session-Id"); err != nil || c.session == "" {
		t.Fatalf("%v: %s", err, text)
	}
}

// TestReloadLosesNoCall reloads again and again, every third time with a broken
// configuration, while clients of both eras call a server that stays and one that is
// replaced. No call fails, sessions go on, and the server that stays is never
// restarted.
func TestReloadLosesNoCall(t *testing.T) {
	reloads, calls := 12, 400
	if os.Getenv("JUNCTOR_SOAK") != "" {
		reloads, calls = 50, 2500
	}
	s := startReloadSite(t)
	clients := []*reloadClient{{url: s.url}, {url: s.url}, {url: s.url}, {url: s.url}}
	clients[0].initialize(t)
	clients[1].initialize(t)
	for _, tool := range []string{"steady__add", "other__add"} {
		if _, err := clients[0].call(tool); err != nil {
			t.Fatal(err)
		}
	}
	before := s.children()
	done := make(chan struct{})
	var work sync.WaitGroup
	for i, c := range clients {
		work.Go(func() {
			for n := 0; ; n++ {
				if n >= calls {
					select {
					case <-done:
						return
					default:
					}
				}
				if _, err := c.call([]string{"steady__add", "other__add"}[n%2]); err != nil {
					t.Errorf("client %d, call %d: %v", i, n, err)
					return
				}
			}
		})
	}
	for n := 1; n <= reloads; n++ {
		broken := n%3 == 0
		s.write(fmt.Sprint(n), broken)
		want := "reloaded the configuration"
		if broken {
			want = "was not reloaded"
		}
		s.hangup(want)
	}
	close(done)
	work.Wait()
	after := s.children()
	kept := 0
	for pid := range before {
		if after[pid] {
			kept++
		}
	}
	if len(before) != 2 || kept != 1 {
		t.Errorf("of the servers %v, %d are the same afterwards: %v", before, kept, after)
	}
}

// trust trusts the configuration as it is.
func (s *reloadSite) trust() {
	s.t.Helper()
	cmd := exec.Command("junctor", "trust", "junctor.hcl", "--yes")
	cmd.Dir, cmd.Env = s.cmd.Dir, s.cmd.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// children returns the process ids of the servers.
func (s *reloadSite) children() map[string]bool {
	pids := map[string]bool{}
	out, _ := exec.Command("ps", "-eo", "pid=,args=").Output()
	for line := range strings.Lines(string(out)) {
		pid, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.TrimSpace(args) == "./demo" && s.inSite(pid) {
			pids[pid] = true
		}
	}
	return pids
}

func (s *reloadSite) inSite(pid string) bool {
	cwd, err := os.Readlink("/proc/" + pid + "/cwd")
	return err == nil && cwd == filepath.Dir(s.path)
}

// TestReloadOfServers: a new server can be called after a reload, a removed one not
// any longer, and an error leaves everything as it was and has a place in the log.
func TestReloadOfServers(t *testing.T) {
	s := startReloadSite(t)
	c := &reloadClient{url: s.url}
	if _, err := c.call("other__add"); err != nil {
		t.Fatal(err)
	}
	s.write("", false)
	if line := s.hangup("reloaded"); !strings.Contains(line, `removed=["other"]`) {
		t.Error(line)
	}
	if text, err := c.call("other__add"); err == nil || !strings.Contains(text, "unknown tool") {
		t.Errorf("a removed server: %s", text)
	}
	s.write("2", true)
	if line := s.hangup("not reloaded"); !strings.Contains(line, "junctor.hcl:") {
		t.Errorf("no place: %s", line)
	}
	if _, err := c.call("steady__add"); err != nil {
		t.Error(err)
	}
	s.write("2", false)
	if line := s.hangup("reloaded"); !strings.Contains(line, `added=["other"]`) {
		t.Error(line)
	}
	if _, err := c.call("other__add"); err != nil {
		t.Error(err)
	}
}

// TestWatchReloads changes the configuration without a signal.
func TestWatchReloads(t *testing.T) {
	s := startReloadSite(t, "--watch")
	s.write("", false)
	s.waitLog(`removed=["other"]`)
	s.write("1", false)
	s.waitLog(`added=["other"]`)
	if _, err := (&reloadClient{url: s.url}).call("other__add"); err != nil {
		t.Error(err)
	}
}

// TestReloadNeedsTrust: a changed configuration that was found in the current
// directory is not used before it is trusted.
func TestReloadNeedsTrust(t *testing.T) {
	s := startReloadSiteWith(t, "JUNCTOR_CONFIG=")
	s.write("", false)
	if line := s.hangup("not reloaded"); !strings.Contains(line, "junctor trust") {
		t.Error(line)
	}
	c := &reloadClient{url: s.url}
	if _, err := c.call("other__add"); err != nil {
		t.Errorf("the configuration before is not in effect: %v", err)
	}
	s.trust()
	s.hangup(`removed=["other"]`)
}

// TestReloadTellsWhatNeedsRestart changes a setting of the gateway.
func TestReloadTellsWhatNeedsRestart(t *testing.T) {
	s := startReloadSite(t)
	text, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "gateway {\n  http {\n    max_body = \"2MiB\"\n  }\n}\n"...)
	if err := os.WriteFile(s.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.hangup("gateway.http")
}

// TestReloadNotifiesClients: clients hear of changed lists once, and only when what
// they see changed.
func TestReloadNotifiesClients(t *testing.T) {
	s := startReloadSite(t)
	c := &reloadClient{url: s.url}
	c.initialize(t)
	for _, tool := range []string{"steady__add", "other__add"} {
		if _, err := c.call(tool); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequest(http.MethodGet, s.url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Accept": {"text/event-stream"}, "Mcp-Session-Id": {c.session}, "Mcp-Protocol-Version": {"2025-11-25"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
				var m struct{ Method string }
				_ = json.Unmarshal(data, &m)
				events <- m.Method
			}
		}
	}()
	next := func(quiet time.Duration) (method string, ok bool) {
		select {
		case method, ok = <-events:
			return method, ok
		case <-time.After(quiet):
			return "", false
		}
	}
	for ok := true; ok; { // the first lists
		_, ok = next(2 * time.Second)
	}
	s.hangup("reloaded") // nothing has changed
	s.write("", false)
	s.hangup("reloaded")
	counts := map[string]int{}
	for {
		method, ok := next(2 * time.Second)
		if !ok {
			break
		}
		counts[method]++
	}
	if counts["notifications/tools/list_changed"] != 1 {
		t.Errorf("notifications: %v", counts)
	}
}

// TestReloadOfManyServers changes one of 500 servers, and reloads a configuration
// again and again: the time and the memory stay small.
func TestReloadOfManyServers(t *testing.T) {
	most, reloads, growth := 5*time.Second, 100, 0.5
	if os.Getenv("JUNCTOR_SOAK") != "" {
		most, reloads, growth = 300*time.Millisecond, 1000, 0.1
	}
	s := startReloadSite(t)
	write := func(version int) {
		var text strings.Builder
		for i := range 500 {
			v := 0
			if i == 250 {
				v = version
			}
			fmt.Fprintf(&text, "server \"s%d\" {\n  transport \"stdio\" {\n    command = [\"./demo\", \"%d\"]\n  }\n}\n", i, v)
		}
		if err := os.WriteFile(s.path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	s.hangup("reloaded")
	write(2)
	begun := time.Now()
	line := s.hangup("reloaded")
	took := time.Since(begun)
	t.Logf("a reload of 500 servers, one of them changed: %s (bar %s)", took.Round(time.Millisecond), most)
	if took > most || !strings.Contains(line, `changed=["s250"]`) {
		t.Errorf("it took %s: %s", took, line)
	}
	for n := range 50 { // the heap settles
		s.write(fmt.Sprint(n), false)
		s.hangup("reloaded")
	}
	before := s.residentKiB()
	for n := range reloads {
		s.write(fmt.Sprint(n), n%3 == 2)
		s.hangup("reloaded")
	}
	after := s.residentKiB()
	t.Logf("memory before and after %d reloads: %d and %d KiB (bar +%.0f %%)", reloads, before, after, 100*growth)
	if float64(after) > float64(before)*(1+growth) {
		t.Errorf("memory grew from %d to %d KiB", before, after)
	}
}

// residentKiB returns the resident memory of the process.
func (s *reloadSite) residentKiB() (n int) {
	s.t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", fmt.Sprint(s.cmd.Process.Pid)).Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &n)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
