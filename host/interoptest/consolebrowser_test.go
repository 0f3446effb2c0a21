package interoptest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A tab is a tab of a headless Chromium.
type tab struct {
	t     *testing.T
	ctx   context.Context
	width int64
	base  string // of all addresses that the tab may load
	plain bool   // scripts are off

	mu       sync.Mutex
	problems []string // guarded by mu; what a page must not do
}

// openTab starts Chromium with an empty profile. Without one the test is skipped, unless
// JUNCTOR_REQUIRE_BROWSER is set.
func openTab(t *testing.T, width int64, base string, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("JUNCTOR_REQUIRE_BROWSER") != "" {
			t.Fatal("a browser is required, and there is no chromium in PATH")
		}
		skip(t, "the console in a browser: there is no chromium in PATH")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		cancel()
	})
	b := &tab{t: t, ctx: ctx, width: width, base: base}
	if err := chromedp.Listen(ctx, b.heard); err != nil { // starts the browser, whose life is that of ctx
		t.Fatal(err)
	}
	command(b, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
	command(b, network.Enable, network.EnableParams{})
	command(b, log.Enable, cdp.Empty{})
	return b
}

// heard takes note of what a page of the console must not do.
func (b *tab) heard(event any) {
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		b.object("a dialog opens: %s", e.Message)
	case *runtime.EventExceptionThrown:
		b.object("a script fails: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity ||
			e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "status of 4") {
			b.object("the browser logs: %s", e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		if address := e.Request.URL; !strings.HasPrefix(address, b.base) && !strings.HasPrefix(address, "about:") &&
			!strings.HasPrefix(address, "data:image/") && !strings.HasPrefix(address, "data:audio/") &&
			!strings.HasPrefix(address, "chrome") {
			b.object("the page loads %s", address)
		}
	}
}

func (b *tab) object(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// expectNoProblems fails the test if a page did something that it must not do.
func (b *tab) expectNoProblems() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Error(p)
	}
	b.problems = nil
}

// do runs actions.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		_, text := b.text("body")
		b.t.Fatalf("at %s: %v\n%s", b.address(), err, consoletest.Said(text))
	}
}

// command sends a command of the protocol.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.t.Fatal(err)
	}
}

// result runs an action and returns its value.
func result[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// address returns the address of the page.
func (b *tab) address() string {
	address, _ := chromedp.Run(b.ctx, chromedp.Location())
	return address
}

// text returns the text of an element as it is shown.
func (b *tab) text(selector string) (found bool, text string) {
	ctx, cancel := context.WithTimeout(b.ctx, testTimeout)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[*string](fmt.Sprintf(
		`(() => { const e = document.querySelector(%s); return e ? e.innerText : null })()`, quotedJS(selector),
	)))
	if err != nil || got == nil { // the page may change now
		return false, ""
	}
	return true, *got
}

func quotedJS(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// shows waits until an element contains a text.
func (b *tab) shows(selector, want string) {
	b.t.Helper()
	eventually.NoError(b.t, func() error {
		_, got := b.text(selector)
		if strings.Contains(got, want) {
			return nil
		}
		_, all := b.text("body")
		return fmt.Errorf("%s: %s does not show %q, but %q\n%s", b.address(), selector, want, got, all)
	})
}

// open loads a page.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// follow clicks an entry of the navigation.
func (b *tab) follow(title string) {
	b.t.Helper()
	b.click(fmt.Sprintf(`//nav[@aria-label="Pages"]//a[normalize-space(.)=%q or starts-with(normalize-space(.), %q)]`,
		title, title+" "))
	b.shows("h1", title)
}

// click scrolls to an element and clicks it with the mouse. The selector is XPath or CSS.
func (b *tab) click(selector string) {
	b.t.Helper()
	if strings.HasPrefix(selector, "//") {
		b.do(chromedp.WaitVisible(selector), chromedp.Click(selector))
		return
	}
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// write replaces the text of a field by typing.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	field := chromedp.CSS(selector)
	b.do(chromedp.WaitVisible(field),
		chromedp.Evaluate[chromedp.Void](`document.querySelector(`+quotedJS(selector)+`).value = ""`),
		chromedp.SendKeys(field, text))
}

// capture checks the page and keeps pictures of it, in light and in dark, in the directory
// of JUNCTOR_SCREENSHOTS if that is set.
func (b *tab) capture(name string) {
	b.t.Helper()
	if overflow := result(
		b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`),
	); overflow > 0 {
		b.t.Errorf("%s is %d pixels wider than %d", name, overflow, b.width)
	}
	dir := os.Getenv("JUNCTOR_SCREENSHOTS")
	for _, scheme := range []string{"light", "dark"} {
		command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		b.accessible(name + ", " + scheme)
		if dir == "" {
			continue
		}
		picture := result(b, chromedp.FullScreenshot(100))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, b.width, scheme)), picture,
			0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// axeSource returns the script of axe-core.
var axeSource = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(npmAxe.path("node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

// accessible checks the page with axe-core. Without the kit or without scripts it does nothing.
func (b *tab) accessible(name string) {
	b.t.Helper()
	script, err := axeSource()
	if err != nil || b.plain {
		return
	}
	type violation struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	run := `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html}))})))`
	b.do(chromedp.Evaluate[chromedp.Void](script))
	for _, v := range result(b, chromedp.Evaluate[[]violation](run, chromedp.EvalAwaitPromise)) {
		if v.Impact != "minor" {
			b.t.Errorf("%s at %d pixels: axe-core finds %s (%s): %s: %+v",
				name, b.width, v.ID, v.Impact, v.Help, v.Nodes)
		}
	}
}

// expectUnharmed checks that no script of a server has run in the page.
func (b *tab) expectUnharmed(name string) {
	b.t.Helper()
	harm := result(b, chromedp.Evaluate[string](`[typeof window.pwned, document.title.endsWith("Junctor"), document.scripts.length, document.querySelectorAll("img, iframe, object, style, base").length, getComputedStyle(document.body).display !== "none", document.querySelectorAll("main").length].join()`))
	if harm != "undefined,true,1,0,true,1" {
		b.t.Errorf("%s: a text of a server is part of the page: %s", name, harm)
	}
}

// withoutScripts turns JavaScript of the pages off.
func (b *tab) withoutScripts() {
	b.plain = true
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// hostOf returns the scheme and the host of an address.
func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}
