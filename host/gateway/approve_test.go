package gateway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// An approvalFixture is a gateway whose policy wants calls of server a to be confirmed.
type approvalFixture struct {
	*fixture
	server   *fake
	store    *approval.Store
	recorded recorded
}

func newApprovalFixture(t *testing.T, revision string, terms policy.Approval) *approvalFixture {
	t.Helper()
	return newApprovalFixtureOf(t, full("a", revision), terms)
}

func newApprovalFixtureOf(t *testing.T, f *fake, terms policy.Approval) *approvalFixture {
	t.Helper()
	a := &approvalFixture{fixture: newFixture(f), server: f, store: approval.NewStore()}
	opts := a.opts
	opts.Approval = a.store
	a.opts, a.audit = opts, newRecord(&a.recorded)
	a.serve = (&pipeline{opts, a.suspended, a.states, a.audit}).serve
	a.warm(t)
	a.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
		Given: true, Default: policy.Allows,
		Rules: []policy.Rule{{Effect: policy.Confirms, Tools: []string{"x"}, Approval: terms, At: "f:1:1"}},
	}))
	return a
}

// calls returns how many calls of tools the server got.
func (a *approvalFixture) calls() int { return a.server.Count("tools/call") }

// asks sends a message and returns everything that the client gets.
func (c *testClient) asks(format string, args ...any) string {
	c.say(format, args...)
	synctest.Wait()
	bubble.Sleep(time.Second)
	synctest.Wait()
	return strings.Join(c.drain(), "\n")
}

const (
	legacyCallOfX = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__x","arguments":{"n":%d}}}`
	modernCallOfX = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__x","arguments":{"n":%d}%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`
)

// TestApprovalByOperator: a call waits under an id, goes through once after it was
// approved, and is about one principal and one set of arguments.
func TestApprovalByOperator(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			a := newApprovalFixture(t, revision, policy.Approval{Valid: 5 * time.Minute, Covers: policy.CoversCall})
			defer a.end()
			alice, bob := a.visitor("alice", "one"), a.visitor("bob", "one")
			defer alice.hangUp()
			defer bob.hangUp()
			alice.greet(t, "{}")
			bob.greet(t, "{}")
			got := alice.asks(legacyCallOfX, 1, 1)
			id := regexp.MustCompile(`under the id ([a-z]{6})`).FindStringSubmatch(got)
			if id == nil || !strings.Contains(got, `"code":-32001`) ||
				!strings.Contains(got, `"reason":"approval_required"`) {
				t.Fatal(got)
			}
			if message := regexp.MustCompile(`"message":"((?:[^"\\]|\\.)*)"`).FindStringSubmatch(got); message == nil ||
				strings.Count(message[1], id[1]) != 1 {
				t.Errorf("the message does not have the id once: %s", got)
			}
			if !strings.Contains(got, `"approval":"`+id[1]+`"`) {
				t.Errorf("the data of the error has no id: %s", got)
			}
			if again := alice.asks(legacyCallOfX, 2, 1); !strings.Contains(again, id[1]) {
				t.Errorf("the same call has another id: %s", again)
			}
			if modern := alice.asks(modernCallOfX, 3, 1, ""); !strings.Contains(modern, `"code":-31019`) ||
				!strings.Contains(modern, `"approval":"`+id[1]+`"`) {
				t.Error(modern)
			}
			if all := a.store.All(); len(all) != 1 || all[0].Times != 3 || string(all[0].Call.Arguments) != `{"n":1}` {
				t.Errorf("%+v", all)
			}
			if _, err := a.store.Answer(id[1],
				approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: true},
				nil); err != nil {
				t.Fatal(err)
			}
			if other := bob.asks(legacyCallOfX, 4, 1); !strings.Contains(other, "approval_required") {
				t.Errorf("another principal: %s", other)
			}
			if other := alice.asks(legacyCallOfX, 5, 2); !strings.Contains(other, "approval_required") {
				t.Errorf("other arguments: %s", other)
			}
			if other := alice.asks(strings.Replace(legacyCallOfX, `"arguments"`,
				`"extra":"x","task":{"ttl":1},"arguments"`, 1), 8, 1); !strings.Contains(other, "approval_required") {
				t.Errorf("other members: %s", other)
			}
			if all := a.store.All(); !slices.ContainsFunc(all, func(w approval.Pending) bool {
				return string(w.Call.Arguments) == `{"n":1}` &&
					string(w.Call.Others) == `{"extra":"x","task":{"ttl":1}}`
			}) {
				t.Errorf("the operator does not see other members: %+v", all)
			}
			if other := alice.asks(strings.Replace(legacyCallOfX, `{"n":%d}`,
				`{"extra":"x","task":{"ttl":1},"arguments":{"n":%d}}`,
				1), 9, 1); !strings.Contains(other, "approval_required") || len(a.store.All()) != 5 {
				t.Errorf("arguments that look like other members: %s %+v", other, a.store.All())
			}
			if a.calls() != 0 {
				t.Fatalf("the server got %d calls", a.calls())
			}
			if done := alice.asks(legacyCallOfX, 6, 1); !strings.Contains(done, `"id":6,"result"`) {
				t.Error(done)
			}
			if again := alice.asks(legacyCallOfX, 7, 1); !strings.Contains(again, "approval_required") ||
				a.calls() != 1 {
				t.Errorf("an approval was used twice: %s", again)
			}
			if events := a.recorded.take(); len(events) != 9+2 { // and initialize
				t.Errorf("the audit was told of %d requests: %+v", len(events), events)
			}
		})
	}
}

// TestDeniedApproval: a denial holds for the call as long as an approval would.
func TestDeniedApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovalFixture(t, "2025-11-25", policy.Approval{Valid: time.Minute, Covers: policy.CoversCall})
		defer a.end()
		alice := a.visitor("alice", "one")
		defer alice.hangUp()
		alice.greet(t, "{}")
		alice.asks(legacyCallOfX, 1, 1)
		id := a.store.All()[0].ID
		if _, err := a.store.Answer(id,
			approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: false}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := a.store.Answer(id,
			approval.Answer{Person: approval.Person{Name: "dave", Operator: true}, Approve: true}, nil); err == nil {
			t.Error("a denied call was approved")
		}
		if got := alice.asks(legacyCallOfX, 2, 1); !strings.Contains(got, `"code":"approval.denied"`) {
			t.Error(got)
		}
		bubble.Sleep(time.Minute)
		if got := alice.asks(legacyCallOfX, 3, 1); !strings.Contains(got, "approval_required") || a.calls() != 0 {
			t.Error(got)
		}
	})
}

// TestApprovalWaits: with wait the call is held, and goes on when it is approved.
func TestApprovalWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovalFixture(t, "2025-11-25",
			policy.Approval{Valid: 5 * time.Minute, Wait: 30 * time.Second, Covers: policy.CoversCall})
		defer a.end()
		alice := a.visitor("alice", "one")
		defer alice.hangUp()
		alice.greet(t, "{}")
		if got := alice.asks(legacyCallOfX, 1, 1); got != "" {
			t.Fatal(got)
		}
		if _, err := a.store.Answer(a.store.All()[0].ID,
			approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: true}, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := strings.Join(alice.drain(), ""); !strings.Contains(got, `"id":1,"result"`) {
			t.Error(got)
		}
		begun := time.Now()
		alice.say(legacyCallOfX, 2, 2)
		bubble.Sleep(31 * time.Second)
		synctest.Wait()
		if got := strings.Join(alice.drain(), ""); !strings.Contains(got, "approval_required") {
			t.Errorf("after %s: %s", time.Since(begun), got)
		}
		got := alice.asks(`{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"a__x","arguments":{"n":9},"_meta":{"progressToken":"t"}}}`)
		if id := a.store.All()[0].ID; !strings.Contains(got, `"progressToken":"t"`) ||
			strings.Count(got, "waits for the approval") != 1 ||
			!strings.Contains(got, id) && !strings.Contains(got, a.store.All()[1].ID) {
			t.Errorf("a client that wants progress: %s", got)
		}
		alice.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"p"}}`)
		alice.say(legacyCallOfX, 3, 3)
		alice.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		synctest.Wait()
		if got := strings.Join(alice.drain(), ""); got != "" || a.calls() != 1 {
			t.Errorf("a cancelled call: %s", got)
		}
	})
}

// TestApprovalOfAHeldTool: a tool that changes while its call waits for an approval is not called.
func TestApprovalOfAHeldTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := full("a", "2025-11-25")
		f.pins = &pinned{digests: map[string]string{}}
		a := newApprovalFixtureOf(t, f,
			policy.Approval{Valid: 5 * time.Minute, Wait: 30 * time.Second, Covers: policy.CoversCall})
		defer a.end()
		alice := a.visitor("alice", "one")
		defer alice.hangUp()
		alice.greet(t, "{}")
		if got := alice.asks(legacyCallOfX, 1, 1); got != "" {
			t.Fatal(got)
		}
		f.pins.mu.Lock()
		f.pins.digests["x"] = "of another definition"
		f.pins.mu.Unlock()
		a.Catalog().Recheck("a")
		if _, err := a.store.Answer(a.store.All()[0].ID,
			approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: true}, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := strings.Join(alice.drain(), ""); !strings.Contains(got, `"code":"tool.held"`) || a.calls() != 0 {
			t.Errorf("%d calls; %s", a.calls(), got)
		}
	})
}

// TestApprovalByLegacyClient: the client's person is asked with an elicitation. One
// without the capability falls back to the operator.
func TestApprovalByLegacyClient(t *testing.T) {
	for _, c := range []struct{ what, caps, answer, want string }{
		{"accepted", `{"elicitation":{}}`, `"result":{"action":"accept","content":{}}`, `"id":1,"result"`},
		{"declined", `{"elicitation":{}}`, `"result":{"action":"decline"}`, `"code":"approval.denied"`},
		{"cancelled", `{"elicitation":{}}`, `"result":{"action":"cancel"}`, `"code":"approval.denied"`},
		{"an error", `{"elicitation":{}}`, `"error":{"code":-32603,"message":"x"}`, `"code":"approval.denied"`},
		{"cannot be asked", `{}`, "", "approval_required"},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovalFixture(t, "2026-07-28",
					policy.Approval{ByClient: true, Valid: time.Minute, Covers: policy.CoversCall})
				defer a.end()
				alice := a.visitor("alice", "one")
				defer alice.hangUp()
				alice.greet(t, c.caps)
				got := alice.asks(legacyCallOfX, 1, 1)
				if c.answer != "" {
					question := regexp.MustCompile(`"id":(\d+),"method":"elicitation/create"`).FindStringSubmatch(got)
					if question == nil || !strings.Contains(got, `tool a__x of server a\n{\n  \"n\": 1\n}`) {
						t.Fatal(got)
					}
					got = alice.asks(`{"jsonrpc":"2.0","id":%s,%s}`, question[1], c.answer)
				}
				if !strings.Contains(got, c.want) {
					t.Error(got)
				}
				want := map[bool]int{true: 1}[c.what == "accepted"]
				if a.calls() != want {
					t.Errorf("the server got %d calls", a.calls())
				}
				if again := alice.asks(legacyCallOfX, 2, 1); strings.Contains(again, `"result"`) {
					t.Errorf("the same call again: %s", again)
				}
			})
		})
	}
}

// TestApprovalByModernClient: the call ends with the question, and is sent again with the
// answer. The state is good for one request, and for the same params only.
func TestApprovalByModernClient(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			a := newApprovalFixture(t, revision,
				policy.Approval{ByClient: true, Valid: time.Minute, Covers: policy.CoversCall})
			defer a.end()
			alice, bob := a.visitor("alice", "one"), a.visitor("bob", "one")
			defer alice.hangUp()
			defer bob.hangUp()
			ask := func(id int) string {
				got := alice.asks(modernCallOfX, id, 1, "")
				state := regexp.MustCompile(`"requestState":"(junctor\.[^"]+)"`).FindStringSubmatch(got)
				if state == nil || !strings.Contains(got, `"resultType":"input_required"`) ||
					!strings.Contains(got, `"junctor/approval":{"method":"elicitation/create"`) {
					t.Fatal(got)
				}
				return state[1]
			}
			answer := func(state, action string) string {
				return fmt.Sprintf(
					`,"requestState":%q,"inputResponses":{"junctor/approval":{"action":%q,"content":{}}}`,
					state, action,
				)
			}
			state := ask(1)
			for what, got := range map[string]string{
				"other arguments":   alice.asks(modernCallOfX, 2, 2, answer(state, "accept")),
				"another principal": bob.asks(modernCallOfX, 3, 1, answer(state, "accept")),
				"a forged state":    alice.asks(modernCallOfX, 4, 1, answer(state[:len(state)-2]+"AA", "accept")),
				"garbage":           alice.asks(modernCallOfX, 4, 1, answer("garbage0", "accept")),
			} {
				if !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, `"reason":"request_state"`) ||
					a.calls() != 0 {
					t.Errorf("%s: %s", what, got)
				}
			}
			if got := alice.asks(
				modernCallOfX, 5, 1, `,"inputResponses":{"junctor/approval":{"action":"accept"}}`,
			); !strings.Contains(got, `"input_required"`) || a.calls() != 0 {
				t.Errorf("no state: %s", got)
			}
			if got := alice.asks(modernCallOfX, 6, 1, answer(state, "accept")); !strings.Contains(got,
				`"id":6,"result"`) ||
				strings.Contains(got, "input_required") || a.calls() != 1 {
				t.Fatal(got)
			}
			if sent := strings.Join(a.server.Seen(true), "\n"); strings.Contains(sent, "junctor/approval") ||
				strings.Contains(sent, "junctor.") {
				t.Errorf("the server was told of the approval: %s", sent)
			}
			if got := alice.asks(modernCallOfX, 7, 1,
				answer(state, "accept")); !strings.Contains(got, `"reason":"request_state"`) || a.calls() != 1 {
				t.Errorf("a state was used twice: %s", got)
			}
			declined := ask(9)
			if got := alice.asks(modernCallOfX, 8, 1, answer(declined, "decline")); !strings.Contains(got,
				`"code":"approval.denied"`) {
				t.Error(got)
			}
			if got := alice.asks(modernCallOfX, 8, 1,
				answer(declined, "accept")); !strings.Contains(got, `"reason":"request_state"`) || a.calls() != 1 {
				t.Errorf("accepted after it was declined: %s", got)
			}
			late := ask(10)
			bubble.Sleep(AskTime + time.Second)
			if got := alice.asks(modernCallOfX, 11, 1,
				answer(late, "accept")); !strings.Contains(got, `"reason":"request_state"`) || a.calls() != 1 {
				t.Errorf("a late answer: %s", got)
			}
		})
	}
}

// TestApprovalCovers: one approval of a tool or a server is for what it covers, until it
// expires.
func TestApprovalCovers(t *testing.T) {
	for covers, other := range map[policy.Coverage]string{policy.CoversTool: "approval_required",
		policy.CoversServer: `"result"`} {
		synctest.Test(t, func(t *testing.T) {
			a := newApprovalFixture(t, "2025-11-25", policy.Approval{Valid: time.Minute, Covers: covers})
			defer a.end()
			a.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
				Given: true, Default: policy.Allows, Rules: []policy.Rule{{Effect: policy.Confirms,
					Approval: policy.Approval{Valid: time.Minute, Covers: covers}, At: "f:1:1"}},
			}))
			alice := a.visitor("alice", "one")
			defer alice.hangUp()
			alice.greet(t, "{}")
			alice.asks(legacyCallOfX, 1, 1)
			if _, err := a.store.Answer(a.store.All()[0].ID,
				approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: true},
				nil); err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				if got := alice.asks(legacyCallOfX, n+2, n); !strings.Contains(got, `"result"`) {
					t.Errorf("%s: %s", covers, got)
				}
			}
			if got := alice.asks(
				`{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"a__x"}}`,
			); !strings.Contains(got, other) {
				t.Errorf("%s, another item: %s", covers, got)
			}
			bubble.Sleep(time.Minute)
			if got := alice.asks(legacyCallOfX, 10, 1); !strings.Contains(got, "approval_required") {
				t.Errorf("%s, expired: %s", covers, got)
			}
		})
	}
}

// TestApprovalLimitIsNamed: a client whose tenant has its share of the approvals is told so, and
// a client of another tenant is asked.
func TestApprovalLimitIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovalFixture(t, "2026-07-28", policy.Approval{Valid: time.Hour, Covers: policy.CoversCall})
		defer a.end()
		a.store.SetShare(approval.MaxKept / 2)
		for i := range 20 {
			one := a.visitor(fmt.Sprint(i), "one")
			defer one.hangUp()
			for n := range approval.MaxWaitingPerPrincipal {
				one.say(modernCallOfX, n, n, "")
			}
			synctest.Wait()
			one.drain()
		}
		mine, other := a.visitor("me", "one"), a.visitor("me", "two")
		defer mine.hangUp()
		defer other.hangUp()
		if got := mine.asks(modernCallOfX, 1, 1, ""); !strings.Contains(got,
			"approval limit reached: 500 calls of this tenant") || !strings.Contains(got, `"reason":"overloaded"`) {
			t.Error(got)
		}
		if got := other.asks(modernCallOfX, 1, 1, ""); !strings.Contains(got, "approval_required") {
			t.Error(got)
		}
	})
}
