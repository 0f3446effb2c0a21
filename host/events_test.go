package host

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// TestEvents records one event of each kind that the host itself knows, and compares them.
// A secret in an error is masked.
func TestEvents(t *testing.T) {
	p := &Process{events: event.NewStream(nil)}
	p.record = &recorder{audit.New(audit.Options{}), p.events, p.redactor.hide}
	p.redactor.add("s3cr3t-canary")
	a, r := &App{process: p}, p.record
	secret := fault.New(fault.UpstreamExited, "it said s3cr3t-canary")
	call := &approval.Call{Principal: authn.Principal{Tenant: "acme", Subject: "jo", Method: "jwt"},
		Item: policy.Item{Server: "files", Kind: policy.Tool, Name: "delete"}, Client: "claude 1"}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { a.AnnounceProcess(event.ProcessStarted) }, `"type":"process.started"`},
		{func() { r.announceServer("files", "")(upstream.Starting, errors.New("an earlier failure")) },
			`"type":"server.starting","server":"files"`},
		{func() { r.announceServer("files", "")(upstream.Ready, nil) }, `"type":"server.ready","server":"files"`},
		{func() { r.announceServer("files", "acme")(upstream.Stopped, nil) },
			`"type":"server.stopped","server":"files","principal":{"tenant":"acme"}`},
		{func() { r.announceServer("files", "")(upstream.Failed, secret) },
			`"type":"server.failed","server":"files","code":"upstream.exited","error":"it said ***"`},
		{func() { r.announceServer("files", "")(upstream.Failed, fault.New(fault.UpstreamLogin, "log in")) },
			`"type":"server.needs_auth","server":"files","code":"upstream.needs_login","error":"log in"`},
		{func() { r.announcePlugin("stdio", "", plugin.Ready, nil) }, `"type":"plugin.started","plugin":"stdio"`},
		{func() { r.announcePlugin("stdio", "files", plugin.Backoff, secret) },
			`"type":"plugin.crashed","server":"files","plugin":"stdio","code":"upstream.exited","error":"it said ***"`},
		{func() { r.announcePlugin("stdio", "", plugin.Quarantined, nil) },
			`"type":"plugin.quarantined","plugin":"stdio"`},
		{func() {
			r.announceTools(catalog.ToolsChange{Server: "files", Added: []string{"new"}, Changed: []string{"old"},
				Held: []string{"old"}})
		}, `"type":"tools.changed","server":"files","added":["new"],"changed":["old"],"held":["old"]`},
		{func() {
			r.announceApproval(approval.Pending{ID: "abc", Call: call, State: approval.Waiting,
				Expires: time.Unix(1764000000, 0)})
		}, `"type":"approval.waiting","server":"files","principal":{"tenant":"acme","subject":"jo","method":"jwt"},"client":"claude 1","approval":"abc","state":"waiting","kind":"tool","item":"delete","expires":"2025-11-24T16:00:00Z"`},
		{func() { r.announceApproval(approval.Pending{ID: "abc", Call: call, State: approval.Denied, By: "op"}) },
			`"type":"approval.decided","server":"files","principal":{"tenant":"acme","subject":"jo","method":"jwt"},"client":"claude 1","approval":"abc","state":"denied","kind":"tool","item":"delete","decided_by":"op"`},
		{func() {
			r.announceApproval(approval.Pending{ID: "abc", Call: call, State: approval.Used, By: "the client"})
		}, `"state":"approved","kind":"tool","item":"delete","decided_by":"the client"`},
		{func() { r.announceLogin("gh", "acme") }, `"type":"login.begun","server":"gh","principal":{"tenant":"acme"}`},
		{func() { r.announceLogin("gh", "acme")(nil) },
			`"type":"login.finished","server":"gh","principal":{"tenant":"acme"}`},
		{func() { r.announceLogin("gh", "acme")(fault.New(fault.LoginFailed, "no")) },
			`"type":"login.finished","server":"gh","principal":{"tenant":"acme"},"code":"login.failed","error":"no"`},
		{func() { a.AnnounceReload(&Reloaded{Generation: 2, Added: []string{"x"}}, nil) },
			`"type":"reload.ok","generation":2,"added":["x"]`},
		{func() { a.AnnounceReload(nil, secret) },
			`"type":"reload.failed","code":"upstream.exited","error":"it said ***"`},
	} {
		step.do()
		var last event.Event
		for read := p.events.Read(); ; {
			item, ok := read.Next()
			if !ok {
				break
			}
			last = item.Value
		}
		text, err := json.Marshal(last)
		if _, members, _ := strings.Cut(string(text), `Z",`); err != nil || !strings.HasSuffix(members, step.want+"}") {
			t.Errorf("%s, %v\nwant %s", text, err, step.want)
		}
	}
}

// TestLogLevelsAreChecked refuses levels and servers that there are not.
func TestLogLevelsAreChecked(t *testing.T) {
	for _, c := range []struct{ level, hint string }{{"", "the levels are off"}, {"wran", "did you mean warn?"},
		{"notice", "the levels are"}, {"INFO", "the levels are"}} {
		err := (&App{}).SetLogLevel("", c.level)
		if f := fault.As(err); f.Code != fault.Usage || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%q: %v, %s", c.level, err, f.Hint)
		}
	}
	if !slices.Contains(HostLevels, "off") {
		t.Error(HostLevels)
	}
}
