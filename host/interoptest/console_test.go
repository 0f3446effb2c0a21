package interoptest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

const (
	aliceToken = "0123456789abcdef0123456789abcdef"
	bobToken   = "fedcba9876543210fedcba9876543210"
)

// A consoleSite is a gateway with a console.
type consoleSite struct {
	*endpoint
	base string // of the console
}

// serveConsole starts a gateway with a console for these servers.
func serveConsole(t *testing.T, more string, servers ...server) *consoleSite {
	t.Helper()
	s := newWorkspace(t, servers...).withSecrets()
	s.appendConfig(fmt.Sprintf(`gateway {
  http {
    auth "static_token" {
      token   = %q
      subject = "alice"
    }
    auth "static_token" {
      token   = %q
      subject = "bob"
    }
  }
}
console {
  listen  = "127.0.0.1:%d"
  admins  = ["alice"]
  viewers = ["bob"]
}
`, aliceToken, bobToken, freePort(t)) + more)
	c := &consoleSite{endpoint: s.serveHTTP()}
	c.base = hostOf(t, c.link())
	return c
}

// link returns a one-time link.
func (c *consoleSite) link() string {
	c.t.Helper()
	var link struct{ URL string }
	c.site.run("console", "--json").exits(0).into(&link)
	return link.URL
}

// call calls a tool of the gateway with a token and returns the response.
func (c *consoleSite) call(token, tool, arguments string) string {
	c.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"shell","version":"1"}}}}`,
		tool, arguments)
	return c.post(token, body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

// post sends a message to the gateway.
func (c *consoleSite) post(token, body string, headers ...string) string {
	c.t.Helper()
	r, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	headers = append(headers, "Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Timeout: testTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// TestConsoleTasks does the task of each page by clicking, on a small and on a large
// screen.
func TestConsoleTasks(t *testing.T) {
	t.Parallel()
	auth := newAuthServer(t)
	menu, pinned := filepath.Join(t.TempDir(), "tools.json"), filepath.Join(t.TempDir(), "tools.json")
	writeMenu(t, menu, "Reads a file.")
	writeMenu(t, pinned, "Reads a file.")
	c := serveConsole(t, "policy {\n  default = \"allow\"\n  subject \"bob\" {\n    confirm {\n      tools = [\"greet\"]\n    }\n  }\n}\n",
		server{name: "demo", command: []string{program("demo")}},
		server{name: "broken", command: []string{program("odd"), "exit"}},
		server{name: "menu", command: []string{program("odd"), "menu", menu}},
		auth.server("  auth \"oauth\" {\n  }\n"),
		server{
			name: "pinned", command: []string{program("odd"), "menu", pinned},
		}.with("  definitions = \"first_use\"\n"))
	for _, width := range []int64{360, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			rarely(t)
			npmAxe.require(t)
			b := openTab(t, width, c.base)
			b.open(c.base)
			b.shows("h1", "Sign in")
			b.capture("sign-in")
			b.write("#token", bobToken)
			b.click(`//button[.="Sign in"]`)
			b.shows("header", "bob viewer")
			b.click(`//button[.="Sign out"]`)
			b.shows("h1", "Sign in")
			b.open(c.link())
			b.serversTask()
			b.changesTask(menu)
			b.heldTask(pinned)
			b.toolsTask()
			b.accessTask()
			b.approvalTask(c)
			b.loginTask(c)
			b.listsTask(c)
			b.expectNoProblems()
		})
	}
	t.Run("keyboard", func(t *testing.T) {
		rarely(t)
		openTab(t, 1440, c.base).keyboardTask(c)
	})
	t.Run("no scripts", func(t *testing.T) {
		b := openTab(t, 1440, c.base)
		b.withoutScripts()
		b.open(c.link())
		b.restart("demo")
		b.follow("Servers")
		b.heldTask(pinned)
	})
	t.Run("live", func(t *testing.T) {
		b := openTab(t, 1440, c.base)
		b.open(c.link())
		b.shows("#live-state", "Live")
		before := c.call(aliceToken, "demo__add", `{"a":1,"b":1}`)
		if !strings.Contains(before, `"sum":2`) {
			t.Fatal(before)
		}
		b.shows(`#servers tbody tr:first-child td[data-label="Last used"]`, "ago") // without loading the page
		b.expectNoProblems()
	})
}

// restart starts a server that was not used yet, or restarts it.
func (b *tab) restart(server string) {
	b.t.Helper()
	b.click(fmt.Sprintf(`//button[@aria-label="Start %s" or @aria-label="Restart %s"]`, server, server))
	b.shows(".flash", "Server "+server+" ")
}

func (b *tab) serversTask() {
	b.t.Helper()
	b.shows("h1", "Servers")
	b.shows("#servers", "5 servers")
	b.restart("demo")
	b.shows("h1 .state", "ready")
	b.capture("server")
	b.follow("Servers")
	b.restart("broken")
	b.shows("h1 .state", "failed")
	b.do(chromedp.Reload())
	b.shows("pre.log", "cannot open the database: no such file")
	b.shows(".problem", "exited with status 3")
	b.capture("server-failed")
	b.follow("Servers")
	b.shows("#servers", "not working")
	b.capture("servers")
}

// writeMenu writes the tools of the server that reads them from a file.
func writeMenu(t *testing.T, file, description string) {
	t.Helper()
	text := fmt.Sprintf(`{"tools":[{"name":"read","description":%q,"inputSchema":{"type":"object"}}]}`, description)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// changesTask looks at what a server changed about its tool.
func (b *tab) changesTask(menu string) {
	b.t.Helper()
	b.restart("menu")
	b.shows("h1 .state", "ready")
	b.follow("Servers")
	changed := fmt.Sprintf("Reads a file, and sends it to <b>%d</b>.", b.width)
	writeMenu(b.t, menu, changed)
	b.restart("menu")
	eventually.True(b.t, "the change is shown", func() bool {
		b.do(chromedp.Reload())
		return strings.Contains(b.changes(), changed)
	})
	b.click(`//summary[.="description"]`)
	b.shows("td details[open]", changed)
	b.capture("server-changed")
	b.follow("Servers")
}

// reload loads the page again until an element contains a text.
func (b *tab) reload(selector, want string) {
	b.t.Helper()
	eventually.NoError(b.t, func() error {
		_, text := b.text(selector)
		if strings.Contains(text, want) {
			return nil
		}
		b.do(chromedp.Reload())
		return fmt.Errorf("%s: %s does not show %q, but %q", b.address(), selector, want, text)
	})
}

// heldTask accepts a changed tool of a server whose tools are pinned.
func (b *tab) heldTask(menu string) {
	b.t.Helper()
	b.restart("pinned")
	b.reload("h1 .state", "ready")
	b.follow("Servers")
	changed := fmt.Sprintf("Reads a file at %d, and sends it to <b>%s</b>.", b.width, b.t.Name())
	writeMenu(b.t, menu, changed)
	b.restart("pinned")
	b.reload(`section[aria-labelledby="held"] details[open]`, changed)
	b.capture("server-held")
	b.follow("Servers")
	b.shows("#servers", "1 held back")
	b.capture("servers-held")
	b.click(`//a[.="1 held back"]`)
	b.click(`button[aria-label="Accept read"]`)
	b.shows(".flash", "Accepted: tool read of pinned.")
	if found, text := b.text(`section[aria-labelledby="held"]`); found {
		b.t.Errorf("the accepted tool is still held back:\n%s", consoletest.Said(text))
	}
	b.follow("Tools")
	b.shows("table", changed)
	b.follow("Servers")
}

// changes returns the text of the table of changed tools; empty: there is none.
func (b *tab) changes() string {
	return result(b,
		chromedp.Evaluate[string](`document.querySelector('[aria-labelledby="changes"]')?.textContent ?? ""`))
}

func (b *tab) toolsTask() {
	b.t.Helper()
	b.follow("Tools")
	b.shows("table", "demo__greet")
	b.write("#q", "two numbers"+kb.Enter)
	b.shows(".summary", "1 to 1 of 1")
	b.capture("tools")
	b.click(`//a[.="demo__add"]`)
	b.shows("h1", "Tool demo__add")
	b.write("#arg0", "2")
	b.write("#arg1", "40")
	b.click(`//button[.="Call the tool"]`)
	b.shows("#outcome", `"sum": 42`)
	b.capture("tool")
	b.write("#arg0", "x")
	b.click(`//button[.="Call the tool"]`)
	b.shows("#outcome", "1 argument to correct:")
	b.shows("#arg0-error", "must be")
	b.capture("tool-wrong")
	b.writeJSON(`{"a": "x"}`)
	b.shows("#outcome", "error")
	b.writeJSON(`[1]`)
	b.shows("#outcome", "not a JSON object")
}

// writeJSON calls the tool of the page with arguments that are written as JSON.
func (b *tab) writeJSON(arguments string) {
	b.t.Helper()
	b.shows("main", "Arguments as JSON") // the page may still be loading
	if !result(b, chromedp.Evaluate[bool](`document.querySelector("#arguments").closest("details").open`)) {
		b.click(`//summary[.="Arguments as JSON"]`)
	}
	b.write("#arguments", arguments)
	b.click(`//button[.="Call with JSON"]`)
}

func (b *tab) accessTask() {
	b.t.Helper()
	b.click(`//a[.="Who may use it"]`)
	b.shows("h1", "Who may use it")
	b.write("#tool", "demo__greet")
	b.write("#subject", "bob")
	b.write("#arguments", `{"name": "Ada"}`)
	b.click(`//button[.="Explain"]`)
	b.shows(".verdict", "confirm")
	b.shows("table", "decides")
	b.capture("access")
	b.write("#subject", "alice")
	b.click(`//button[.="Explain"]`)
	b.shows(".verdict", "allowed")
	b.follow("Policy table")
	b.shows("table", "demo__greet")
	b.capture("policy")
	b.write("#who", "bob"+kb.Enter)
	b.shows(".summary", "1 principal.")
	b.click(`//tr[.//a[.="demo__greet"]]//a[starts-with(., "confirm")]`)
	b.shows("h1", "Who may use it")
	b.click(`//button[.="Explain"]`)
	b.shows(".verdict", "confirm")
}

func (b *tab) approvalTask(c *consoleSite) {
	b.t.Helper()
	arguments := fmt.Sprintf("{\"name\": \"Ada at %d <b>pixels</b>\u202e\", \"language\": \"en\"}", b.width)
	if got := c.call(bobToken, "demo__greet", arguments); !strings.Contains(got, "needs an approval") {
		b.t.Fatal(got)
	}
	b.follow("Approvals")
	b.shows("article pre", fmt.Sprintf(`"name": "Ada at %d <b>pixels</b>\u202e"`, b.width))
	b.shows("article", "bob")
	b.capture("approvals")
	b.click(`button[value="approve"]`)
	b.shows(".flash", "Approved: tool greet of demo for bob")
	if got := c.call(bobToken, "demo__greet", arguments); !strings.Contains(got, "Hello, Ada") {
		b.t.Error(got)
	}
	if got := c.call(bobToken, "demo__greet", fmt.Sprintf(`{"name": "Eve at %d"}`, b.width)); !strings.Contains(got,
		"needs an approval") {
		b.t.Fatal(got)
	}
	b.follow("Approvals")
	b.click(`button[value="deny"]`)
	b.shows(".flash", "Denied: tool greet")
	if got := c.call(bobToken, "demo__greet", fmt.Sprintf(`{"name": "Eve at %d"}`, b.width)); !strings.Contains(got,
		"not approved") {
		b.t.Error(got)
	}
	b.capture("approvals-answered")
}

func (b *tab) loginTask(c *consoleSite) {
	b.t.Helper()
	b.follow("Logins")
	b.shows("table", "oauth")
	if _, text := b.text("table"); strings.Contains(text, "ready") { // of the round before
		b.capture("logins")
		return
	}
	b.click(`button[aria-label="Log in to up"]`)
	b.shows(".flash", "has begun")
	b.shows("td.act a", "Open the page")
	b.capture("logins-begun")
	page := result(b, chromedp.AttributeValue(chromedp.CSS("td.act a"), "href")).Value
	if !strings.HasPrefix(page, "http://127.0.0.1:") || !strings.Contains(page, "/authorize?") {
		b.t.Fatalf("the page is %s", consoletest.Said(page))
	}
	if resp, err := http.Get(page); err != nil { // logs in, and returns to Junctor
		b.t.Fatal(err)
	} else {
		_ = resp.Body.Close()
	}
	eventually.NoError(b.t, func() error {
		b.follow("Logins")
		if _, text := b.text("table"); !strings.Contains(text, "ready") {
			return fmt.Errorf("the login does not end:\n%s\n%s", text, c.stderr)
		}
		return nil
	})
	b.capture("logins")
}

func (b *tab) listsTask(c *consoleSite) {
	b.t.Helper()
	c.post(aliceToken, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client of %d","version":"1"}}}`,
		b.width))
	b.follow("Sessions")
	b.shows("table", fmt.Sprintf("client of %d", b.width))
	b.capture("sessions")
	b.follow("Plugins")
	b.shows("#processes", "stdio")
	b.shows("main", "builtin/stdio")
	b.capture("plugins")
	b.follow("Limits")
	b.capture("limits")
	eventually.True(b.t, "the charts show calls", func() bool {
		b.follow("Charts")
		_, text := b.text("#calls-text") // there is a sample every ten seconds
		return !strings.HasPrefix(text, "0 calls")
	})
	b.shows("#costs", "demo")
	b.click("details summary")
	b.shows("details table", "Calls in periods")
	b.capture("charts")
	b.follow("Log")
	b.shows("table", "signed in to the console")
	b.write("#q", "signed in"+kb.Enter)
	b.shows("#log", "subject")
	b.capture("log")
	b.follow("Events")
	b.shows("table", "session.opened")
	b.capture("events")
	b.follow("Resources and prompts")
	b.shows("table", "demo")
	b.capture("items")
	b.click(`//table//a[.="demo://about"]`)
	b.click(`//button[.="Read the resource"]`)
	b.shows("#outcome", "junctor joins")
	b.capture("item")
	b.follow("Resources and prompts")
	b.click(`//table//a[.="demo__introduce"]`)
	b.write("#arg0", "Ada")
	b.click(`//button[.="Get the prompt"]`)
	b.shows("#outcome", "Introduce Ada")
	b.capture("item-prompt")
	b.follow("Configuration")
	b.shows("main", "junctor.hcl")
	b.capture("configuration")
	b.click(`//button[.="Reload"]`)
	b.shows("#outcome", "No server has changed.")
	b.capture("configuration-reloaded")
	b.follow("Audit log")
	b.shows(".empty", "The audit log is off")
	b.capture("audit-off")
}

// keyboardTask uses the keyboard alone.
func (b *tab) keyboardTask(c *consoleSite) {
	b.open(c.link())
	b.shows("h1", "Servers")
	focused := func() string {
		return result(b, chromedp.Evaluate[string](`(document.activeElement.getAttribute("aria-label") || document.activeElement.innerText || document.activeElement.id || "").trim()`))
	}
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := focused(); got != "Skip to the content" {
		b.t.Errorf("the first element with the focus is %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if got := focused(); got != "Configuration" {
		b.t.Errorf("behind the link to the content the focus is on %q", got)
	}
	if outline := result(b, chromedp.Evaluate[string](
		`getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth`,
	)); outline != "solid2px" {
		b.t.Errorf("the focus is shown as %q", outline)
	}
	reach := func(names ...string) {
		b.t.Helper()
		for range 40 {
			if slices.Contains(names, focused()) {
				return
			}
			b.do(chromedp.KeyEvent(kb.Tab))
		}
		b.t.Fatalf("%q is not reached: %q", names, focused())
	}
	reach("Start demo", "Restart demo")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.shows(".flash", "Server demo ")
	b.reload("h1 .state", "ready")
	b.follow("Tools")
	b.click(`//a[.="demo__add"]`)
	b.shows("h1", "Tool demo__add")
	reach("arg0")
	b.do(chromedp.KeyEvent("2"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("40"))
	reach("Call the tool")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.shows("#outcome", `"sum": 42`)
	b.follow("Policy table")
	reach("Policy table") // the region scrolls with the arrow keys
	b.follow("Configuration")
	reach("Reload")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.shows("#outcome", "No server has changed.")
}

// TestConsoleWithHostileServer opens every page about a server whose texts attack it.
func TestConsoleWithHostileServer(t *testing.T) {
	t.Parallel()
	rarely(t)
	npmAxe.require(t)
	web := server{name: "web", command: []string{program("odd"), "web"}}
	c := serveConsole(t, "", web.with("  describe = \"verbatim\"\n"), web.under("mild"))
	for _, width := range []int64{360, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := openTab(t, width, c.base)
			b.open(c.link())
			for _, name := range []string{"web", "mild"} {
				b.follow("Servers")
				b.restart(name)
				b.shows("h1 .state", "ready")
				b.do(chromedp.Reload())
				b.shows("pre.log", "window.pwned=6")
				b.capture("hostile-server")
				b.expectUnharmed("the page of the server")
			}
			b.follow("Tools")
			b.shows("table", "web__attack")
			b.expectUnharmed("the tools")
			b.capture("hostile-tools")
			for _, tool := range []string{"web__attack", "web__large", "mild__attack"} {
				b.follow("Tools")
				b.click(`//a[.="` + tool + `"]`)
				b.shows("h1", tool)
				b.expectUnharmed(tool)
				b.writeJSON(`{"x": "<script>window.pwned=10</script>"}`)
				b.shows("#outcome", "window.pwned=9")
				b.expectUnharmed("the result of " + tool)
				b.capture("hostile-" + strings.ReplaceAll(tool, "__", "-"))
			}
			for _, title := range []string{"Sessions", "Approvals", "Logins", "Plugins", "Limits", "Charts",
				"Audit log", "Resources and prompts", "Policy table", "Log", "Events", "Configuration"} {
				b.follow(title)
				b.expectUnharmed(title)
			}
			b.expectNoProblems()
		})
	}
	if text, err := os.ReadFile(c.site.config); err != nil ||
		strings.Contains(c.stderr.String(), "recovered from a panic") {
		t.Errorf("%v\n%s\n%s", err, text, c.stderr)
	}
}
