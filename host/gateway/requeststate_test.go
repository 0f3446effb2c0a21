package gateway

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/seal"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// trusting is a modern server that believes the state of a request more than its arguments:
// it asks about a payment, and pays what the state says.
func trusting(name string) *fake {
	f := newFake(name, "2026-07-28")
	f.Capabilities = `{"tools":{}}`
	f.Set("tools/list", `{"name":"pay","inputSchema":{"type":"object"}}`,
		`{"name":"refund","inputSchema":{"type":"object"}}`)
	f.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodCallTool {
			return ""
		}
		state, ok := mcp.TextMember([]byte(m.Text), "params", "requestState")
		if !ok {
			arguments := mcp.Member([]byte(m.Text), "params", "arguments")
			return conversation.Result(m, fmt.Sprintf(
				`{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":%s}`,
				mcp.AppendText(nil, string(arguments)),
			))
		}
		return conversation.Result(m,
			fmt.Sprintf(`{"resultType":"complete","content":[],"paid":%s}`, mcp.AppendText(nil, state)))
	}
	return f
}

// payment is a request to the server of trusting. more is further text of the params.
func payment(amount int, state, more string) string {
	if state != "" {
		more += fmt.Sprintf(`"requestState":%s,"inputResponses":{"k":{"roots":[]}},`, mcp.AppendText(nil, state))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"amount":%d},%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{}}}}}}`,
		amount, more)
}

// refused reports whether an answer is that for a state which is not valid.
func refused(answer string) bool {
	return strings.Contains(answer, `"code":-32602`) && strings.Contains(answer, `"reason":"request_state"`)
}

// paid counts the payments that the server made.
func paid(f *fake) int { return strings.Count(strings.Join(f.Seen(true), "\n"), `"requestState"`) }

// TestStatesAreBound: a state of a modern server continues the call that it was made for, of
// the client that got it, and nothing else, however connections are shared.
func TestStatesAreBound(t *testing.T) {
	for _, share := range []Share{"", PerTenant, PerSession} {
		t.Run("share "+string(share), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := trusting("a")
				f.share = share
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				alice, bob, namesake := d.visitor("alice", "one"), d.visitor("bob", "one"), d.visitor("alice", "two")
				for _, c := range []*testClient{alice, bob, namesake} {
					defer c.hangUp()
				}
				state := stateOf(d.ask(alice, payment(1000, "", "")))
				if !strings.HasPrefix(state, "junctor.") || strings.Contains(state, "1000") {
					t.Fatalf("the client got the state %q", state)
				}
				rename := strings.NewReplacer("a__pay", "a__refund").Replace
				for what, got := range map[string]string{
					"other arguments": d.ask(alice, payment(1, state, "")),
					"another subject": d.ask(bob, payment(1000, state, "")),
					"another tenant":  d.ask(namesake, payment(1000, state, "")),
					"another tool":    d.ask(alice, rename(payment(1000, state, ""))),
					"no arguments": d.ask(alice,
						strings.Replace(payment(1000, state, ""), `"arguments":{"amount":1000},`, "", 1)),
					"a further member":      d.ask(alice, payment(1000, state, `"more":1,`)),
					"the server's state":    d.ask(alice, payment(1000, `{"amount":1000}`, "")),
					"an altered state":      d.ask(alice, payment(1000, flipped(state), "")),
					"an empty state":        d.ask(alice, payment(1000, "", `"requestState":"",`)),
					"a state of its own":    d.ask(alice, payment(1000, "", `"requestState":{"amount":1000},`)),
					"a number":              d.ask(alice, payment(1000, "", `"requestState":7,`)),
					"a state in a session":  d.ask(greeted(t, d, "alice"), legacyPayment(1000, state)),
					"a server's in session": d.ask(greeted(t, d, "alice"), legacyPayment(1000, "x")),
				} {
					if !refused(got) {
						t.Errorf("%s: %s", what, got)
					}
				}
				if n := paid(f); n != 0 {
					t.Fatalf("the server got %d states", n)
				}
				if got := d.ask(alice, payment(1000, state, "")); !strings.Contains(got, `"paid":"{\"amount\":1000}"`) {
					t.Errorf("the right request: %s", got)
				}
				if got := d.ask(alice, payment(1000, state, "")); !refused(got) || paid(f) != 1 {
					t.Errorf("the same again: %s", got)
				}
			})
		})
	}
}

// greeted returns a client with a legacy session.
func greeted(t *testing.T, d *fixture, subject string) *testClient {
	c := d.visitor(subject, "one")
	t.Cleanup(func() { _ = c.box.Close() })
	c.greet(t, "{}")
	return c
}

func legacyPayment(amount int, state string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"amount":%d},"requestState":%s}}`,
		amount, mcp.AppendText(nil, state))
}

// confirming is a fixture whose policy wants large payments to be approved.
func confirming(t *testing.T, f *fake, terms policy.Approval) *approvalFixture {
	t.Helper()
	a := newApprovalFixtureOf(t, f, terms)
	a.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
		Given: true, Default: policy.Allows,
		Rules: []policy.Rule{{Effect: policy.Confirms, Tools: []string{"pay"}, Approval: terms, At: "f:1:1"}},
	}))
	return a
}

// approveAll approves what waits, and returns how many calls that were.
func (a *approvalFixture) approveAll() (n int) {
	for _, p := range a.store.All() {
		if p.State == approval.Waiting {
			_, _ = a.store.Answer(p.ID,
				approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: true}, nil)
			n++
		}
	}
	return n
}

// TestOneApprovalIsOneExecution: after one approval the call is made once. Neither states that
// the gateway did not seal nor those of the call itself make another one.
func TestOneApprovalIsOneExecution(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := trusting("a")
			if stateless { // it asks until there are answers, and needs no state
				f.Answer = func(_ *conversation.Link, m conversation.Message) string {
					switch {
					case m.Method != mcp.MethodCallTool:
						return ""
					case strings.Contains(m.Text, "inputResponses"):
						return conversation.Result(m,
							`{"resultType":"complete","content":[],"paid":"{\"amount\":1000}"}`)
					}
					return conversation.Result(m,
						`{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}`)
				}
			}
			a := confirming(t, f, policy.Approval{Valid: 5 * time.Minute, Covers: policy.CoversCall})
			defer a.end()
			alice := a.visitor("alice", "one")
			defer alice.hangUp()
			if got := a.ask(alice, payment(1000, "", "")); !strings.Contains(got, "approval_required") {
				t.Fatal(got)
			}
			a.approveAll()
			state := stateOf(a.ask(alice, payment(1000, "", "")))
			if !strings.HasPrefix(state, "junctor.") {
				t.Fatalf("no state: %q", state)
			}
			for i := range 4 {
				if got := a.ask(alice, payment(1000, fmt.Sprintf("garbage%d", i), "")); !refused(got) {
					t.Errorf("garbage: %s", got)
				}
			}
			if got := a.ask(alice, payment(1, state, "")); !refused(got) {
				t.Errorf("the state with other arguments: %s", got)
			}
			if got := a.ask(alice, payment(1000, "", `"inputResponses":{"k":{"roots":[]}},`)); !strings.Contains(got,
				"approval_required") {
				t.Errorf("answers without a state: %s", got)
			}
			if got := a.ask(alice, payment(1000, state, "")); !strings.Contains(got, `"paid":"{\"amount\":1000}"`) {
				t.Fatalf("the approved call does not continue: %s", got)
			}
			if got := a.ask(alice, payment(1000, state, "")); !refused(got) {
				t.Errorf("the state again: %s", got)
			}
			if got := a.ask(alice, payment(1000, "", "")); !strings.Contains(got, "approval_required") {
				t.Errorf("the call again: %s", got)
			}
			if n := strings.Count(strings.Join(f.Seen(true), "\n"), "inputResponses"); n != 1 {
				t.Errorf("the server was paid %d times", n)
			}
		})
	}
}

// TestApprovalOfAnotherRuleDoesNotContinue: a call that was begun without an approval, or with
// one under other terms, does not continue without the approval that the policy wants now.
func TestApprovalOfAnotherRuleDoesNotContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := trusting("a")
		a := confirming(t, f, policy.Approval{Valid: 5 * time.Minute, ByClient: true, Covers: policy.CoversCall})
		defer a.end()
		alice := a.visitor("alice", "one")
		defer alice.hangUp()
		question := stateOf(a.ask(alice, payment(1000, "", "")))
		yes := fmt.Sprintf(`"requestState":%q,"inputResponses":{"junctor/approval":{"action":"accept"}},`, question)
		state := stateOf(a.ask(alice, payment(1000, "", yes)))
		if paid(f) != 0 || state == "" || state == question {
			t.Fatalf("%q", state)
		}
		a.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
			Given: true, Default: policy.Allows, Rules: []policy.Rule{{Effect: policy.Confirms, Tools: []string{"pay"},
				Approval: policy.Approval{Valid: time.Minute, Covers: policy.CoversCall}, At: "g:1:1"}},
		}))
		if got := a.ask(alice, payment(1000, state, "")); !strings.Contains(got, "approval_required") || paid(f) != 0 {
			t.Fatalf("under the new rule: %s", got)
		}
		a.approveAll()
		if got := a.ask(alice, payment(1000, state, "")); !strings.Contains(got, `"paid"`) || paid(f) != 1 {
			t.Errorf("after it was approved: %s", got)
		}
	})
}

// TestUnsentStatesStayValid: a request that does not reach the server uses up no state.
func TestUnsentStatesStayValid(t *testing.T) {
	for name, c := range map[string]struct {
		hinder func(d *fixture, f *fake) (undo func())
		want   string
	}{
		"the rate limit": {func(d *fixture, f *fake) func() {
			d.serve = (&pipeline{withLimit(d.opts, fullLimiter{}), d.suspended, d.states, d.audit}).serve
			return func() { d.serve = (&pipeline{d.opts, d.suspended, d.states, d.audit}).serve }
		}, "rate_limited"},
		"the policy": {func(d *fixture, f *fake) func() {
			before := d.generations.current().Policy
			d.setPolicy(policy.New(map[string]policy.Server{"a": {Deny: []policy.Pattern{{At: "f:1:1", Glob: "pay"}}}},
				policy.Rules{}))
			return func() { d.setPolicy(before) }
		}, "unknown_name"},
		"the schema": {func(d *fixture, f *fake) func() {
			f.Set("tools/list", `{"name":"pay","inputSchema":{"type":"object","required":["to"]}}`)
			_ = d.Catalog().Refresh(d.ctx(), "a")
			return func() {
				f.Set("tools/list", `{"name":"pay","inputSchema":{"type":"object"}}`)
				_ = d.Catalog().Refresh(d.ctx(), "a")
			}
		}, `"isError":true`},
		"a server that is away": {func(d *fixture, f *fake) func() {
			f.Link().End(nil)
			f.broken = fault.New(fault.UpstreamUnavailable, "it is away")
			synctest.Wait()
			return func() {
				f.broken = nil
				bubble.Sleep(time.Minute)
			}
		}, "upstream.unavailable"},
		"a missing login": {func(d *fixture, f *fake) func() {
			f.Link().End(nil)
			f.broken = fault.New(fault.UpstreamLogin, "nobody is logged in")
			synctest.Wait()
			return func() {
				f.broken = nil
				bubble.Sleep(time.Minute)
			}
		}, "upstream.needs_login"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := trusting("a")
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				alice := d.visitor("alice", "one")
				defer alice.hangUp()
				state := stateOf(d.ask(alice, payment(1000, "", "")))
				undo := c.hinder(d, f)
				for range 3 {
					if got := d.ask(alice, payment(1000, state, "")); !strings.Contains(got, c.want) || paid(f) != 0 {
						t.Errorf("%s", got)
					}
				}
				undo()
				if got := d.ask(alice, payment(1000, state, "")); !strings.Contains(got, `"paid"`) {
					t.Errorf("afterwards: %s", got)
				}
				if got := d.ask(alice, payment(1000, state, "")); !refused(got) || paid(f) != 1 {
					t.Errorf("once more: %s", got)
				}
			})
		})
	}
}

func (d *fixture) ctx() context.Context { return context.Background() }

func withLimit(o Options, l limit.Limiter) Options {
	o.Limit = l
	return o
}

// A fullLimiter lets no call pass.
type fullLimiter struct{}

func (fullLimiter) Acquire(context.Context, limit.Call) (func(), error) {
	return nil, &limit.RateError{Rate: 1, RetryAfter: time.Second}
}

// TestDeniedItemsHideBehindStates: whatever the state, an item that is denied looks like one
// that does not exist.
func TestDeniedItemsHideBehindStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := trusting("a")
		f.rules.Deny = []policy.Pattern{{At: "f:1:1", Glob: "pay"}}
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		alice := d.visitor("alice", "one")
		defer alice.hangUp()
		want := d.ask(alice, strings.Replace(payment(1, "", ""), "a__pay", "a__gone", 1))
		for _, state := range []string{"", "garbage"} {
			if got := d.ask(alice, payment(1, state, "")); strings.ReplaceAll(got, "a__pay", "a__gone") != want {
				t.Errorf("with the state %q: %s, and for an unknown tool: %s", state, got, want)
			}
		}
	})
}

// TestConcurrentDuplicatesRunOnce: of many requests with one state at the same time, the server
// gets one.
func TestConcurrentDuplicatesRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := trusting("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		alice := d.visitor("alice", "one")
		defer alice.hangUp()
		state := stateOf(d.ask(alice, payment(1000, "", "")))
		var done, no atomic.Int64
		var all sync.WaitGroup
		for range 24 {
			all.Go(func() {
				switch got := d.ask(alice, payment(1000, state, "")); {
				case strings.Contains(got, `"paid"`):
					done.Add(1)
				case refused(got):
					no.Add(1)
				default:
					t.Error(got)
				}
			})
		}
		all.Wait()
		if done.Load() != 1 || no.Load() != 23 || paid(f) != 1 {
			t.Errorf("%d were done and %d refused; the server got %d", done.Load(), no.Load(), paid(f))
		}
	})
}

// TestStatesOutliveTheProcess: a client comes back to another process with the same keys, which
// continues the call once. A process with other keys, or for another configuration, refuses.
func TestStatesOutliveTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	shared := func(scope string) *seal.Codec {
		keys, uses, err := seal.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		s := seal.New(keys, scope, uses)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	open := func(states *seal.Codec) (*fixture, *fake, *testClient) {
		f := trusting("a")
		d := newFixture(f)
		t.Cleanup(d.end)
		d.warm(t)
		if states != nil {
			d.states = states
			d.serve = (&pipeline{d.opts, d.suspended, states, d.audit}).serve
		}
		c := d.visitor("alice", "one")
		t.Cleanup(c.hangUp)
		return d, f, c
	}
	first, _, alice := open(shared("one.hcl"))
	state := stateOf(first.ask(alice, payment(1000, "", "")))
	first.end()
	for what, s := range map[string]*seal.Codec{"other keys": nil, "another configuration": shared("two.hcl")} {
		d, f, c := open(s)
		if got := d.ask(c, payment(1000, state, "")); !refused(got) || paid(f) != 0 {
			t.Errorf("%s: %s", what, got)
		}
	}
	second, f, again := open(shared("one.hcl"))
	if got := second.ask(again, payment(1000, state, "")); !strings.Contains(got, `"paid":"{\"amount\":1000}"`) ||
		paid(f) != 1 {
		t.Errorf("after a restart: %s", got)
	}
	third, f, once := open(shared("one.hcl"))
	if got := third.ask(once, payment(1000, state, "")); !refused(got) || paid(f) != 0 {
		t.Errorf("in a third process: %s", got)
	}
}

// TestUncheckedStatesAreNotSent: if it cannot be known whether a state was used, the server gets
// nothing, the client learns no path, and the state stays valid.
func TestUncheckedStatesAreNotSent(t *testing.T) {
	f := trusting("a")
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	broken := &brokenUses{Memory: seal.NewMemory()}
	d.states = seal.New([]seal.Key{seal.NewKey()}, "", broken)
	d.serve = (&pipeline{d.opts, d.suspended, d.states, d.audit}).serve
	alice := d.visitor("alice", "one")
	defer alice.hangUp()
	state := stateOf(d.ask(alice, payment(1000, "", "")))
	broken.full.Store(true)
	if got := d.ask(alice, payment(1000, state, "")); !strings.Contains(got, `"reason":"overloaded"`) ||
		strings.Contains(got, "disk") || paid(f) != 0 {
		t.Errorf("%s", got)
	}
	broken.full.Store(false)
	if got := d.ask(alice, payment(1000, state, "")); !strings.Contains(got, `"paid"`) {
		t.Errorf("afterwards: %s", got)
	}
	if d.log.count("the disk is full") != 1 {
		t.Error("the log does not name the cause")
	}
}

type brokenUses struct {
	*seal.Memory
	full atomic.Bool
}

func (b *brokenUses) Add(ctx context.Context, id seal.ID, expires time.Time) error {
	if b.full.Load() {
		return fmt.Errorf("the disk is full")
	}
	return b.Memory.Add(ctx, id, expires)
}

// TestStatesOfServersAreBounded: the largest state passes, and a larger one is an error that
// names the limit.
func TestStatesOfServersAreBounded(t *testing.T) {
	const most = seal.MaxData - 32 - 2 // the approval, and the quotes
	for size, want := range map[int]string{most: `"paid":"xxx`,
		most + 1: "the requestState of the server is too large: 262145 bytes are more than the limit of 262144"} {
		synctest.Test(t, func(t *testing.T) {
			f := trusting("a")
			answer := f.Answer
			f.Answer = func(l *conversation.Link, m conversation.Message) string {
				if m.Method == mcp.MethodCallTool && !strings.Contains(m.Text, "requestState") {
					return conversation.Result(m,
						fmt.Sprintf(`{"resultType":"input_required","requestState":%q}`, strings.Repeat("x", size)))
				}
				return answer(l, m)
			}
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			alice := d.visitor("alice", "one")
			defer alice.hangUp()
			got := d.ask(alice, payment(1, "", ""))
			if state := stateOf(got); state != "" {
				got = d.ask(alice, payment(1, state, ""))
			}
			if !strings.Contains(got, want) {
				t.Errorf("%d bytes: %.300s", size, got)
			}
		})
	}
}
