//go:build unix

package main

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
)

// TestConsoleReloads reloads from the page of the configuration: one with another server, a
// wrong one, and one that moves the console.
func TestConsoleReloads(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	port := freePort(t)
	const log = "audit {\n  sync = \"full\"\n}\n"
	rewriteConfig(t, d.path, consoleAt(port, "")+log)
	s := d.serveHTTP()
	page := openConsole(t, s)
	reload := func() string { return page.send("configuration", url.Values{}) }
	expect := func(name, text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: the page does not say %q\n%s", name, w, consoletest.Said(text))
			}
		}
	}
	expect("nothing new", reload(), "No server has changed.", ">Reloaded</h2>")
	more := consoleAt(port, "") + log +
		"server \"more\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"
	rewriteConfig(t, d.path, more)
	s.trust()
	expect("another server", reload(), "1 server added: more")
	page.awaits("server?name=more", "not started")
	rewriteConfig(t, d.path, more+"server \"unclosed\" {\n")
	s.trust()
	expect("a wrong configuration", reload(), "The configuration in effect stays", "junctor.hcl:")
	page.awaits("configuration", "The last reload failed")
	page.awaits("servers", "The last reload failed")
	page.awaits("events?type=reload", "reload.failed")
	page.awaits("log?level=error", "was not reloaded")
	page.awaits("audit?what=reload", "the user of this machine, in the console")
	next := freePort(t)
	rewriteConfig(t, d.path, strings.ReplaceAll(more, port, next))
	s.trust()
	form := url.Values{"csrf": {page.token}}
	if resp, err := page.browser.PostForm(page.base.JoinPath("configuration").String(), form); err == nil {
		// The listener may close before the answer.
		_ = resp.Body.Close()
	}
	for until := time.Now().Add(reloadPatience); !strings.Contains(s.status().Console, next); {
		if time.Now().After(until) {
			t.Fatal("the console does not move")
		}
	}
	page.base.Host = "127.0.0.1:" + next
	page.awaits("configuration", "reloaded 3 times")
}
