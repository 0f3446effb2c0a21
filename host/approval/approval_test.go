package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func callBy(subject, arguments string) *Call {
	return &Call{
		Principal: authn.Principal{Subject: subject, Tenant: "one", Method: "test"},
		Item:      policy.Item{Server: "s", Kind: policy.Tool, Name: "t"},
		Arguments: []byte(arguments), Terms: policy.Approval{Valid: time.Minute, Covers: policy.CoversCall},
	}
}

// TestShow: a person sees what would be sent, but for secrets, and nothing hides.
func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		``:                                       "{}",
		`{"a":1}`:                                "{\n  \"a\": 1\n}",
		`{"api_token":"x","n":{"Password":[1]}}`: "{\n  \"api_token\": \"*** (3 bytes hidden)\",\n  \"n\": {\n    \"Password\": \"*** (3 bytes hidden)\"\n  }\n}",
		`[{"key":1}]`:                            "[\n  {\n    \"key\": \"*** (1 bytes hidden)\"\n  }\n]",
		`{"a":"s3cr3t-value"}`:                   "{\n  \"a\": \"(hidden)\"\n}",
		"{\"a\":\"x\u202ey\u200b\U000e0041\"}":   `{` + "\n" + `  "a": "x\u202ey\u200b\U000e0041"` + "\n}",
		`{"a":"\u001b[2J"}`:                      "{\n  \"a\": \"\\u001b[2J\"\n}",
		`{"\u0063md":"\u0072m <\u6570>\/"}`:      "{\n  \"cmd\": \"rm <数>/\"\n}",
		`{"a":"s3cr3t\u002dvalue"}`:              "{\n  \"a\": \"(hidden)\"\n}",
		`{"a":"\\u0072 \"\u0022\\"}`:             "{\n  \"a\": \"\\\\u0072 \\\"\\\"\\\\\"\n}",
		`{"a":"\u202e\n\t\u0000"}`:               "{\n  \"a\": \"\\u202e\\n\\t\\u0000\"\n}",
		`{"a":"\ud800\u0041"}`:                   "{\n  \"a\": \"\\ud800\\u0041\"\n}",
		`{`:                                      "arguments that are not valid",
	} {
		if got := Show([]byte(in),
			func(text string) string { return strings.ReplaceAll(text, "s3cr3t-value", "(hidden)") }); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	deep := strings.Repeat(`{"a":`, 40) + `"x"` + strings.Repeat("}", 40)
	if got := Show([]byte(deep), nil); strings.Contains(got, `"x"`) ||
		!strings.Contains(got, `"*** (147 bytes hidden)"`) {
		t.Errorf("what is too deep to look at is shown: %s", got)
	}
	long := Show([]byte(`{"a":"`+strings.Repeat("é", maxShown)+`"}`), nil)
	if len(long) > maxShown+100 || !strings.Contains(long, "bytes more") {
		t.Errorf("%d bytes are shown", len(long))
	}
}

// FuzzUnescape: what a person is shown says the same as the arguments.
func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{`{"a":"\u0041\\\"","b":["\/"]}`, `"\ud83d\ude00"`, `"\ud800"`, `"`, `"\`,
		`{"a":"<>&"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		shown := unescape(value)
		var before, after any
		if json.Unmarshal(value, &before) != nil {
			return
		}
		if err := json.Unmarshal(shown, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%q is shown as %q: %v", value, shown, err)
		}
	})
}

// TestStoreIsBounded: no client fills the store, and none asks about what no person can
// judge.
func TestStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore()
		for i := range 3 * MaxWaitingPerPrincipal {
			err := s.Confirm(context.Background(), callBy("alice", fmt.Sprintf(`{"n":%d}`, i)))
			if want := fault.ApprovalRequired; i >= MaxWaitingPerPrincipal {
				want = fault.GatewayOverloaded
				if !fault.Is(err, want) {
					t.Fatalf("call %d: %v", i, err)
				}
			} else if !fault.Is(err, want) {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		if err := s.Confirm(context.Background(), callBy("bob", `{}`)); !fault.Is(err, fault.ApprovalRequired) {
			t.Errorf("another principal: %v", err)
		}
		if err := s.Confirm(context.Background(),
			callBy("carol", `{"a":"`+strings.Repeat("x", maxKept)+`"}`)); !fault.Is(err, fault.ApprovalDenied) {
			t.Errorf("large arguments: %v", err)
		}
		for i := range 2 * MaxKept {
			_ = s.Confirm(context.Background(), callBy(fmt.Sprint("p", i), `{}`))
		}
		if n := len(s.All()); n > MaxKept {
			t.Errorf("%d calls are kept", n)
		}
		bubble.Sleep(time.Minute + 1)
		if n := len(s.All()); n != 0 {
			t.Errorf("%d calls have not expired", n)
		}
	})
}

// TestAnswer: an id is answered once, and unknown ones are errors.
func TestAnswer(t *testing.T) {
	s := NewStore()
	_ = s.Confirm(context.Background(), callBy("alice", `{}`))
	id := s.All()[0].ID
	for _, wrong := range []string{"", "x", strings.ToUpper(id), id + "a"} {
		if _, err := s.Answer(wrong, answerOf("me", true), nil); !fault.Is(err, fault.ApprovalUnknown) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if p, err := s.Answer(id, answerOf("me", true), nil); err != nil || p.By != "me" || p.State != Approved {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Answer(id, answerOf("me", false), nil); !fault.Is(err, fault.ApprovalUnknown) {
		t.Errorf("a second answer: %v", err)
	}
	if ok, err := s.Use(callBy("alice", `{}`)); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, _ := s.Use(callBy("alice", `{}`)); ok {
		t.Error("used twice")
	}
}

// TestCanonicalArguments: what JSON leaves to its writer makes no other call, and a number
// that is written in another way does.
func TestCanonicalArguments(t *testing.T) {
	same := []string{`{"a":1,"b":{"x":[1,2],"y":"é"}}`, `{ "b": {"y":"\u00e9", "x":[ 1,2 ]}, "a":1 }`}
	other := []string{`{"a":1.0,"b":{"x":[1,2],"y":"é"}}`, `{"a":1,"b":{"x":[2,1],"y":"é"}}`,
		`{"a":1,"b":{"x":[1,2],"y":"e\u0301"}}`, `{"a":"1","b":{"x":[1,2],"y":"é"}}`}
	if a, b := canonical([]byte(same[0])), canonical([]byte(same[1])); string(a) != string(b) {
		t.Errorf("%s and %s", a, b)
	}
	for _, text := range other {
		if a, b := canonical([]byte(same[0])), canonical([]byte(text)); string(a) == string(b) {
			t.Errorf("%s equals %s", text, same[0])
		}
	}
	for _, pair := range [][2]string{{"9007199254740993", "9007199254740992"}, {"1e2", "100"}, {"-0", "0"},
		{`{"a":1,"a":2}`, `{"a":2}`}, {`{"a":1,"a":2}`, `{"a":2,"a":1}`}} {
		if string(canonical([]byte(pair[0]))) == string(canonical([]byte(pair[1]))) {
			t.Errorf("%s equals %s", pair[0], pair[1])
		}
	}
}

// TestApprovalIsOfOneRule: an approval by the client is none by another person, and one for
// a tool or a server holds under the rule that asked for it only.
func TestApprovalIsOfOneRule(t *testing.T) {
	for _, covers := range []policy.Coverage{policy.CoversCall, policy.CoversTool, policy.CoversServer} {
		client, person := callBy("carol", `{"env":"a"}`), callBy("carol", `{"env":"a"}`)
		client.Terms.ByClient, client.Terms.Covers, person.Terms.Covers = true, covers, covers
		s := NewStore()
		s.Approve(client)
		if ok, _ := s.Use(person); ok {
			t.Errorf("%s: the client approved what another person must", covers)
		}
		other := *client
		other.Terms.Rule = "another rule"
		if ok, _ := s.Use(&other); ok && covers != policy.CoversCall {
			t.Errorf("%s: an approval under one rule counts under another", covers)
		}
	}
}

// TestUsedApprovalsMakeRoom: calls that were approved and made keep no others from being
// asked about.
func TestUsedApprovalsMakeRoom(t *testing.T) {
	s := NewStore()
	for i := range 2 * MaxKept {
		c := callBy("carol", fmt.Sprintf(`{"n":%d}`, i))
		c.Terms.ByClient = true
		s.Approve(c)
	}
	if n := len(s.All()); n > MaxKept {
		t.Errorf("%d entries", n)
	}
	if err := s.Confirm(t.Context(), callBy("bob", `{}`)); !fault.Is(err, fault.ApprovalRequired) {
		t.Error(err)
	}
}

// A client is the principal of a call.
type client struct{ tenant, subject string }

// TestApprovalsAreShared: the calls of one tenant leave room for those of the others, and
// those of one principal leave room for those of its tenant. Each error names the limit.
func TestApprovalsAreShared(t *testing.T) {
	for name, c := range map[string]struct {
		share int64
		fill  func(ask func(client, int) error, s *Store)
		by    client
		want  string // of the error; empty: the call waits
	}{
		"20 principals of one tenant, another tenant": {500, fillTenant("a", 20), client{"b", "x"}, ""},
		"20 principals of one tenant, a new one": {500, fillTenant("a", 20), client{"a", "x"},
			"500 calls of this tenant wait or were answered, which is its share of 1000"},
		"20 principals of one tenant, without shares": {0, fillTenant("a", 20), client{"b", "x"},
			"1000 calls of all clients wait or were answered"},
		"one principal, itself": {500, fillTenant("a", 1), client{"a", "0"},
			"50 calls of this client wait, which is its share of 1000"},
		"one principal, another of its tenant": {500, fillTenant("a", 1), client{"a", "1"}, ""},
		"two tenants, a third":                 {400, fillTenants("a", "b"), client{"c", "x"}, ""},
		"denied calls count": {500, func(ask func(client, int) error, s *Store) {
			for i := range 500 {
				_ = ask(client{"a", fmt.Sprint(i % 20)}, i)
				_, _ = s.Answer(waitingID(s), answerOf("me", false), nil)
			}
		}, client{"a", "x"}, "500 calls of this tenant"},
		"calls that were made make room in the tenant": {500, func(_ func(client, int) error, s *Store) {
			for i := range 600 {
				made := callBy("carol", fmt.Sprintf(`{"n":%d}`, i))
				made.Principal.Tenant, made.Terms.ByClient = "a", true
				s.Approve(made)
			}
		}, client{"a", "x"}, ""},
		"a share above the limit is the limit": {5000, fillTenant("a", 20), client{"b", "x"},
			"1000 calls of all clients"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore()
			s.SetShare(c.share)
			ask := func(by client, n int) error {
				one := callBy(by.subject, fmt.Sprintf(`{"n":%d}`, n))
				one.Principal.Tenant = by.tenant
				return s.Confirm(t.Context(), one)
			}
			c.fill(ask, s)
			err := ask(c.by, -1)
			if c.want == "" {
				if !fault.Is(err, fault.ApprovalRequired) {
					t.Errorf("the call does not wait: %v", err)
				}
			} else if !fault.Is(err, fault.GatewayOverloaded) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// fillTenant asks for as many approvals as the principals of a tenant may.
func fillTenant(tenant string, principals int) func(func(client, int) error, *Store) {
	return func(ask func(client, int) error, _ *Store) {
		for i := range principals {
			for n := range MaxWaitingPerPrincipal + 1 {
				_ = ask(client{tenant, fmt.Sprint(i)}, n)
			}
		}
	}
}

func fillTenants(tenants ...string) func(func(client, int) error, *Store) {
	return func(ask func(client, int) error, s *Store) {
		for _, tenant := range tenants {
			fillTenant(tenant, 20)(ask, s)
		}
	}
}

// waitingID returns the id of a call that waits.
func waitingID(s *Store) string { return s.All()[0].ID }

// TestUsedApprovalsOfOneTenantStay: a tenant that makes many approved calls removes no
// entries of another tenant.
func TestUsedApprovalsOfOneTenantStay(t *testing.T) {
	s := NewStore()
	s.SetShare(500)
	for tenant, n := range map[string]int{"b": 10, "a": 2 * MaxKept} {
		for i := range n {
			made := callBy("carol", fmt.Sprintf(`{"n":%d}`, i))
			made.Principal.Tenant, made.Terms.ByClient = tenant, true
			s.Approve(made)
		}
	}
	count := map[string]int{}
	for _, p := range s.All() {
		count[p.Call.Principal.Tenant]++
	}
	if count["b"] != 10 || count["a"] != 500 {
		t.Errorf("%v", count)
	}
}

// TestSentAgain: a client that gives up a call without a cancel and sends it again gets it
// made once, after one approval, and no second one is asked for.
func TestSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		second string // arguments
		covers policy.Coverage
		calls  int // that are made after one approval
	}{
		"the same call":                 {`{ "n": 1 }`, policy.CoversCall, 1},
		"other arguments":               {`{"n":2}`, policy.CoversCall, 1}, // the other one still waits
		"an approval for the tool":      {`{"n":1}`, policy.CoversTool, 2},
		"the tool with other arguments": {`{"n":2}`, policy.CoversTool, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewStore()
				results := make(chan error, 2)
				ctx, cancel := context.WithCancel(t.Context())
				for _, arguments := range []string{`{"n":1}`, c.second} {
					one := callBy("alice", arguments)
					one.Terms.Wait, one.Terms.Covers = 30*time.Second, c.covers
					go func() { results <- s.Confirm(ctx, one) }()
					synctest.Wait()
				}
				if _, err := s.Answer(waitingID(s), answerOf("me", true), nil); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				same := c.covers == policy.CoversCall && c.second != `{"n":2}`
				if waits := s.Waiting(); same && waits != 0 {
					t.Errorf("%d calls wait after the approval", waits)
				}
				cancel()
				made := 0
				for range 2 {
					err := <-results
					if err == nil {
						made++
					} else if !fault.Is(err, fault.CallCanceled) {
						t.Error(err)
					}
					if same && err != nil && !strings.Contains(err.Error(), "sent again") {
						t.Error(err)
					}
				}
				if made != c.calls {
					t.Errorf("%d calls were made", made)
				}
			})
		})
	}
}

// TestRevokeAndExpire: an approval that is taken back, or a call that is not answered, is told
// once, and the next call needs an approval again.
func TestRevokeAndExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore()
		var told []string
		s.Observe(func(p Pending) { told = append(told, string(p.State)+" "+p.By) })
		standing := callBy("alice", `{}`)
		standing.Terms.Covers, standing.Terms.Valid = policy.CoversTool, time.Hour
		_ = s.Confirm(t.Context(), standing)
		id := waitingID(s)
		if _, err := s.Revoke(id, operator("me"), nil); !fault.Is(err, fault.ApprovalUnknown) {
			t.Errorf("what waits was revoked: %v", err)
		}
		if _, err := s.Answer(id, answerOf("me", true), nil); err != nil {
			t.Fatal(err)
		}
		if ok, _ := s.Use(standing); !ok {
			t.Error("it was not approved")
		}
		if p, err := s.Revoke(id, operator("you"), nil); err != nil || p.State != Revoked || p.By != "you" {
			t.Errorf("%+v, %v", p, err)
		}
		if ok, err := s.Use(standing); ok || err != nil {
			t.Errorf("after the revocation: %v, %v", ok, err)
		}
		if _, err := s.Revoke(id, operator("you"), nil); !fault.Is(err, fault.ApprovalUnknown) {
			t.Errorf("a second time: %v", err)
		}
		_ = s.Confirm(t.Context(), callBy("bob", `{}`)) // valid for a minute
		bubble.Sleep(time.Minute + time.Second)
		synctest.Wait()
		want := "waiting ,approved me,revoked you,waiting ,expired "
		s.mu.Lock()
		got := strings.Join(told, ",")
		s.mu.Unlock()
		if got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		bubble.Sleep(time.Hour)
	})
}
