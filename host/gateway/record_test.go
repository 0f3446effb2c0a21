package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// recordIn makes a fixture record its requests.
func (d *fixture) recordIn(kept *recorded) {
	d.audit = newRecord(kept)
	d.serve = (&pipeline{d.opts, d.suspended, d.states, d.audit}).serve
}

// answering is a server whose tool answers with what its argument "say" names.
func answering(revision string) *fake {
	f := simple("a")
	f.Revision, f.call = revision, 10*time.Second
	f.Set("tools/list", `{"name":"t","inputSchema":{"type":"object","properties":{"say":{"type":"string"}}}}`,
		`{"name":"delete_it"}`)
	f.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method != "tools/call" {
			return ""
		}
		switch {
		case strings.Contains(m.Text, `"fail"`):
			return conversation.Result(m, `{"resultType":"complete","content":[],"isError":true}`)
		case strings.Contains(m.Text, `"error"`):
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the disk is on fire"}}`,
				m.ID)
		case strings.Contains(m.Text, `"wait"`):
			return conversation.Later
		}
		return conversation.Result(m, `{"resultType":"complete","content":[],"isError":false}`)
	}
	return f
}

// TestEveryOutcomeIsRecordedOnce makes a request with each outcome, in both eras.
func TestEveryOutcomeIsRecordedOnce(t *testing.T) {
	rules := policy.Rules{Given: true, Default: policy.Allows,
		Members: []policy.Membership{{Holder: policy.Holder{Kind: "subject", Name: "carol"}}}, Rules: []policy.Rule{
			{Effect: policy.Denies, Tools: []string{"delete_*"}, At: "f.hcl:3:4"},
			{Effect: policy.Confirms, Tools: []string{"t"}, When: argumentIs("say", "confirm"),
				Approval: policy.Approval{Valid: time.Minute, Covers: policy.CoversCall}, At: "f.hcl:5:4"},
			{Effect: policy.Denies, Tools: []string{"t"}, When: condition.New("oops", brokenExpression{}),
				Holder: policy.Holder{Kind: "subject", Name: "carol"}, At: "f.hcl:9:4"},
		}}
	for name, c := range map[string]struct {
		tool, say, subject string
		limiter            limit.Limiter
		refuse             error
		cancel             bool
		outcome            audit.Outcome
		code               fault.Code
	}{
		"ok":           {tool: "a__t", say: "ok", outcome: audit.OK},
		"tool error":   {tool: "a__t", say: "fail", outcome: audit.ToolError, code: fault.CallToolError},
		"server error": {tool: "a__t", say: "error", outcome: audit.Failed, code: fault.UpstreamError},
		"denied":       {tool: "a__delete_it", say: "x", outcome: audit.Denied, code: fault.Denied},
		"approval":     {tool: "a__t", say: "confirm", outcome: audit.ApprovalRequired, code: fault.ApprovalRequired},
		"unknown tool": {tool: "a__nothing", say: "x", outcome: audit.Invalid, code: fault.NameUnknown},
		"arguments":    {tool: "a__t", say: "", outcome: audit.Invalid, code: fault.CallArguments},
		"timeout":      {tool: "a__t", say: "wait", outcome: audit.Timeout, code: fault.CallTimeout},
		"cancelled":    {tool: "a__t", say: "wait", cancel: true, outcome: audit.Cancelled, code: fault.CallCanceled},
		"rate limited": {
			tool: "a__t", say: "ok", limiter: limits(limit.ToolRule{Match: everyTool, Rate: 0.001, Burst: 1}),
			outcome: audit.RateLimited, code: fault.LimitRate,
		},
		"overloaded": {tool: "a__t", say: "ok", limiter: busyLimiter{}, outcome: audit.Overloaded,
			code: fault.LimitConcurrent},
		"panicked": {tool: "a__t", say: "x", subject: "carol", outcome: audit.Panicked, code: fault.Internal},
		"unrecorded": {tool: "a__t", say: "ok", refuse: fault.New(fault.AuditUnavailable, "full"),
			outcome: audit.Unrecorded, code: fault.AuditUnavailable},
	} {
		for era, meta := range map[string]string{"legacy": "", "modern": `,"_meta":{$M}`} {
			t.Run(name+" "+era, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := answering("2025-11-25")
					d := newLimitedFixture("", c.limiter, f)
					defer d.end()
					d.warm(t)
					d.setPolicy(policy.New(map[string]policy.Server{"a": {}}, rules))
					var kept recorded
					d.recordIn(&kept)
					client := d.visitor(cmp.Or(c.subject, "alice"), "one")
					defer client.hangUp()
					client.greet(t, "{}")
					calls := f.Count("tools/call")
					arguments := fmt.Sprintf(`{"say":%q}`, c.say)
					if c.say == "" {
						arguments = `{"say":7}`
					}
					call := fmt.Sprintf(
						`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, c.tool,
						arguments, meta,
					)
					if c.outcome == audit.RateLimited {
						client.asks("%s", strings.Replace(call, `"id":7`, `"id":6`, 1))
						calls = f.Count("tools/call")
					}
					kept.take()
					kept.refuse = c.refuse
					client.say("%s", call)
					synctest.Wait()
					if c.cancel {
						client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
					}
					bubble.Sleep(20 * time.Second)
					synctest.Wait()
					all := kept.take()
					if len(all) != 1 {
						t.Fatalf("%d events: %+v", len(all), all)
					}
					e := all[0]
					if e.Outcome != c.outcome || e.Code != string(c.code) || e.Subject == "" || e.Tenant != "one" ||
						e.Method != "tools/call" || e.Transport != "http" || e.RequestID == "" ||
						e.ArgumentsSize != len(arguments) {
						t.Errorf("%+v, want %s %s", e, c.outcome, c.code)
					}
					if told := e.RetryAfterMS > 0; told != (c.outcome == audit.RateLimited) {
						t.Errorf("the event has a wait of %d ms", e.RetryAfterMS)
					}
					if sent := f.Count("tools/call") > calls; sent &&
						(c.outcome == audit.Denied || c.outcome == audit.Unrecorded) {
						t.Error("the server got the call")
					}
					if c.outcome == audit.Denied && (e.Decision != "denied" || !strings.Contains(e.Rule, "f.hcl:3:4") ||
						e.Item != "delete_it" || e.Access != "write") {
						t.Errorf("%+v", e)
					}
				})
			})
		}
	}
}

// A busyLimiter is a limiter all of whose places are taken.
type busyLimiter struct{}

func (busyLimiter) Acquire(context.Context, limit.Call) (func(), error) {
	return nil, &limit.BusyError{Max: 1}
}

// TestCallThatAsksIsOneEvent continues a call with the answer to a question of the server.
func TestCallThatAsksIsOneEvent(t *testing.T) {
	const answered = `"inputResponses":{"q1":{"roots":[1]}},"requestState":%q,`
	for name, c := range map[string]struct {
		then    func(d *fixture, of *testClient, state string)
		outcome audit.Outcome
		rounds  int
	}{
		"answered": {func(d *fixture, of *testClient, state string) {
			d.ask(of, fmt.Sprintf(rooted, "a__t", fmt.Sprintf(answered, state)))
		}, audit.OK, 2},
		"asked again": {func(d *fixture, of *testClient, state string) {
			state = stateOf(d.ask(of,
				fmt.Sprintf(rooted, "a__t", fmt.Sprintf(`"inputResponses":{},"requestState":%q,`, state))))
			d.ask(of, fmt.Sprintf(rooted, "a__t", fmt.Sprintf(answered, state)))
		}, audit.OK, 3},
		"given up": {func(*fixture, *testClient, string) { bubble.Sleep(time.Hour) }, audit.Timeout, 1},
		"stopped":  {func(d *fixture, _ *testClient, _ string) { d.end() }, audit.Cancelled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(curious("a"))
				defer d.end()
				d.warm(t)
				var kept recorded
				d.recordIn(&kept)
				alice := d.visitor("alice", "one")
				defer alice.hangUp()
				state := stateOf(d.ask(alice, fmt.Sprintf(rooted, "a__t", "")))
				if all := kept.take(); state == "" || len(all) != 0 {
					t.Fatalf("%q, %+v", state, all)
				}
				begun := time.Now()
				bubble.Sleep(time.Second)
				c.then(d, alice, state)
				synctest.Wait()
				all := kept.take()
				if len(all) != 1 || all[0].Outcome != c.outcome || all[0].Rounds != c.rounds ||
					all[0].Decision != "allowed" || all[0].Item != "t" || all[0].Time.After(begun) ||
					all[0].DurationMS < 1000 {
					t.Errorf("%+v, want %s after %d rounds", all, c.outcome, c.rounds)
				}
			})
		})
	}
}

// TestStateOfServerJoinsRequests: the requests that a modern server's question divides are one
// event. A state that is refused has an event of its own.
func TestStateOfServerJoinsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(trusting("a"))
		defer d.end()
		d.warm(t)
		var kept recorded
		d.recordIn(&kept)
		alice, bob := d.visitor("alice", "one"), d.visitor("bob", "one")
		defer alice.hangUp()
		defer bob.hangUp()
		states := map[*testClient]string{}
		for _, c := range []*testClient{alice, bob} {
			states[c] = stateOf(d.ask(c, payment(1000, "", "")))
		}
		if all := kept.take(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
		d.ask(alice, payment(1000, states[alice], ""))
		if all := kept.take(); len(all) != 1 || all[0].Subject != "alice" || all[0].Rounds != 2 ||
			all[0].Outcome != audit.OK {
			t.Errorf("%+v", all)
		}
		for what, c := range map[string]struct {
			text, want string
		}{
			"repeated": {payment(1000, states[alice], ""), "requestState: the token was used already"},
			"another's": {payment(1000, states[bob], ""),
				"requestState: the token was altered, was made elsewhere, or is about something else"},
			"altered":          {payment(1000, flipped(states[alice]), ""), "requestState: the token was altered"},
			"made by a server": {payment(1000, "paid", ""), "requestState: the token was altered"},
		} {
			d.ask(alice, c.text)
			if all := kept.take(); len(all) != 1 || all[0].Rounds != 0 || all[0].Outcome != audit.Invalid ||
				!strings.Contains(all[0].Message, c.want) {
				t.Errorf("%s: %+v", what, all)
			}
		}
		d.end()
		if all := kept.take(); len(all) != 1 || all[0].Subject != "bob" || all[0].Outcome != audit.Cancelled {
			t.Errorf("%+v", all)
		}
	})
}

// TestInvalidRequestsAreRecorded sends requests that reach no stage.
func TestInvalidRequestsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(simple("a"))
		defer d.end()
		d.warm(t)
		var kept recorded
		d.recordIn(&kept)
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		kept.take()
		for _, text := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/explode"}`,
			`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}`,
		} {
			c.asks("%s", text)
			if all := kept.take(); len(all) != 1 || all[0].Outcome != audit.Invalid || all[0].Transport != "stdio" {
				t.Errorf("%s: %+v", text, all)
			}
		}
	})
}

// TestErrorsHaveOutcomes checks errors that no fixture makes.
func TestErrorsHaveOutcomes(t *testing.T) {
	u := newUse(&pendingRequest{})
	for _, c := range []struct {
		err  error
		want audit.Outcome
	}{
		{errors.New("x"), audit.Failed}, {sendqueue.ErrClosed, audit.Failed},
		{fault.New(fault.UpstreamLogin, "x"), audit.LoginRequired},
		{fault.In("a", fault.New(fault.GatewayOverloaded, "x")), audit.Overloaded},
		{&rpcError{code: -32602, message: "x"}, audit.Invalid},
		{faultError(fault.New(fault.CallTimeout, "x"), true), audit.Timeout},
	} {
		if got, _, _ := outcomeOf(u, c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
