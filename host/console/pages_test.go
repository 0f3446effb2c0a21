package console

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/policy"
)

func listenAddress(t *testing.T) net.Addr {
	t.Helper()
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7576}
}

func newCanceled(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(context.Background())
}

// TestPagesShowTheProcess looks for what each page is for.
func TestPagesShowTheProcess(t *testing.T) {
	f := newFake()
	f.changes = []catalog.Change{
		{At: time.Now(), Tool: "read", Members: []catalog.MemberChange{
			{Name: "description", Before: []byte(`"reads"`), After: []byte(`"reads and sends"`)},
			{Name: "annotations", Before: []byte(`{"readOnlyHint":true}`)},
		}},
		{At: time.Now(), Tool: "drop", Added: true}, {At: time.Now(), Tool: "list", Removed: true},
	}
	f.rows = []AuditRow{{Seq: 2, Time: time.Now(), What: "tools/call", Subject: "alice", Server: "files", Item: "read",
		Outcome: "denied", Code: "policy.denied", Message: "not in office hours", Rule: "deny at junctor.hcl:3:1",
		Details: []Detail{{"Trace", "0af7"}}}}
	s := newSite(t, f, nil)
	b := s.browser(t).signInByLink()
	for page, want := range map[string][]string{
		"servers": {"files", "ready", "1\u202f204", "github", "needs auth",
			"the server requires a login", "1 not working", "disabled", "/etc/junctor/junctor.hcl", "not started",
			`aria-label="Start idle"`, `aria-label="Restart files"`, "12 ms / 80 ms", "2.1.0",
			`data-label="Transport">`},
		"server?name=files": {"listening", "Read before you write.", "40 MiB", "junctor.hcl:3:1", "Changed tools",
			"transport.command", "junctor.hcl:4:5", "1 setting with defaults", "reads and sends", "It is absent.",
			"added", "removed"},
		"server?name=idle": {"not started", ">Start<", ">Tools</a>"},
		"server?name=github": {"the server requires a login",
			"upstream.needs_login", "run junctor login github", "listening"},
		"tools":                 {"files__read", "Does read a file.", "1 to 2 of 2"},
		"tools?q=WRITE+file":    {"files__write", "1 to 1 of 1 found, of 2 in all"},
		"tools?q=nothing":       {"No tool found, of 2 in all"},
		"tools?page=99":         {"1 to 2 of 2"},
		"tool?name=files__read": {"Does read a file.", "&#34;path&#34;", "Call the tool"},
		"access?tool=files__read": {`value="files__read"`, `<option value="bob">`, `<option value="files__write">`,
			`<label for="address">`, `<label for="client">`, `<label for="time">`, `<label for="issuer">`,
			`<label for="scopes">`, "Empty: whether a list shows the tool"},
		"access?subject=bob&tenant=t&issuer=i&roles=dev": {`name="subject" value="bob"`,
			`name="tenant" value="t"`, `name="issuer" value="i"`, `name="roles" value="dev"`},
		"policy": {"files__read", `<th scope="col"><bdi>role intern</bdi></th>`,
			`href="access?subject=bob&amp;tool=files__write"`, "confirm", "allowed",
			`href="access?roles=intern&amp;tool=files__read"`, "Tools 1 to 2 of 2, 3 principals"},
		"policy?who=BO&q=write": {"Tools 1 to 1 of 1, 1 principal.", "confirm"},
		"policy?who=nobody":     {"names no such subject, role or group"},
		"policy?server=unknown": {"No server has listed such a tool yet."},
		"sessions":              {"claude 1.0", "alice", "2025-11-25"},
		"approvals":             {"abcdef", "/srv/a", "confirm at junctor.hcl:30:1", "Approve", "denied", "waiting"},
		"logins":                {"github", "oauth", "needs_login", "no credential is stored", "Log in"},
		"plugins":               {"abababababab…", "pinned", "4711", "9 MiB"},
		"limits":                {"50 %", "alice"},
		"audit": {"policy.denied", `data-label="Rule"><bdi>deny at junctor.hcl:3:1`,
			`data-label="What"><bdi>tools/call`, "0af7", "not in office hours"},
		"log": {"a request failed", "no route", "attempts", "1 to 3 of 3 records",
			"All of it", "one\ntwo"},
		"log?level=warn":      {"a request failed", "1 to 1 of 1 record"},
		"log?server=stdio":    {"started", "1 to 1 of 1 record"},
		"log?q=ROUTE+request": {"1 to 1 of 1 record"},
		"log?q=nothing":       {"No record is selected"},
		"events": {"server.failed", "no route to host", "approval.decided", "abcdef approved", "bob",
			"files, old", "1 to 3 of 3 events"},
		"events?type=reload":  {"1 to 1 of 1 event"},
		"events?server=files": {"1 to 1 of 1 event"},
		"charts":              {"Calls and errors", "Latency", "Token cost", "files"},
	} {
		if page == "plugins" {
			want = slices.DeleteFunc(want, func(s string) bool { return s == "4711" })
		}
		status, text := b.get(page)
		for _, w := range want {
			if status != http.StatusOK || !strings.Contains(text, w) {
				t.Errorf("%s (%d) does not show %q\n%s", page, status, w, consoletest.Said(text))
			}
		}
	}
	for _, page := range []string{"server?name=unknown", "tool?name=unknown", "tool", "item",
		"item?kind=resource&server=files&name=unknown", "charts?server=unknown", "nothing", ""} {
		if status, _ := b.get(page); status != http.StatusNotFound {
			t.Errorf("%q: %d", page, status)
		}
	}
}

// TestAuditIsOff shows a sentence without an audit log.
func TestAuditIsOff(t *testing.T) {
	s := newSite(t, newFake(), func(o *Options) { o.Sources.Audit = nil })
	if _, text := s.browser(t).signInByLink().get("audit"); !strings.Contains(text, "The audit log is off") ||
		strings.Contains(text, "<form class=\"search\"") {
		t.Error(text)
	}
}

// TestAuditShowsCallsAndFailuresFirst: requests for lists are shown if a person asks for them.
func TestAuditShowsCallsAndFailuresFirst(t *testing.T) {
	f := newFake()
	f.rows = []AuditRow{{Seq: 3, What: "tools/list", Outcome: "ok"}, {Seq: 2, What: "tools/call", Outcome: "ok"},
		{Seq: 1, What: "auth failure", Outcome: "denied"}}
	b := newSite(t, f, nil).browser(t).signInByLink()
	for page, want := range map[string]int{
		"audit": 2, "audit?show=all": 3, "audit?show=failures": 1, "audit?show=nonsense": 2,
		"audit?what=tools/list": 1, "audit?what=tools/list&show=failures": 0, "audit?what=auth+failure": 1,
	} {
		_, text := b.get(page)
		if n := strings.Count(text, `data-label="What"`); n != want {
			t.Errorf("%s has %d rows, not %d", page, n, want)
		}
		if !strings.Contains(text, `<label for="show">Show</label>`) {
			t.Errorf("%s has no filter", page)
		}
	}
}

// TestAuditPages goes from page to page with a filter.
func TestAuditPages(t *testing.T) {
	f := newFake()
	for i := range 950 {
		f.rows = append(f.rows,
			AuditRow{Seq: int64(950 - i), What: "tools/call", Subject: []string{"alice", "bob"}[i%2], Outcome: "ok"})
	}
	b := newSite(t, f, nil).browser(t).signInByLink()
	page, rows := "audit?subject=alice", 0
	for range 10 {
		_, text := b.get(page)
		rows += strings.Count(text, `data-label="What"`)
		if strings.Contains(text, ">bob<") {
			t.Fatal("the filter is lost")
		}
		_, next, more := strings.Cut(text, `<a rel="next" href="`)
		if !more {
			break
		}
		page, _, _ = strings.Cut(next, `"`)
		page = strings.ReplaceAll(page, "&amp;", "&")
	}
	if rows != 475 {
		t.Errorf("%d rows", rows)
	}
	for _, wrong := range []string{"audit?before=x", "audit?before=-1", "audit?before=99999999999999999999",
		"audit?since=forever"} {
		if status, text := b.get(wrong); status != http.StatusOK ||
			strings.Count(text, `data-label="What"`) != pageSize {
			t.Errorf("%s: %d", wrong, status)
		}
	}
}

// TestActionsThatFail shows why.
func TestActionsThatFail(t *testing.T) {
	f := newFake()
	s := newSite(t, f, nil)
	b := s.browser(t).signInByLink()
	for name, c := range map[string]struct {
		form []string
		page string
		want string
	}{
		"an unknown server": {[]string{"restart", "server", "unknown"}, "servers",
			"no server with this name. To do: run junctor status."},
		"an unknown approval": {[]string{"approvals", "id", "zzzzzz", "answer", "approve"}, "approvals",
			"nothing waits for an approval"},
		"a server without login": {[]string{"logins", "server", "files"}, "logins", "has no auth block"},
	} {
		if resp, _ := b.post(c.form[0], c.form[1:]...); resp.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %s", name, resp.Status)
		}
		_, text := b.get(c.page)
		if !strings.Contains(text, c.want) || !strings.Contains(text, `role="alert"`) {
			t.Errorf("%s:\n%s", name, consoletest.Said(text))
		}
		if _, text := b.get(c.page); strings.Contains(text, `role="alert"`) {
			t.Errorf("%s: the message stays", name)
		}
	}
	for _, form := range [][]string{
		{"tool", "tool", "files__read", "arguments", "{"}, {"tool", "tool", "files__read", "arguments", "[1]"},
		{"tool", "tool", "files__read", "arguments", "{} {}"}, {"access", "subject", "", "tool", "files__read"},
		{"access", "subject", "a", "tool", "files__read", "address", "nowhere"},
		{"access", "subject", "a", "tool", "files__read", "scopes", strings.Repeat("r,", 65)},
		{"access", "subject", "a", "tool", "files__read", "issuer", strings.Repeat("i", 300)},
		{"access", "subject", "a", "tool", "files__read", "client", strings.Repeat("c", 300)},
		{"access", "subject", "a", "tool", "unknown"}, {"access", "subject", "a", "tool", "files__read", "claims", "1"},
		{"access", "subject", "a", "tool", "files__read", "arguments", "{"},
		{"access", "subject", "a", "tool", "files__read", "roles", strings.Repeat("r,", 65)},
		{"access", "subject", strings.Repeat("a", 300), "tool", "files__read"},
	} {
		if resp, text := b.post(form[0], form[1:]...); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q: %s\n%s", form, resp.Status, consoletest.Said(text))
		}
	}
	if resp, _ := b.post("tool", "tool", "unknown", "arguments", "{}"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown tool: %s", resp.Status)
	}
	if resp, _ := b.post("approvals", "id", "abcdef", "answer", "maybe"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another answer: %s", resp.Status)
	}
	for _, did := range s.done() {
		if strings.HasPrefix(did, "call") {
			t.Errorf("done: %s", did)
		}
	}
}

// TestConditionThatFails: the page of a decision says which condition could not be evaluated.
func TestConditionThatFails(t *testing.T) {
	b := newSite(t, newFake(), nil).browser(t).signInByLink()
	_, text := b.post("access", "subject", "failing", "tool", "files__read", "arguments", "{}")
	for _, want := range []string{
		"Because <bdi>deny at junctor.hcl:3:1 (failed: args.x is null, and startswith needs a text)</bdi>",
		"<b>decides</b>",
		"<bdi>failed: args.x is null, and startswith needs a text, so it matches</bdi>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not on the page: %s\n%s", want, consoletest.Said(text))
		}
	}
}

// needs are what the calls of some subjects need.
var needs = map[string]policy.Approval{
	"asking an operator": {Covers: policy.CoversCall},
	"asking the client":  {Covers: policy.CoversCall, ByClient: true},
	"asking the approver": {Covers: policy.CoversCall,
		Four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "group", Name: "leads"}}}},
}

// TestDecisionsNameTheApprovers: the page of a decision says who must approve.
func TestDecisionsNameTheApprovers(t *testing.T) {
	b := newSite(t, newFake(), nil).browser(t).signInByLink()
	for subject, want := range map[string]string{
		"asking an operator":  "Must approve: <bdi>an operator</bdi>",
		"asking the client":   "Must approve: <bdi>the person at the client</bdi>",
		"asking the approver": "Must approve: <bdi>1 of group &#34;leads&#34;</bdi>", "alice": "",
	} {
		_, text := b.post("access", "subject", subject, "tool", "files__read", "arguments", "{}")
		if !strings.Contains(text, want) || want == "" && strings.Contains(text, "Must approve") {
			t.Errorf("%s: no %q in\n%s", subject, want, consoletest.Said(text))
		}
	}
}

// TestAddressOfCaller: a call through a proxy has no address that a rule could allow.
func TestAddressOfCaller(t *testing.T) {
	for header, want := range map[string]string{"": "192.0.2.1", "X-Forwarded-For": "unknown",
		"Forwarded": "unknown", "X-Real-Ip": "unknown"} {
		r := httptest.NewRequest(http.MethodPost, "/", nil) // from 192.0.2.1
		if header != "" {
			r.Header.Set(header, "127.0.0.1")
		}
		if got := addressOf(r); got != want {
			t.Errorf("with %s: %s", header, got)
		}
	}
}

// TestAdminsDoNotApproveTheirOwnCalls: another principal approves. The user of the machine
// may, as with junctor approvals.
func TestAdminsDoNotApproveTheirOwnCalls(t *testing.T) {
	f := newFake()
	s := newSite(t, f, nil)
	alice := s.browser(t).signIn("token-of-alice")
	alice.post("approvals", "id", "ghijkl", "answer", "approve")
	if _, text := alice.get("approvals"); !strings.Contains(text, "You sent this call yourself") {
		t.Error(text)
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("done: %q", did)
	}
	alice.post("approvals", "id", "ghijkl", "answer", "deny")
	s.browser(t).signInByLink().post("approvals", "id", "abcdef", "answer", "approve")
	if did := s.done(); !slices.Equal(did, []string{"approve ghijkl false by alice, in the console",
		"approve abcdef true by the user of this machine, in the console"}) {
		t.Errorf("done: %q", did)
	}
}

// TestApprovalsShowAllArguments: the arguments of a call that can be approved are shown to
// their end.
func TestApprovalsShowAllArguments(t *testing.T) {
	f := newFake()
	f.pending = nil
	for i := range 30 {
		f.pending = append(f.pending, control.Approval{ID: fmt.Sprintf("id%04d", i), State: "waiting", Subject: "bob",
			Kind: "tool", Item: "write", Server: "files",
			Arguments: strings.Repeat("x", 200<<10) + fmt.Sprintf("end%d", i), Expires: time.Now().Add(time.Minute)})
	}
	_, text := newSite(t, f, nil).browser(t).signInByLink().get("approvals")
	cards := strings.Count(text, "<article")
	for i := range cards {
		if !strings.Contains(text, fmt.Sprintf("end%d<", i)) {
			t.Errorf("the arguments of card %d are cut", i)
		}
	}
	if cards != 2 || !strings.Contains(text, "28 more calls wait") {
		t.Errorf("%d cards", cards)
	}
}

// attack is a text that tries to become a part of a page.
const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>{{.CSRF}}` + "\u202e\x1b[2J'`"

// sentBack matches the values that a form sends back as they are and that are not shown.
var sentBack = regexp.MustCompile(`<input type="hidden" name="(server|tool|digest)" value="[^"<>]*">|<option value="[^"<>]*"|<textarea [^<>]*>[^<>]*</textarea>`)

// attackSchema returns a schema with an attack in each text of it.
func attackSchema() []byte {
	a := string(jsonText(attack))
	return []byte(`{"type":"object","properties":{` + a + `:{"type":"string","description":` + a + `,"default":` + a +
		`},"choice":{"enum":[` + a + `,{"x":` + a + `}]},` +
		`"format":{"type":"string","format":` + a + `},"list":{"type":"array","items":{"enum":[` + a +
		`]}}},"required":[` + a + `]}`)
}

// attackResult returns a result with an attack in each text of it.
func attackResult() Result {
	a := string(jsonText(attack))
	return Result{JSON: []byte(`{"content":[{"type":"text","text":` + a +
		`},{"type":"text","text":"{\"x\":1,\"y\":\"<img>\"}"},{"type":` + a + `,"x":` + a +
		`},{"type":"image","data":` + a + `,"mimeType":` + a +
		`},{"type":"resource_link","uri":` + a + `,"name":` + a + `},{"type":"resource","resource":{"uri":` + a +
		`,"text":` + a + `}},{"type":"audio","data":"PHNjcmlwdD4=","mimeType":"audio/wav"},7,` + a +
		`],"structuredContent":{` + a + `:` + a + `}}`)}
}

// TestHostileTextsAreEscaped puts an attack in every text that comes from a server, a
// client or a file.
func TestHostileTextsAreEscaped(t *testing.T) {
	f := newFake()
	doc := &fault.Document{Code: fault.UpstreamExited, Message: attack, Hint: attack, Output: []string{attack}}
	f.lines = []string{attack}
	f.changes = []catalog.Change{{Tool: attack,
		Members: []catalog.MemberChange{{Name: attack, Before: jsonText(attack), After: []byte(attack)}}}}
	f.pinned = Pinned{Definitions: attack, Differences: []pins.Difference{
		{Tool: attack, Pinned: attack, Digest: attack, Members: f.changes[0].Members},
		{Tool: attack, Digest: attack, Members: f.changes[0].Members, More: 2},
		{Tool: attack, Pinned: attack, Digest: attack, Members: f.changes[0].Members, Unknown: true},
		{Tool: attack, Pinned: attack},
	}}
	f.status.Generation.Path, f.status.Generation.Failed = attack, &control.FailedReload{Error: doc}
	f.status.Servers = []*control.Server{{
		Server: attack, State: "failed", Step: attack, Transport: attack, Plugin: attack, At: attack, Revision: attack,
		Notes: []string{attack}, Settings: jsonText(attack), ServerInfo: jsonText(attack), Error: doc,
	}, {Server: "b", State: "starting", Step: attack}, {Server: "c", State: "ready", Notes: []string{attack}}}
	f.status.Plugins = []control.Plugin{{Plugin: attack, Servers: attack, Version: attack, State: "failed", Error: doc}}
	f.status.Sessions.List = []control.Session{{Client: attack, Subject: attack, Tenant: attack, Revision: attack}}
	f.status.Limits = []control.ToolUse{{Tenant: attack, Server: attack, Tool: attack}}
	f.status.Clients = []control.ClientUse{{Tenant: attack, Subject: attack, Method: attack}}
	f.tools = []*catalog.Tool{{
		Item:  catalog.Item{Server: attack, Name: attack, Exposed: attack, Title: attack, Description: attack},
		Input: attackSchema(), Output: jsonText(attack), Refused: catalog.Refused{Input: attack, Output: attack},
	}}
	f.pending = []control.Approval{{ID: "abcdef", State: "waiting", Subject: attack, Tenant: attack, Method: attack,
		Client: attack, Server: attack, Kind: "tool", Item: attack, Arguments: attack, Rule: attack},
		{ID: "b", State: "used", Subject: attack, Item: attack, Server: attack, By: attack}}
	f.logins = []Login{
		{Server: attack, Kind: attack, State: "failed", Reason: attack, Account: attack, Stored: attack,
			Failed: attack},
		{Server: "b", State: "ready", Page: "javascript:alert(1)"},
	}
	f.programs = []Program{{Plugin: attack, Source: attack, Version: attack, Path: attack, SHA256: attack,
		Lockable: true, Pin: attack + attack, OnDisk: attack + attack, Problem: attack}}
	f.rows = []AuditRow{{What: attack, Message: attack, Subject: attack, Tenant: attack, Server: attack, Item: attack,
		Outcome: attack, Code: attack, Rule: attack, Details: []Detail{{attack, attack}}}}
	f.result = attackResult()
	f.configured = Configured{Files: []string{attack},
		Servers: []ConfiguredServer{{Name: attack, Why: attack, At: attack, Replaces: []string{attack}}},
		Blocks:  []Detail{{attack, attack}}}
	hostile := catalog.Item{Server: attack, Name: attack, Exposed: attack, Title: attack, Description: attack,
		Raw: []byte(`{"mimeType":` + string(jsonText(attack)) + `}`)}
	f.items = Items{Resources: []*catalog.Item{&hostile}, Templates: []*catalog.Template{{Item: hostile}},
		Prompts: []*catalog.Prompt{{Item: hostile, Arguments: []catalog.Argument{{Name: attack, Description: attack}}}}}
	f.settings = []Setting{{Name: attack, Value: attack, From: attack, Given: true}, {Name: attack, Value: attack}}
	f.failure = &control.Failure{Error: doc, Text: attack}
	f.instructions = attack
	f.named = []NamedPrincipal{{attack, authn.Principal{Subject: attack, Tenant: attack, Issuer: attack,
		Roles: []string{attack}, Groups: []string{attack}}}}
	f.records = []*logbuffer.Record{{
		Level: attack, Server: attack, Message: attack,
		Fields: map[string]any{attack: attack, "long": attack + "\n" + attack, "list": []string{attack}},
	}, {Plugin: attack}}
	f.events = []event.Event{{Type: event.SessionOpened, Server: attack, Client: attack, Item: attack, Kind: attack,
		Rule: attack, Decided: attack, Error: attack, Added: []string{attack}, Held: []string{attack},
		Principal: &event.Principal{Subject: attack}}, {Plugin: attack, Principal: &event.Principal{Tenant: attack}}}
	s := newSite(t, f, nil)
	b := s.browser(t).signInByLink()
	check := func(name, text string) {
		shown := sentBack.ReplaceAllString(text, "")
		for _, wrong := range []string{"<script>alert", "<img", "\u202e", "\x1b", `="javascript:`, "ZgotmplZ<"} {
			if strings.Contains(shown, wrong) {
				t.Errorf("%s contains %q", name, wrong)
			}
		}
		if n := strings.Count(text, "<script"); n != 1 {
			t.Errorf("%s has %d scripts", name, n)
		}
	}
	at := query("name", attack)
	for _, page := range []string{"servers", "server" + at, "tools", "tools" + query("q", "script", "server", attack),
		"tool" + at, "access" + query("tool", attack, "subject", attack), "sessions", "approvals", "logins", "plugins",
		"limits", "configuration", "items", "items" + query("q", "script", "server", attack),
		"item" + query("kind", "resource", "server", attack, "name", attack),
		"item" + query("kind", "template", "server", attack, "name", attack),
		"item" + query("kind", "prompt", "server", attack, "name", attack), "policy",
		"policy" + query("q", "script", "who", "script"), "log", "log" + query("q", attack), "events",
		"audit" + query("subject", attack, "item", attack), "charts"} {
		status, text := b.get(page)
		if status != http.StatusOK {
			t.Errorf("%s: %d", page, status)
		}
		check(page, text)
	}
	for _, form := range [][]string{
		{"tool", "tool", attack, "arguments", "{}"}, {"item", "kind", "resource", "server", attack, "name", attack},
		{"item", "kind", "template", "server", attack, "name", attack, "uri", attack},
		{"item", "kind", "prompt", "server", attack, "name", attack, "arg0", attack},
		{"tool", "tool", attack, "arguments", attack}, {"access",
			"subject", attack, "tool", attack, "roles", attack, "groups", attack, "tenant", attack, "claims", attack},
		{"access", "subject", "a", "tool", attack, "issuer", attack, "scopes", attack, "address", attack, "client",
			attack, "time", attack},
	} {
		_, text := b.post(form[0], form[1:]...)
		check(form[0], text)
	}
	digest := formOf(f.tools[0]).Digest
	for _, fields := range [][]string{{"arg0", attack, "arg1", "0"}, {"arg0",
		attack, "arg1", attack, "arg2", attack, "arg3", attack}} {
		_, text := b.post("tool", append([]string{"tool", attack, "fields", digest}, fields...)...)
		check("the form of a tool", text)
	}
	_, reloadedText := b.post("configuration")
	check("a reload", reloadedText)
	b.post("restart", "server", attack)
	_, text := b.get("servers")
	check("a message", text)
	b.post("accept", "server", attack, "tool", attack, "digest", "other")
	_, text = b.get("server" + at)
	check("an acceptance that fails", text)
	b.post("accept", "server", attack, "tool", attack, "digest", attack)
	_, text = b.get("server" + at)
	check("an acceptance", text)
}

// TestSecretsAreMasked: a secret in any text of a server is masked.
func TestSecretsAreMasked(t *testing.T) {
	const secret = "canary-0123456789"
	f := newFake()
	f.lines = []string{"started with " + secret}
	f.changes = []catalog.Change{{Tool: "read",
		Members: []catalog.MemberChange{{Name: "description", Before: jsonText(secret)}}}}
	f.pinned.Differences = []pins.Difference{{Tool: secret, Digest: "d0", Members: f.changes[0].Members},
		{Tool: "read", Digest: "d1", Members: f.changes[0].Members}}
	f.tools[0].Description, f.tools[0].Input = secret, jsonText(secret)
	f.tools = append(f.tools, &catalog.Tool{Item: catalog.Item{Server: "files", Name: secret, Exposed: secret}})
	f.result = Result{JSON: jsonText(secret + strings.Repeat("x", 100))}
	f.status.Servers[1].Error.Message = secret
	f.status.Servers[1].Settings = jsonText(secret)
	f.pending[0].Arguments = secret
	f.logins[0].Reason = secret
	f.rows = []AuditRow{{Details: []Detail{{"Message", secret}}}}
	f.records[0].Message, f.events[0].Error = secret, secret
	f.items.Resources[0].Description = secret
	f.settings[0].Value, f.configured.Blocks[0].Value, f.failure = secret, secret,
		&control.Failure{Error: &fault.Document{Message: secret}, Text: secret}
	s := newSite(t, f, func(o *Options) { o.Hide = strings.NewReplacer(secret, "***").Replace })
	b := s.browser(t).signInByLink()
	for _, page := range []string{"servers", "server?name=files", "server?name=github", "tools",
		"tool?name=files__read", "approvals", "logins", "audit", "log", "events", "policy", "configuration", "items"} {
		if _, text := b.get(page); strings.Contains(text, secret) || !strings.Contains(text, "***") {
			t.Errorf("%s:\n%s", page, consoletest.Said(text))
		}
	}
	if _, text := b.post("tool", "tool", "files__read", "arguments", "{}"); strings.Contains(text, secret) {
		t.Error(text)
	}
	if _, text := b.post("configuration"); strings.Contains(text, secret) {
		t.Error(text)
	}
}

// TestPanicsFailOneRequest: a panic of a source is an error of its page only.
func TestPanicsFailOneRequest(t *testing.T) {
	f := newFake()
	s := newSite(t, f, func(o *Options) { o.Sources.Policy = panicking{} })
	b := s.browser(t).signInByLink()
	if resp, text := b.post("access", "subject", "a", "tool",
		"files__read"); resp.StatusCode != http.StatusInternalServerError || strings.Contains(text, "goroutine") {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
	if status, _ := b.get("servers"); status != http.StatusOK {
		t.Errorf("%d", status)
	}
}

type panicking struct{ Policy }

func (panicking) Principal(string, string) authn.Principal { panic("no") }

// TestManyTools pages through 10 000 tools.
func TestManyTools(t *testing.T) {
	f := newFake()
	f.tools = nil
	for i := range 10_000 {
		f.tools = append(f.tools, &catalog.Tool{Item: catalog.Item{Server: fmt.Sprintf("s%d", i/500),
			Name: fmt.Sprintf("tool%d", i), Exposed: fmt.Sprintf("s%d__tool%d", i/500, i),
			Description: strings.Repeat("Reads a file. ", 30)}})
	}
	b := newSite(t, f, nil).browser(t).signInByLink()
	for _, c := range []struct{ page, first, summary string }{
		{"tools", "s0__tool0", "1 to 100 of 10\u202f000"},
		{"tools?page=50", "s9__tool4900", "4\u202f901 to 5\u202f000"},
		{"tools?page=100", "s19__tool9900", "9\u202f901 to 10\u202f000"},
		{"tools?page=101", "s19__tool9900", "9\u202f901"}, {"tools?page=-1", "s0__tool0", "1 to 100"},
		{"tools?q=tool9999", "s19__tool9999", "1 to 1 of 1 found"},
		{"tools?server=s3", "s3__tool1500", "1 to 100 of 500 found"},
	} {
		begun := time.Now()
		_, text := b.get(c.page)
		if !strings.Contains(text, c.first) || !strings.Contains(text, c.summary) {
			t.Errorf("%s does not show %s and %q", c.page, c.first, c.summary)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%s took %s", c.page, took)
		}
		if len(text) > 256<<10 {
			t.Errorf("%s has %d bytes", c.page, len(text))
		}
	}
}
