package gateway

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// answerAll answers what waits.
func (a *approvalFixture) answerAll(approve bool) {
	for _, p := range a.store.All() {
		if p.State == approval.Waiting {
			_, _ = a.store.Answer(p.ID,
				approval.Answer{Person: approval.Person{Name: "carol", Operator: true}, Approve: approve}, nil)
		}
	}
}

// uses returns the outcome of each recorded tool call, with whether it names the approval of the
// store.
func (a *approvalFixture) uses() (all []string) {
	var ids []string
	for _, p := range a.store.All() {
		ids = append(ids, p.ID)
	}
	for _, e := range a.recorded.take() {
		if e.Method != mcp.MethodCallTool && e.Approval == "" {
			continue
		}
		text := string(e.Outcome)
		if slices.Contains(ids, e.Approval) {
			text += " with its approval"
		} else if e.Approval != "" {
			text += " with " + e.Approval
		}
		all = append(all, text)
	}
	return all
}

// TestRequestsNameTheirApproval: the row of a request has the id of the approval that it waited
// for, used or was denied under, which the row of the person who answered has, too.
func TestRequestsNameTheirApproval(t *testing.T) {
	once, often := policy.Approval{Valid: time.Minute, Covers: policy.CoversCall},
		policy.Approval{Valid: time.Minute, Covers: policy.CoversTool}
	waits := policy.Approval{Valid: time.Minute, Wait: 30 * time.Second, Covers: policy.CoversCall}
	for name, c := range map[string]struct {
		terms policy.Approval
		steps []string // "call", "approve", "deny", or another message
		want  []string
	}{
		"used once": {once, []string{"call", "approve", "call"},
			[]string{"approval_required with its approval", "ok with its approval"}},
		"used often": {often, []string{"call", "approve", "call", "call"},
			[]string{"approval_required with its approval", "ok with its approval", "ok with its approval"}},
		"denied": {once, []string{"call", "deny", "call"},
			[]string{"approval_required with its approval", "approval_denied with its approval"}},
		"waits":           {waits, []string{"call", "approve"}, []string{"ok with its approval"}},
		"waits in vain":   {waits, []string{"call", "deny"}, []string{"approval_denied with its approval"}},
		"it is not there": {once, []string{strings.Replace(legacyCallOfX, "a__x", "a__y", 1)}, []string{"invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovalFixture(t, "2025-11-25", c.terms)
				defer a.end()
				alice := a.visitor("alice", "one")
				defer alice.hangUp()
				alice.greet(t, "{}")
				for id, step := range c.steps {
					switch step {
					case "call":
						alice.asks(legacyCallOfX, id, 1)
					case "approve", "deny":
						a.answerAll(step == "approve")
						synctest.Wait()
					default:
						alice.asks(step, id, 1)
					}
				}
				if got := a.uses(); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestWaitingCallsNameTheirApprovers: the row of a call that begins to wait says whom it waits for.
func TestWaitingCallsNameTheirApprovers(t *testing.T) {
	for want, four := range map[string]policy.FourEyes{
		"asked of an operator": {}, "asked of 2 operators": {More: 1},
		`asked of 1 of group "leads"`: {Approvers: []policy.Holder{{Kind: "group", Name: "leads"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newApprovalFixture(t, "2025-11-25",
				policy.Approval{Valid: time.Minute, Covers: policy.CoversCall, Four: four})
			defer a.end()
			alice := a.visitor("alice", "one")
			defer alice.hangUp()
			alice.greet(t, "{}")
			alice.asks(legacyCallOfX, 1, 1)
			a.recorded.mu.Lock()
			defer a.recorded.mu.Unlock()
			if !slices.ContainsFunc(a.recorded.notes,
				func(e audit.Event) bool { return e.Kind == audit.Approval && e.Detail == want }) {
				t.Errorf("no row %q: %+v", want, a.recorded.notes)
			}
		})
	}
}

// TestContinuedCallsNameTheirApproval: a call whose server asks its client something has one row,
// with the approval that the first request used.
func TestContinuedCallsNameTheirApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := confirming(t, trusting("a"), policy.Approval{Valid: time.Minute, Covers: policy.CoversCall})
		defer a.end()
		alice := a.visitor("alice", "one")
		defer alice.hangUp()
		a.ask(alice, payment(1000, "", ""))
		a.answerAll(true)
		state := stateOf(a.ask(alice, payment(1000, "", "")))
		a.ask(alice, payment(1000, state, ""))
		if got, want := a.uses(), []string{"approval_required with its approval",
			string(audit.OK) + " with its approval"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
