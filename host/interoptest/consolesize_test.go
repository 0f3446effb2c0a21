package interoptest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/usage"
)

// A large process has 10 000 tools and 100 000 rows in its audit log. What its pages do
// not need is nil.
type large struct {
	tools []*catalog.Tool
	rows  int64
}

func (large) Status(context.Context) *control.Status {
	return &control.Status{Servers: []*control.Server{{Server: "files", State: "ready"}}}
}

func (large) Calls(approval.Person, bool) []control.Approval { return nil }

func (large) Answer(string, approval.Answer) (*control.Approval, error) { return nil, nil }

func (large) Revoke(string, approval.Person) (*control.Approval, error) { return nil, nil }

func (large) Configured() console.Configured { return console.Configured{} }

func (large) Settings(string) []console.Setting { return nil }

func (large) Reload(context.Context, string) (*control.Reloaded, *control.Failure) { return nil, nil }

func (large) Restart(_, _ string) error { return nil }

func (large) LastLines(context.Context, string) []string { return nil }

func (large) Changes(string) []catalog.Change { return nil }

func (large) Instructions(string) string { return "" }

// Pinned returns changes of thousands of tools.
func (l large) Pinned(string) (pinned console.Pinned) {
	pinned.Definitions = "locked"
	for i := range min(len(l.tools), 5000) {
		pinned.Differences = append(pinned.Differences, pins.Difference{
			Tool: fmt.Sprintf("tool%d", i), Pinned: "before", Digest: "after",
			Members: []catalog.MemberChange{{Name: "description", Before: fmt.Appendf(nil, `"%0500d"`, i),
				After: fmt.Appendf(nil, `"%0600d"`, i)}},
		})
	}
	return pinned
}

func (l large) Held() map[string]int { return map[string]int{"files": len(l.tools)} }

func (large) AcceptTools(string, map[string]string, string) error { return nil }

func (large) Totals() map[string]usage.Totals { return nil }

func (l large) List() []*catalog.Tool { return l.tools }

func (l large) Find(string) (*catalog.Tool, bool) { return l.tools[0], true }

// Search returns rows before a sequence number, the latest first.
func (l large) Search(_ context.Context, f console.AuditFilter) (page console.AuditPage, err error) {
	seq := l.rows
	if f.Before > 0 {
		seq = f.Before - 1
	}
	for ; seq > 0 && len(page.Rows) < f.Limit; seq-- {
		page.Rows = append(page.Rows, console.AuditRow{
			Seq: seq, Time: time.Unix(seq, 0), What: "tools/call", Subject: "alice", Tenant: "default", Server: "files",
			Item: fmt.Sprintf("tool%d", seq), Outcome: "ok", Duration: time.Millisecond,
			Details: []console.Detail{{Name: "Request", Value: fmt.Sprint(seq)}},
		})
	}
	page.More = seq > 0
	return page, nil
}

// callTools completes the tools of a large process.
type callTools struct {
	console.Tools
	large
}

func (c callTools) List() []*catalog.Tool { return c.large.List() }

func (c callTools) Find(name string) (*catalog.Tool, bool) { return c.large.Find(name) }

// callPolicy is a policy with many principals.
type callPolicy struct {
	console.Policy
	large
}

func (callPolicy) Named() (all []console.NamedPrincipal) {
	for i := range 500 {
		all = append(all,
			console.NamedPrincipal{Name: fmt.Sprintf("user%d", i),
				Who: authn.Principal{Subject: fmt.Sprintf("user%d", i)}})
	}
	return all
}

func (callPolicy) Decide(*authn.Principal, *catalog.Tool) policy.Decision { return policy.Decision{} }

// serveSources serves a console of these sources in this process.
func serveSources(t *testing.T, s console.Sources) (server *console.Server, web *httptest.Server) {
	t.Helper()
	web = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(w, r)
	}))
	server = console.New(console.Options{Sources: s, Log: hclog.NewNullLogger(), Version: "1",
		Settings: console.Settings{Address: web.Listener.Addr()}})
	web.Start()
	t.Cleanup(web.Close)
	return server, web
}

// maxPaint is the longest time to the first paint of a page.
const maxPaint = 500 * time.Millisecond

// TestConsoleOfLargeProcess measures the time to the first paint of the lists of a large
// process, and goes through their pages.
func TestConsoleOfLargeProcess(t *testing.T) {
	rarely(t)
	l := large{rows: 100_000}
	for i := range 10_000 {
		name := fmt.Sprintf("tool%d", i)
		l.tools = append(l.tools, &catalog.Tool{
			Item: catalog.Item{
				Server: fmt.Sprintf("server%d", i/100), Name: name, Exposed: fmt.Sprintf("server%d__%s", i/100, name),
				Description: strings.Repeat("Reads a file of the project. ", 20),
			},
			Input: []byte(`{"type":"object","properties":{` + strings.Repeat(`"path":{"type":"string"},`,
				30) + `"x":{}}}`),
		})
	}
	server, web := serveSources(t, console.Sources{Process: l, Servers: l, Pins: l, Tools: callTools{large: l},
		Approvals: l, Traffic: l, Configuration: l, Policy: callPolicy{large: l}, Audit: l})
	for _, width := range []int64{360, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := openTab(t, width, web.URL)
			path, _, _ := server.Link()
			b.open(web.URL + path)
			base := strings.TrimSuffix(b.address(), "servers")
			for _, page := range []string{"tools", "tools?page=50", "tools?page=100", "tools?q=tool9999", "audit",
				"audit?before=50000", "charts", "server?name=files", "policy", "policy?page=100", "tool?name=tool0",
				"access"} {
				b.open(base + page)
				paint := b.firstPaint()
				t.Logf("%s: first paint after %s", page, paint)
				if paint > maxPaint {
					t.Errorf("%s: first paint after %s, more than %s", page, paint, maxPaint)
				}
			}
			b.open(base + "tools")
			b.click(`//a[@rel="next"]`)
			b.shows(".summary", "101 to 200 of 10\u202f000")
			b.capture("large-tools")
			b.open(base + "audit")
			b.click(`//a[@rel="next"]`)
			b.shows("tbody tr:first-child th", "99900")
			b.capture("large-audit")
			b.open(base + "policy")
			b.capture("large-policy")
			b.expectNoProblems()
		})
	}
}

// firstPaint returns the time from the request of the page to its first paint.
func (b *tab) firstPaint() time.Duration {
	b.t.Helper()
	const measure = `new Promise(done => { const look = () => { const p = performance.getEntriesByType("paint")[0]; if (p) done(p.startTime); else setTimeout(look, 5) }; look() })`
	ms := result(b, chromedp.Evaluate[float64](measure, chromedp.EvalAwaitPromise))
	return time.Duration(ms * float64(time.Millisecond))
}
