//go:build unix

package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
)

// TestConsoleAcceptsTools accepts a changed tool in the console. The digest that was shown
// counts: a definition that changed again meanwhile is not accepted.
func TestConsoleAcceptsTools(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	build(t, filepath.Join(d.site.dir, "odd"), "./testdata/odd")
	menu, lock := filepath.Join(d.site.dir, "tools.json"), filepath.Join(d.site.dir, "junctor.lock.hcl")
	describe := func(text string) {
		t.Helper()
		tools := `{"tools":[{"name":"sleep","description":%q,"inputSchema":{"type":"object"}},{"name":"delete_all","inputSchema":{"type":"object"}}]}`
		if err := os.WriteFile(menu, fmt.Appendf(nil, tools, text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locked := func() string {
		t.Helper()
		text, err := os.ReadFile(lock)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	describe("Sleeps.")
	rewriteConfig(t, d.path, fmt.Sprintf(`console {
  listen = "127.0.0.1:%s"
}
audit {
  sync = "full"
}
server "menu" {
  definitions = "first_use"
  transport "stdio" {
    command = ["./odd", "menu", "tools.json"]
  }
}
`, freePort(t)))
	s := d.serveHTTP()
	client := &reloadClient{url: s.url}
	call := func() string {
		t.Helper()
		m, err := client.request("tools/call",
			map[string]any{"name": "menu__sleep", "arguments": map[string]any{"ms": 1}})
		if err != nil {
			t.Fatal(err)
		}
		return string(m.Result) + string(m.Error)
	}
	if got := call(); !strings.Contains(got, "awake") {
		t.Fatal(got)
	}
	first := locked()
	page := openConsole(t, s)
	digests := regexp.MustCompile(`name="tool" value="sleep"><input type="hidden" name="digest" value="([0-9a-f]{64})"`)
	changeTo := func(text string) (digest string) {
		t.Helper()
		describe(text)
		page.send("restart", url.Values{"server": {"menu"}})
		page.awaits("server?name=menu", text)
		shown := page.awaits("server?name=menu", `name="digest"`) // the change is shown, then that it is held
		found := digests.FindStringSubmatch(shown)
		if found == nil || !strings.Contains(shown, text) || !strings.Contains(shown, "Held back") ||
			!strings.Contains(shown, "Sleeps.") || !strings.Contains(shown, "first_use") {
			t.Fatal(shown)
		}
		return found[1]
	}
	before := changeTo("Sleeps, and reads your keys.")
	if text := page.awaits("servers", "1 held back"); !strings.Contains(text, "server?name=menu#held") {
		t.Error(text)
	}
	if got := call(); !strings.Contains(got, "-31013") || !strings.Contains(got, "quarantined") {
		t.Errorf("a changed tool: %s", got)
	}
	digest := changeTo("Sleeps longer.")
	if text := page.send("accept", url.Values{
		"server": {"menu"}, "tool": {"sleep"}, "digest": {before},
	}); !strings.Contains(text, "changed again since it was shown") || !strings.Contains(text, digest) {
		t.Errorf("the digest before:\n%s", consoletest.Said(text))
	}
	if text := page.send("accept",
		url.Values{"server": {"menu"}, "tool": {"delete_all"}, "digest": {digest}}); !strings.Contains(text,
		"is not held back") {
		t.Errorf("a tool that is not held back:\n%s", consoletest.Said(text))
	}
	if now := locked(); now != first || !strings.Contains(call(), "-31013") {
		t.Errorf("refused forms changed something:\n%s", now)
	}
	if text := page.send("accept", url.Values{
		"server": {"menu"}, "tool": {"sleep"}, "digest": {digest},
	}); !strings.Contains(text, "Accepted: tool sleep of menu.") || strings.Contains(text, "Held back") {
		t.Errorf("the digest that is shown:\n%s", consoletest.Said(text))
	}
	if now := locked(); !strings.Contains(now, digest) || strings.Contains(first, digest) {
		t.Errorf("the lock file has not %s:\n%s", digest, now)
	}
	if got := call(); !strings.Contains(got, "awake") {
		t.Errorf("the accepted tool: %s", got)
	}
	page.awaits("tools", "Sleeps longer.")
	row := regexp.MustCompile(`<span class="state ok">ok</span>[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*the user of this machine, in the console<[^\n]*accepted sleep<`)
	if rows := page.awaits("audit?what=tool_change", "accepted sleep"); !row.MatchString(rows) ||
		strings.Count(rows, `class="state failed"`) != 2 {
		t.Errorf("the audit log does not name the person:\n%s", consoletest.Said(rows))
	}
	if _, errs, status := s.junctor("lock", "--check"); status != 0 {
		t.Errorf("lock --check: %d %s", status, errs)
	}
}
