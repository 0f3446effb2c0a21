//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// consoleAt returns a configuration with a console at a port.
func consoleAt(port, more string) string {
	return demoServers("0", false) + fmt.Sprintf("console {\n  listen = \"127.0.0.1:%s\"\n%s}\n", port, more)
}

// load opens a page with a browser that keeps cookies.
func load(t *testing.T, browser *http.Client, address string) (status int, at *url.URL, text string) {
	t.Helper()
	resp, err := browser.Get(address)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Request.URL, string(body)
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	return &http.Client{Jar: jar, Transport: transport}
}

// TestConsoleFollowsTheConfiguration turns the console on, moves it, and turns it off with
// reloads. Links work once; a session survives a reload that leaves the address.
func TestConsoleFollowsTheConfiguration(t *testing.T) {
	t.Parallel()
	s := startReloadSite(t)
	if _, errs, status := s.junctor("console", "--json"); status != fault.ExitUsage ||
		!strings.Contains(errs, string(fault.ConsoleOff)) {
		t.Errorf("without a console: %d %s", status, errs)
	}
	reload := func(text string) {
		t.Helper()
		rewriteConfig(t, s.path, text)
		s.trust()
		if _, errs, status := s.junctor("reload"); status != 0 {
			t.Fatal(errs)
		}
	}
	link := func() string {
		t.Helper()
		out, errs, status := s.junctor("console", "--json")
		var l control.ConsoleLink
		if err := json.Unmarshal([]byte(out), &l); err != nil || status != 0 || l.Expires == nil {
			t.Fatalf("%d %s %s", status, out, errs)
		}
		return l.URL
	}
	first, second := freePort(t), freePort(t)
	reload(consoleAt(first, ""))
	logged := regexp.MustCompile(`link=(\S+)`).FindStringSubmatch(s.waitLog("the console is served"))
	if logged == nil {
		t.Fatal("the log has no link")
	}
	browser := newBrowser(t)
	for _, address := range []string{logged[1], link()} {
		status, at, text := load(t, newBrowser(t), address)
		if status != http.StatusOK || !strings.HasSuffix(at.Path, "/servers") || !strings.Contains(text, "steady") {
			t.Errorf("%s: %d %s\n%s", address, status, at, consoletest.Said(text))
		}
		if status, _, _ := load(t, newBrowser(t), address); status != http.StatusForbidden {
			t.Errorf("%s works twice: %d", address, status)
		}
	}
	if out, _, _ := s.junctor("status", "--text"); !strings.Contains(out, "\nconsole: http://127.0.0.1:"+first+"/\n") {
		t.Errorf("the status for people:\n%s", out)
	}
	if at := s.status().Console; at != "http://127.0.0.1:"+first+"/" {
		t.Errorf("the status says %q", at)
	}
	_, page, _ := load(t, browser, link())
	reload(consoleAt(first, "  viewers = [\"bob\"]\n"))
	if status, _, _ := load(t, browser, page.String()); status != http.StatusOK {
		t.Errorf("after a reload: %d", status)
	}
	reload(consoleAt(second, ""))
	if status, _, _ := load(t, browser, page.String()); status != 0 {
		t.Errorf("the address before still answers: %d", status)
	}
	page.Host = "127.0.0.1:" + second
	if status, _, text := load(t, browser, page.String()); status != http.StatusOK {
		t.Errorf("at the next address: %d\n%s", status, consoletest.Said(text))
	}
	reload(demoServers("0", false))
	if status, _, _ := load(t, browser, page.String()); status != 0 {
		t.Errorf("it is off, and answers: %d", status)
	}
	if out, errs, status := s.junctor("console"); status != fault.ExitUsage {
		t.Errorf("it is off: %d %s%s", status, out, errs)
	}
}

// TestConsoleAddressInUse: an address that is in use is an error of a gateway and of its
// reload. The client on standard input is served all the same.
func TestConsoleAddressInUse(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	port := freePort(t)
	rewriteConfig(t, d.path, consoleAt(port, ""))
	s := d.serveHTTP()
	d.trust()
	out, err := d.command("serve", "--http=127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), string(fault.ListenAddress)) ||
		!strings.Contains(string(out), "the console cannot listen") {
		t.Errorf("%v: %s", err, out)
	}
	serve := d.command("serve")
	serve.Stdin = strings.NewReader("")
	if out, err = serve.CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "the console is off in this process") {
		t.Errorf("%v: %s", err, out)
	}
	if _, errs, status := s.junctor("console", "--json"); status != 0 {
		t.Errorf("%d: %s", status, errs)
	}
}

// TestConsoleLinkIsNotInTheLogOfAClient: the client that started junctor serve reads the
// log, and must not get a link that signs in.
func TestConsoleLinkIsNotInTheLogOfAClient(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, consoleAt(freePort(t), ""))
	d.trust()
	serve := d.command("serve")
	serve.Stdin = strings.NewReader("")
	out, err := serve.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the console is served") || strings.Contains(string(out), "key=") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestConsoleCommandForPeople prints the link for a person, and opens the browser once.
func TestConsoleCommandForPeople(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, consoleAt(freePort(t), ""))
	s := d.serveHTTP()
	opened := s.cmd.Dir + "/opened"
	browser := s.cmd.Dir + "/browser"
	if err := os.WriteFile(browser, []byte("#!/bin/sh\nprintf '%s' \"$1\" > '"+opened+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) string {
		cmd := d.command("console", "--text")
		for _, kv := range cmd.Env {
			if name, _, _ := strings.Cut(kv, "="); name != "CI" && name != "NO_BROWSER" && name != "SSH_CONNECTION" {
				env = append(env, kv)
			}
		}
		cmd.Env = append(env, "BROWSER="+browser)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	for _, never := range []string{"CI=1", "NO_BROWSER=1"} {
		if out := run(never); !strings.Contains(out, "/open?key=") || !strings.Contains(out, "within 5 minutes") {
			t.Errorf("%s: %s", never, out)
		}
		if _, err := os.Stat(opened); err == nil {
			t.Errorf("%s: a browser was opened", never)
		}
	}
	out := run()
	address, err := os.ReadFile(opened)
	if err != nil || !strings.Contains(out, string(address)) {
		t.Fatalf("%v: %s\n%s", err, address, out)
	}
	if status, _, _ := load(t, newBrowser(t), string(address)); status != http.StatusOK {
		t.Errorf("%s: %d", address, status)
	}
}

// A consolePage is a session of the console in a browser.
type consolePage struct {
	t       *testing.T
	browser *http.Client
	base    *url.URL // of the pages
	token   string   // of the forms
}

// openConsole opens the console of a process with a link.
func openConsole(t *testing.T, s *reloadSite) *consolePage {
	t.Helper()
	out, errs, _ := s.junctor("console", "--json")
	var link control.ConsoleLink
	if err := json.Unmarshal([]byte(out), &link); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	browser := newBrowser(t)
	_, page, text := load(t, browser, link.URL)
	token := regexp.MustCompile(`name="csrf" value="([A-Z2-7]+)"`).FindStringSubmatch(text)
	if token == nil {
		t.Fatal(text)
	}
	return &consolePage{t, browser, page.JoinPath(".."), token[1]}
}

// send sends a form and returns the page that answers it.
func (p *consolePage) send(name string, form url.Values) string {
	p.t.Helper()
	form.Set("csrf", p.token)
	resp, err := p.browser.PostForm(p.base.JoinPath(name).String(), form)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

// awaits loads a page until it contains a text, and returns it.
func (p *consolePage) awaits(name, want string) string {
	p.t.Helper()
	page, query, _ := strings.Cut(name, "?")
	at := p.base.JoinPath(page)
	at.RawQuery = query
	for until := time.Now().Add(reloadPatience); ; {
		_, _, text := load(p.t, p.browser, at.String())
		if strings.Contains(text, want) {
			return text
		}
		if time.Now().After(until) {
			p.t.Fatalf("%s does not show %q\n%s", name, want, consoletest.Said(text))
		}
	}
}

// TestConsoleKeepsLongCalls calls a tool that takes longer than a form may take to arrive.
func TestConsoleKeepsLongCalls(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	build(t, filepath.Join(d.site.dir, "odd"), "./testdata/odd")
	rewriteConfig(t, d.path, fmt.Sprintf("console {\n  listen = \"127.0.0.1:%s\"\n}\nserver \"odd\" {\n  transport \"stdio\" {\n    command = [\"./odd\"]\n  }\n}\n",
		freePort(t)))
	s := d.serveHTTP()
	if out, err := d.command("tools").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	page := openConsole(t, s)
	page.send("restart", url.Values{"server": {"odd"}})
	page.awaits("tools", "odd__sleep")
	if text := page.send("tool", url.Values{
		"tool": {"odd__sleep"}, "arguments": {`{"ms": 11000}`},
	}); !strings.Contains(text, "awake") || !strings.Contains(text, "Result after 11") {
		t.Error(text)
	}
}

// TestConsoleShowsTheAuditLog searches the rows of calls, from page to page, and shows a
// refused sign-in.
func TestConsoleShowsTheAuditLog(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, consoleAt(freePort(t), "")+"audit {\n  sync = \"full\"\n}\n")
	s := d.serveHTTP()
	client := &reloadClient{url: s.url}
	for range 120 {
		if _, err := client.call("steady__add"); err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := s.junctor("console", "--json")
	var link control.ConsoleLink
	if err := json.Unmarshal([]byte(out), &link); err != nil {
		t.Fatal(err)
	}
	browser := newBrowser(t)
	_, page, _ := load(t, browser, link.URL)
	next, rows, pages := "audit?item=add", 0, 0
	for ; next != "" && pages < 5; pages++ {
		_, _, text := load(t, browser, strings.TrimSuffix(page.String(), "servers")+next)
		rows += strings.Count(text, `data-label="What"`)
		if !strings.Contains(text, "steady") {
			t.Fatal(text)
		}
		found := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(text)
		if next = ""; found != nil {
			next = strings.ReplaceAll(found[1], "&amp;", "&")
		}
	}
	if rows != 120 || pages != 2 {
		t.Errorf("%d rows on %d pages", rows, pages)
	}
	if _, _, text := load(t, browser,
		strings.TrimSuffix(page.String(), "servers")+"audit?show=failures"); strings.Contains(text, "steady") {
		t.Errorf("calls without errors are shown as errors:\n%s", consoletest.Said(text))
	}
}
