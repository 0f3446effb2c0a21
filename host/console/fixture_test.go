package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a process for the pages. It records what is done to it.
type fake struct {
	mu       sync.Mutex
	status   control.Status
	tools    []*catalog.Tool
	pending  []control.Approval
	logins   []Login
	programs []Program
	lines    []string
	changes  []catalog.Change

	instructions string
	pinned       Pinned // of the server files
	totals       map[string]usage.Totals
	items        Items
	named        []NamedPrincipal
	settings     []Setting
	failure      *control.Failure // of a reload

	configured Configured

	result  Result
	rows    []AuditRow
	records []*logbuffer.Record
	events  []event.Event
	did     []string
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, fmt.Sprintf(format, args...))
}

func (f *fake) done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.did)
}

func (f *fake) Status(context.Context) *control.Status { return &f.status }

func (f *fake) Restart(server, by string) error {
	if server == "unknown" {
		return fault.New(fault.UpstreamUnknown, "no server with this name").WithHint("run junctor status")
	}
	f.note("restart %s by %s", server, by)
	return nil
}

func (f *fake) LastLines(context.Context, string) []string { return f.lines }

func (f *fake) Changes(string) []catalog.Change { return f.changes }

func (f *fake) Instructions(string) string { return f.instructions }

func (f *fake) Pinned(server string) Pinned {
	f.mu.Lock()
	defer f.mu.Unlock()
	if server != f.status.Servers[0].Server {
		return Pinned{Definitions: "any"}
	}
	return Pinned{Definitions: f.pinned.Definitions, Differences: slices.Clone(f.pinned.Differences)}
}

func (f *fake) Held() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, d := range f.pinned.Differences {
		if d.Digest != "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return map[string]int{f.status.Servers[0].Server: n}
}

func (f *fake) AcceptTools(server string, digests map[string]string, by string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for tool, digest := range digests {
		if !slices.ContainsFunc(f.pinned.Differences,
			func(d pins.Difference) bool { return d.Tool == tool && d.Digest == digest }) {
			return fault.New(fault.ToolHeld, "the definition of tool %q of server %q changed again", tool, server).
				WithHint("look at it again")
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(digests)) {
		f.did = append(f.did, fmt.Sprintf("accept %s %s of %s by %s", tool, digests[tool], server, by))
		f.pinned.Differences = slices.DeleteFunc(f.pinned.Differences,
			func(d pins.Difference) bool { return d.Tool == tool })
	}
	return nil
}

func (f *fake) List() []*catalog.Tool { return f.tools }

func (f *fake) Items() Items { return f.items }

func (f *fake) Find(name string) (*catalog.Tool, bool) {
	i := slices.IndexFunc(f.tools, func(t *catalog.Tool) bool { return t.Exposed == name })
	if i < 0 {
		return nil, false
	}
	return f.tools[i], true
}

func (f *fake) Call(_ context.Context, c Caller, t *catalog.Tool, args []byte) (Result, error) {
	f.note("call %s %s as %s at %s", t.Exposed, args, c.Principal.Subject, c.Address)
	return f.result, nil
}

func (f *fake) Read(_ context.Context, c Caller, server, uri string) (Result, error) {
	f.note("read %s of %s as %s at %s", uri, server, c.Principal.Subject, c.Address)
	return f.result, nil
}

func (f *fake) Prompt(_ context.Context, c Caller, p *catalog.Prompt, args map[string]string) (Result, error) {
	f.note("get %s %v as %s at %s", p.Exposed, args, c.Principal.Subject, c.Address)
	return f.result, nil
}

func (f *fake) Principal(subject, tenant string) authn.Principal {
	return authn.Principal{Subject: subject, Tenant: tenant, Roles: []string{"known"}}
}

func (f *fake) Explain(u Use) (x policy.Explanation, err error) {
	if u.Address == "nowhere" {
		return x, fault.New(fault.Usage, "the address is no address such as 10.0.0.7")
	}
	f.note("explain %s for %s %v %v %s", u.Tool.Exposed, u.Who.Subject, u.Who.Roles, u.Who.Groups, u.Args)
	if from := u.Address + u.Client + u.Time + u.Who.Issuer; from != "" {
		f.note("from %s %s %s %s %v", u.Address, u.Client, u.Time, u.Who.Issuer, u.Who.Scopes)
	}
	if u.Who.Subject == "failing" {
		when := condition.New(`startswith(args.x, "a")`,
			&condition.Call{Name: "startswith", Args: []condition.Expression{
				&condition.Reference{Root: "args", Path: []condition.Step{{Name: "x"}}},
				&condition.Constant{Value: condition.Text("a")},
			}})
		p := policy.New(map[string]policy.Server{u.Tool.Server: {}},
			policy.Rules{Given: true, Rules: []policy.Rule{{Effect: policy.Denies, When: when, At: "junctor.hcl:3:1"}}})
		return p.Explain(&policy.Query{Principal: &u.Who,
			Item: policy.Item{Server: u.Tool.Server, Kind: policy.Tool, Name: u.Tool.Name}, Args: u.Args}, false), nil
	}
	if need, ok := needs[u.Who.Subject]; ok {
		p := policy.New(map[string]policy.Server{u.Tool.Server: {}}, policy.Rules{Given: true,
			Rules: []policy.Rule{{Effect: policy.Confirms, Approval: need, At: "junctor.hcl:3:1"}}})
		return p.Explain(&policy.Query{Principal: &u.Who,
			Item: policy.Item{Server: u.Tool.Server, Kind: policy.Tool, Name: u.Tool.Name}, Args: u.Args}, false), nil
	}
	return policy.Explanation{
		Decision: policy.Decision{Verdict: policy.Deny, Rule: "deny at junctor.hcl:3:1"},
		Roles:    []policy.HeldRole{{Role: "known", From: "credential", Known: true}},
		Rules: []policy.RuleResult{{Rule: "deny at junctor.hcl:3:1", Effect: "deny", Matched: true, Decided: true},
			{Rule: "allow at junctor.hcl:4:1", Effect: "allow", Why: "its condition is false", When: "args.a == 1"}},
	}, nil
}

func (f *fake) Named() []NamedPrincipal { return f.named }

func (f *fake) Decide(who *authn.Principal, t *catalog.Tool) policy.Decision {
	if who.Subject == "bob" && strings.Contains(t.Name, "write") {
		return policy.Decision{Verdict: policy.Confirm, Rule: "confirm at junctor.hcl:30:1"}
	}
	return policy.Decision{Verdict: policy.Allow, Rule: "allow at junctor.hcl:4:1"}
}

func (f *fake) Calls(who approval.Person, viewer bool) (all []control.Approval) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.pending {
		if a.Refusal = f.refusal(who, a); a.Refusal == "" || viewer {
			all = append(all, a)
		}
	}
	return all
}

// refusal is why a person may not approve: approvers may all, operators all but their own.
func (f *fake) refusal(who approval.Person, a control.Approval) string {
	switch {
	case who.Principal.Subject == "dora":
	case !who.Operator:
		return "not an operator"
	case who.Principal.Subject == a.Subject && who.Principal.Method != "local":
		return "You sent this call yourself"
	}
	return ""
}

func (f *fake) Revoke(id string, who approval.Person) (*control.Approval, error) {
	f.note("revoke %s by %s", id, who.Name)
	return &control.Approval{ID: id, State: "revoked"}, nil
}

func (f *fake) Answer(id string, a approval.Answer) (*control.Approval, error) {
	approve, by := a.Approve, a.Person.Name
	for _, call := range f.Calls(a.Person, true) {
		if call.ID == id && call.Refusal != "" && (approve || !a.Person.Operator) {
			return nil, fault.New(fault.ApprovalRefused, "%s", call.Refusal)
		}
	}
	f.note("approve %s %t by %s", id, approve, by)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, a := range f.pending {
		if a.ID == id && a.State == "waiting" {
			f.pending[i].State, f.pending[i].By = map[bool]string{true: "approved", false: "denied"}[approve], by
			done := f.pending[i]
			return &done, nil
		}
	}
	return nil, fault.New(fault.ApprovalUnknown, "nothing waits for an approval under %q", id)
}

func (f *fake) Logins(context.Context) []Login {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.logins)
}

func (f *fake) Begin(_ context.Context, server string) (string, error) {
	f.note("login %s", server)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.logins {
		if f.logins[i].Server == server {
			f.logins[i].Page = "https://auth.example.com/authorize?state=x"
			return f.logins[i].Page, nil
		}
	}
	return "", fault.New(fault.Usage, "server %q has no auth block", server)
}

func (f *fake) Programs() []Program {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.programs)
}

func (f *fake) AcceptProgram(plugin, digest, by string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range f.programs {
		if p.Plugin == plugin && p.OnDisk == digest {
			f.programs[i].Pin = digest
			f.did = append(f.did, fmt.Sprintf("accept program %s %s by %s", plugin, digest, by))
			return nil
		}
	}
	return fault.New(fault.PluginChecksum, "the program of plugin %q changed again", plugin).
		WithHint("look at it again")
}

func (f *fake) Totals() map[string]usage.Totals { return f.totals }

// Search is a log of rows, the latest first.
func (f *fake) Search(_ context.Context, filter AuditFilter) (page AuditPage, err error) {
	for _, r := range f.rows {
		if filter.Before > 0 && r.Seq >= filter.Before || filter.Subject != "" && r.Subject != filter.Subject ||
			filter.Errors && r.Outcome == "ok" || filter.Uses && r.What == "tools/list" ||
			filter.What != "" && r.What != filter.What {
			continue
		}
		if len(page.Rows) == filter.Limit {
			page.More = true
			break
		}
		page.Rows = append(page.Rows, r)
	}
	return page, nil
}

func (f *fake) Configured() Configured { return f.configured }

func (f *fake) Settings(string) []Setting { return f.settings }

func (f *fake) Reload(_ context.Context, by string) (*control.Reloaded, *control.Failure) {
	f.note("reload by %s", by)
	if f.failure != nil {
		return nil, f.failure
	}
	return &control.Reloaded{Generation: 4, Added: []string{"new"},
		Restart: []control.Pending{{Setting: "gateway.http.listen", Effect: "none"}}, Text: "warning: deprecated"}, nil
}

func (f *fake) Records() []*logbuffer.Record { return slices.Clone(f.records) }

func (f *fake) Events() []event.Event { return slices.Clone(f.events) }

func newFake() *fake {
	now := time.Now()
	f := &fake{
		status: control.Status{
			PID:        4711,
			Generation: control.Generation{Number: 3, Loaded: now.Add(-time.Hour), Path: "/etc/junctor/junctor.hcl"},
			Servers: []*control.Server{
				{Server: "files", OK: true, State: "ready", Transport: "stdio", Calls: 1204, InFlight: 1,
					At: "junctor.hcl:3:1", Tools: new(2), PID: 99, Memory: 40 << 20, P50: 12, P99: 80.4,
					ServerInfo: []byte(`{"name":"files","version":"2.1.0"}`), LastUsed: new(now.Add(-time.Minute))},
				{Server: "github", State: "needs_auth", Transport: "http", Calls: 31, Errors: 4, At: "junctor.hcl:9:1",
					Error: &fault.Document{Code: fault.UpstreamLogin, Message: "the server requires a login",
						Hint: "run junctor login github", Output: []string{"last words"}}},
				{Server: "idle", OK: true, State: "not_started", Transport: "stdio", At: "junctor.hcl:15:1"},
				{Server: "old", OK: true, State: "disabled", At: "junctor.hcl:20:1"},
			},
			Plugins: []control.Plugin{{Plugin: "stdio", Version: "1.0.0", State: "running", PID: 98, Memory: 9 << 20,
				Connections: 1}},
			Sessions: control.Sessions{Count: 1, List: []control.Session{{Client: "claude 1.0", Subject: "alice",
				Tenant: "default", Revision: "2025-11-25", Since: now.Add(-time.Hour), InFlight: 1}}},
			Limits:  []control.ToolUse{{Tenant: "default", Server: "files", Tool: "read", Used: 0.5, Running: 2}},
			Clients: []control.ClientUse{{Tenant: "default", Subject: "alice", Method: "static_token", Requests: 1}},
		},
		pending: []control.Approval{
			{ID: "abcdef", State: "waiting", Since: now, Expires: now.Add(5 * time.Minute), Times: 1, Subject: "bob",
				Tenant: "default", Method: "static_token", Client: "claude 1.0", Server: "files", Kind: "tool",
				Item: "write", Arguments: "{\n  \"path\": \"/srv/a\"\n}", Covers: "call",
				Rule: "confirm at junctor.hcl:30:1"},
			{ID: "ghijkl", State: "waiting", Since: now, Expires: now.Add(5 * time.Minute), Times: 2, Subject: "alice",
				Tenant: "default", Method: "static_token", Server: "github", Kind: "tool", Item: "delete",
				Arguments: "{}", Covers: "tool", Rule: "confirm at junctor.hcl:31:1"},
			{ID: "mnopqr", State: "denied", Since: now, Expires: now.Add(time.Minute), Subject: "bob",
				Tenant: "default", Server: "files", Kind: "tool", Item: "remove", By: "alice"},
		},
		logins: []Login{{Server: "github", Kind: "oauth", State: "needs_login", Reason: "no credential is stored"}},
		programs: []Program{{Plugin: "stdio", Source: "builtin/stdio", Version: "1.0.0",
			Path: "/opt/junctor-plugin-stdio", SHA256: strings.Repeat("ab", 32), Pinned: true}},
		lines: []string{"listening"},

		instructions: "Read before you write.",
		items: Items{
			Resources: []*catalog.Item{{Server: "files", Exposed: "file:///srv/plan.md", Description: "The plan.",
				Raw: []byte(`{"mimeType":"text/markdown"}`)}},
			Templates: []*catalog.Template{
				{Item: catalog.Item{Server: "files", Exposed: "file:///{path}", Title: "Any file"}},
			},
			Prompts: []*catalog.Prompt{{Item: catalog.Item{Server: "github", Exposed: "github__review"},
				Arguments: []catalog.Argument{{Name: "change", Description: "The number.", Required: true},
					{Name: "style"}}}},
		},
		settings: []Setting{{Name: "transport.command", Value: `["npx"]`, Given: true, From: "junctor.hcl:4:5"},
			{Name: "timeouts.call", Value: "60s"}},
		configured: Configured{
			Files: []string{"/etc/junctor/junctor.hcl"}, Servers: []ConfiguredServer{{Name: "files", State: "enabled",
				At: "junctor.hcl:3:1", Replaces: []string{"user.hcl:1:1"}}},
			Blocks: []Detail{{"audit.sync", `"full"`}},
		},
		named: []NamedPrincipal{
			{"local", authn.Local()}, {"bob", authn.Principal{Subject: "bob", Tenant: "default"}},
			{"role intern", authn.Principal{Tenant: "default", Roles: []string{"intern"}}},
		},
		records: []*logbuffer.Record{
			{Time: now, Level: "warn", Server: "github", Message: "a request failed",
				Fields: map[string]any{"error": "no route", "attempts": 3, "hint": ""}},
			{Time: now, Level: "debug", Plugin: "stdio", Message: "started",
				Fields: map[string]any{"stack": "one\ntwo"}},
			{Time: now, Level: "info", Message: "the console is served",
				Fields: map[string]any{"link": "http://127.0.0.1:7576" + linkPath + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}},
		},
		events: []event.Event{
			{Time: now, Type: event.ServerFailed, Server: "github", Error: "no route to host"},
			{Time: now, Type: event.ApprovalDecided, Server: "files", Kind: "tool", Item: "write", Approval: "abcdef",
				State: "approved", Decided: "alice", Principal: &event.Principal{Tenant: "default", Subject: "bob"}},
			{Time: now, Type: event.ReloadOK, Added: []string{"files", "old"}},
		},
		totals: map[string]usage.Totals{},
		result: Result{JSON: []byte(`{"content":[{"type":"text","text":"done"}]}`)},
	}
	for _, name := range []string{"read", "write"} {
		f.tools = append(f.tools, &catalog.Tool{
			Item: catalog.Item{
				Server: "files", Name: name, Exposed: "files__" + name, Description: "Does " + name + " a file.",
			}, Input: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		})
	}
	return f
}

// sources returns the fake as all sources.
func (f *fake) sources() Sources {
	return Sources{Process: f, Servers: f, Pins: f, Tools: f, Items: f, Policy: f, Approvals: f, Logins: f, Programs: f,
		Traffic: f, Journal: f, Configuration: f, Audit: f}
}

// auth knows four tokens.
func auth() authn.Authenticator {
	return authn.NewTokens([]authn.StaticToken{
		{Token: "token-of-alice", Subject: "alice", Tenant: "default"},
		{Token: "token-of-dora", Subject: "dora", Tenant: "default"},
		{Token: "token-of-bob", Subject: "bob", Tenant: "default"},
		{Token: "token-of-carol", Subject: "carol", Tenant: "default", Roles: []string{"admin", "admins"}},
	})
}

// A site is a Server behind an HTTP server on loopback.
type site struct {
	*fake
	console *Server
	http    *httptest.Server
}

func newSite(t *testing.T, f *fake, change func(*Options)) *site {
	t.Helper()
	s := &site{fake: f}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.console.ServeHTTP(w, r)
	}))
	s.http.Config.ErrorLog = hclog.NewNullLogger().StandardLogger(nil)
	o := Options{
		Sources: f.sources(), Log: hclog.NewNullLogger(), Version: "1.2.3",
		Settings: Settings{Admins: subjects("alice"), Viewers: subjects("bob"),
			Approver: func(p authn.Principal) bool { return p.Subject == "dora" }, Auth: auth(),
			Address: s.http.Listener.Addr()},
	}
	if change != nil {
		change(&o)
	}
	s.console = New(o)
	s.http.Start()
	t.Cleanup(s.http.Close)
	return s
}

// A browser keeps the cookies and follows no redirect.
type browser struct {
	t      *testing.T
	site   *site
	client *http.Client
	cookie []*http.Cookie
	base   string // of the session
}

func (s *site) browser(t *testing.T) *browser {
	tr := &http.Transport{DisableKeepAlives: true}
	return &browser{t: t, site: s, client: &http.Client{Transport: tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do sends a request and returns the response with its body.
func (b *browser) do(method, path string, form url.Values, change func(*http.Request)) (*http.Response, string) {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequest(method, b.site.http.URL+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range b.cookie {
		if strings.HasPrefix(path, c.Path) {
			r.AddCookie(c)
		}
	}
	if change != nil {
		change(r)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if resp.StatusCode == http.StatusSeeOther && len(resp.Cookies()) > 0 {
		b.cookie = resp.Cookies()
		b.base = strings.TrimSuffix(strings.TrimSuffix(resp.Header.Get("Location"), "servers"), "approvals")
	}
	return resp, string(text)
}

func (b *browser) get(page string) (int, string) {
	b.t.Helper()
	resp, text := b.do(http.MethodGet, b.base+page, nil, nil)
	return resp.StatusCode, text
}

var csrfField = regexp.MustCompile(`name="csrf" value="([A-Z2-7]+)"`)

// csrf returns the token of the forms of the session.
func (b *browser) csrf() string {
	b.t.Helper()
	_, text := b.get("approvals")
	m := csrfField.FindStringSubmatch(text)
	if m == nil {
		b.t.Fatalf("a page without a form:\n%s", consoletest.Said(text))
	}
	return m[1]
}

// post sends a form with its token.
func (b *browser) post(page string, pairs ...string) (*http.Response, string) {
	b.t.Helper()
	form := url.Values{"csrf": {b.csrf()}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, b.base+page, form, nil)
}

// signIn signs in with a token.
func (b *browser) signIn(token string) *browser {
	b.t.Helper()
	if resp, text := b.do(http.MethodPost, "/login", url.Values{"token": {token}},
		nil); resp.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("%s: %s\n%s", token, resp.Status, consoletest.Said(text))
	}
	return b
}

// signInByLink signs in with a one-time link.
func (b *browser) signInByLink() *browser {
	b.t.Helper()
	path, _, ok := b.site.console.Link()
	if !ok {
		b.t.Fatal("there is no link")
	}
	if resp, text := b.do(http.MethodGet, path, nil, nil); resp.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("%s: %s\n%s", path, resp.Status, consoletest.Said(text))
	}
	return b
}

// portOf returns the port of the site.
func (s *site) portOf() string {
	_, port, _ := net.SplitHostPort(s.http.Listener.Addr().String())
	return port
}

// jsonText returns a text as JSON.
func jsonText(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// subjects returns holders with the names.
func subjects(names ...string) (all []policy.Holder) {
	for _, name := range names {
		all = append(all, policy.Holder{Kind: "subject", Name: name})
	}
	return all
}
