package approval

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

func callBy(subject, arguments string) *Call {
	return &Call{
		Principal: authn.Principal{Subject: subject, Tenant: "one", Method: "test"}, Item: policy.Item{Server: "s", Kind: policy.Tool, Name: "t"},
		Arguments: []byte(arguments), Terms: policy.Approval{Valid: time.Minute, Covers: policy.CoversCall},
	}
}

// TestShow: a person sees what would be sent, but for secrets, and nothing hides.
func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		``:                                       "{}",
		`{"a":1}`:                                "{\n  \"a\": 1\n}",
		`{"api_token":"x","n":{"Password":[1]}}`: "{\n  \"api_token\": \"***\",\n  \"n\": {\n    \"Password\": \"***\"\n  }\n}",
		`[{"key":1}]`:                            "[\n  {\n    \"key\": \"***\"\n  }\n]",
		`{"a":"s3cr3t-value"}`:                   "{\n  \"a\": \"(hidden)\"\n}",
		"{\"a\":\"x\u202ey\u200b\U000e0041\"}":   `{` + "\n" + `  "a": "x\u202ey\u200b\U000e0041"` + "\n}",
		`{"a":"\u001b[2J"}`:                      "{\n  \"a\": \"\\u001b[2J\"\n}",
		`{`:                                      "arguments that are not valid",
	} {
		if got := Show([]byte(in), func(text string) string { return strings.ReplaceAll(text, "s3cr3t-value", "(hidden)") }); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	deep := strings.Repeat(`{"a":`, 40) + `"x"` + strings.Repeat("}", 40)
	if got := Show([]byte(deep), nil); strings.Contains(got, `"x"`) || !strings.Contains(got, `"***"`) {
		t.Errorf("what is too deep to look at is shown: %s", got)
	}
	long := Show([]byte(`{"a":"`+strings.Repeat("é", maxShown)+`"}`), nil)
	if len(long) > maxShown+100 || !strings.Contains(long, "bytes more") {
		t.Errorf("%d bytes are shown", len(long))
	}
}

// TestStoreIsBounded: no client fills the store, and none asks about what no person can
// judge.
func TestStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore()
		for i := range 3 * maxPendingPrincipal {
			err := s.Confirm(context.Background(), callBy("alice", fmt.Sprintf(`{"n":%d}`, i)))
			if want := fault.ApprovalRequired; i >= maxPendingPrincipal {
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
		if err := s.Confirm(context.Background(), callBy("carol", `{"a":"`+strings.Repeat("x", maxKept)+`"}`)); !fault.Is(err, fault.ApprovalDenied) {
			t.Errorf("large arguments: %v", err)
		}
		for i := range 2 * maxPending {
			_ = s.Confirm(context.Background(), callBy(fmt.Sprint("p", i), `{}`))
		}
		if n := len(s.All()); n > maxPending {
			t.Errorf("%d calls are kept", n)
		}
		time.Sleep(time.Minute + 1)
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
		if _, err := s.Answer(wrong, true, "me"); !fault.Is(err, fault.ApprovalUnknown) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if p, err := s.Answer(id, true, "me"); err != nil || p.By != "me" || p.State != Approved {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Answer(id, false, "me"); !fault.Is(err, fault.ApprovalUnknown) {
		t.Errorf("a second answer: %v", err)
	}
	if ok, err := s.Use(callBy("alice", `{}`)); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, _ := s.Use(callBy("alice", `{}`)); ok {
		t.Error("used twice")
	}
}

// TestContinuation: a server that asks its client something gets the continued request
// without another approval, and only that one.
func TestContinuation(t *testing.T) {
	s := NewStore()
	_ = s.Confirm(context.Background(), callBy("alice", `{}`))
	if _, err := s.Answer(s.All()[0].ID, true, "me"); err != nil {
		t.Fatal(err)
	}
	again := callBy("alice", `{}`)
	again.Continues = true
	if ok, _ := s.Use(callBy("alice", `{}`)); !ok {
		t.Fatal("not approved")
	}
	if ok, _ := s.Use(again); ok {
		t.Error("the server has asked nothing, and the call went on")
	}
	s.Asked(callBy("alice", `{}`))
	if ok, _ := s.Use(callBy("alice", `{}`)); ok {
		t.Error("a new call used the continuation")
	}
	if ok, _ := s.Use(again); !ok {
		t.Error("the call did not go on")
	}
	if ok, _ := s.Use(again); ok {
		t.Error("it went on twice")
	}
}
