package approval

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// operator returns an operator with a name.
func operator(name string) Person {
	return Person{Principal: authn.Principal{Subject: name, Tenant: "default", Method: "jwt"}, Name: name,
		Operator: true}
}

// answerOf returns what an operator says.
func answerOf(name string, approve bool) Answer {
	return Answer{Person: operator(name), Approve: approve}
}

// person returns a member of groups, without the rights of an operator.
func person(name string, groups ...string) Person {
	return Person{
		Principal: authn.Principal{Subject: name, Tenant: "corp", Method: "jwt", Issuer: "https://ours",
			Groups: groups},
		Name: name,
	}
}

// local returns the user who runs Junctor, for the person that a program names; "": for none.
func local(relayed string) Person {
	return Person{Principal: authn.Local(), Name: "me", Operator: true, Relayed: relayed}
}

// underRule returns a policy with one confirm rule, and a call of alice, of team-a, under it.
func underRule(t *testing.T, four policy.FourEyes, members ...policy.Membership) (*policy.Policy, *Call) {
	t.Helper()
	rules := policy.New(map[string]policy.Server{"bank": {}},
		policy.Rules{Given: true, Roles: []string{"lead"}, Members: members, Rules: []policy.Rule{{
			Effect: policy.Confirms, At: "junctor.hcl:3:1",
			Approval: policy.Approval{Valid: time.Minute, Covers: policy.CoversCall, Four: four},
		}}})
	caller := person("alice", "team-a", "staff").Principal
	item := policy.Item{Server: "bank", Kind: policy.Tool, Name: "pay"}
	d := rules.Decide(&policy.Query{Principal: &caller, Item: item, Args: []byte(`{}`)})
	if d.Approval() == nil {
		t.Fatalf("no approval is needed: %+v", d)
	}
	return rules, &Call{Principal: caller, Item: item, Arguments: []byte(`{}`), Terms: *d.Approval(), Rule: d.Rule}
}

// TestFourEyes tries answers in order. Each says whose it is, and what comes of it: "" for an
// answer that counts, or a part of the refusal.
func TestFourEyes(t *testing.T) {
	type said struct {
		who     Person
		reason  string
		refused string
	}
	leads := []policy.Holder{{Kind: "group", Name: "leads"}}
	for name, c := range map[string]struct {
		four    policy.FourEyes
		members []policy.Membership
		answers []said
		state   State
	}{
		"one operator": {answers: []said{{person("bob"), "", "admins of the console answer"}, {local(""), "", ""}},
			state: Approved},
		"two operators": {
			four: policy.FourEyes{More: 1},
			answers: []said{{local(""), "", ""}, {local(""), "", "already"}, {local("carol"), "", "already"},
				{local("dave"), "", "already"}, {operator("bob"), "", ""}},
			state: Approved,
		},
		"only one of two": {four: policy.FourEyes{More: 1}, answers: []said{{operator("bob"), "", ""}}, state: Waiting},
		"the caller": {
			four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "subject", Name: "alice"},
				{Kind: "subject", Name: "bob"}}},
			answers: []said{{person("alice"), "", "yourself"}, {person("bob"), "", ""}}, state: Approved,
		},
		"a second credential of the caller": {
			four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "subject", Name: "alice"}}},
			answers: []said{
				{Person{Principal: authn.Principal{Subject: "alice", Tenant: "corp", Method: "certificate"}},
					"", "yourself"},
				{Person{Principal: authn.Principal{Subject: "alice", Tenant: "partner", Method: "jwt"}}, "", ""},
			},
			state: Approved,
		},
		"two credentials of one person": {
			four: policy.FourEyes{Approvers: leads, More: 1},
			answers: []said{{person("bob", "leads"), "", ""}, {Person{
				Principal: authn.Principal{Subject: "bob", Tenant: "corp", Method: "forwarded",
					Groups: []string{"leads"}},
			}, "", "already"}}, state: Waiting,
		},
		"a group": {
			four: policy.FourEyes{Approvers: leads},
			answers: []said{{person("bob", "lead", "leads2"), "", "no approver"}, {operator("root"), "", "no approver"},
				{local(""), "", "no approver"}, {local("bob"), "", "no approver"}, {person("carol", "leads"), "", ""}},
			state: Approved,
		},
		"a group of another issuer": {
			four: policy.FourEyes{
				Approvers: []policy.Holder{{Kind: "group", Name: "leads", Issuer: "https://theirs"}},
			},
			answers: []said{{person("carol", "leads"), "", "no approver"}}, state: Waiting,
		},
		"a group of another tenant": {
			four:    policy.FourEyes{Approvers: []policy.Holder{{Kind: "group", Name: "leads", Tenant: "partner"}}},
			answers: []said{{person("carol", "leads"), "", "no approver"}}, state: Waiting,
		},
		"a role of the policy": {
			four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "role", Name: "lead"}}},
			members: []policy.Membership{{Holder: policy.Holder{Kind: "group", Name: "leads"},
				Roles: []string{"lead"}}},
			answers: []said{{person("bob"), "", "no approver"}, {person("carol", "leads"), "", ""}}, state: Approved,
		},
		"the local user, by name": {
			four:    policy.FourEyes{Approvers: []policy.Holder{{Kind: "subject", Name: "local"}}},
			answers: []said{{person("local"), "", "no approver"}, {local(""), "", ""}}, state: Approved,
		},
		"a relay": {
			four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "subject", Name: "carol", Issuer: policy.Relayed},
				{Kind: "subject", Name: "dave", Issuer: policy.Relayed},
				{Kind: "subject", Name: "alice", Issuer: policy.Relayed}}, More: 1},
			answers: []said{{local(""), "", "no approver"}, {local("eve"), "", "no approver"},
				{person("carol"), "", "no approver"}, {local("alice"), "", "yourself"}, {local("carol"), "", ""},
				{local("carol"), "", "already"}, {local("dave"), "", ""}},
			state: Approved,
		},
		"a relay cannot name those of credentials": {
			four: policy.FourEyes{Approvers: []policy.Holder{
				{Kind: "subject", Name: "carol"}, {Kind: "subject", Name: "dave", Issuer: policy.AnyIssuer},
			}}, answers: []said{{local("carol"), "", "no approver"}, {local("dave"), "", "no approver"}},
			state: Waiting,
		},
		"one person in the console and through a relay": {
			four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "group", Name: "leads"},
				{Kind: "subject", Name: "bob", Issuer: policy.Relayed}}, More: 1},
			answers: []said{{person("bob", "leads"), "", ""}, {local("bob"), "", "already"}}, state: Waiting,
		},
		"the local user and a relay": {
			four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "subject", Name: "local"},
				{Kind: "subject", Name: "carol", Issuer: policy.Relayed}}, More: 1},
			answers: []said{{local("carol"), "", ""}, {local(""), "", ""}}, state: Approved,
		},
		"a pattern that finds something in nothing": {
			four:    policy.FourEyes{Reason: true, Pattern: "(CHG)?"},
			answers: []said{{local(""), "", "finds something"}, {local(""), "x", ""}}, state: Approved,
		},
		"teams": {
			four: policy.FourEyes{Apart: []string{"team-*"}},
			answers: []said{{operator("root"), "", "your team is not known"}, {local(""), "", "your team is not known"},
				{Person{Principal: person("bob", "team-a").Principal, Operator: true}, "",
					`the caller's group "team-a"`},
				{Person{Principal: person("bob", "team-b", "team-a").Principal, Operator: true}, "",
					`the caller's group "team-a"`},
				{Person{Principal: person("bob", "team-b", "staff").Principal, Operator: true}, "", ""}},
			state: Approved,
		},
		"a caller without a team": {
			four: policy.FourEyes{Apart: []string{"squad-*"}}, answers: []said{{
				Person{Principal: person("bob", "squad-b").Principal, Operator: true}, "", "not known whose team",
			}}, state: Waiting,
		},
		"a blank reason that nothing asks for": {answers: []said{{local(""), "\uffa0", "a letter or a digit"},
			{local(""), "...", "a letter or a digit"}, {local(""), "", ""}}, state: Approved},
		"a reason": {four: policy.FourEyes{Reason: true}, answers: []said{{local(""), "", "needs a reason"},
			{local(""), "  ", "a letter or a digit"}, {local(""), "\u3164", "a letter or a digit"},
			{local(""), "\u2800\u0301 -", "a letter or a digit"}, {local(""), "a\nb", "printable"},
			{local(""), strings.Repeat("x", 301), "at most 300"}, {local(""), "because", ""}}, state: Approved},
		"a ticket": {
			four: policy.FourEyes{Reason: true, Pattern: `\bCHG-[0-9]+`},
			answers: []said{{local(""), "", "finds something"}, {local(""), "CHG-", "finds something"}, {local(""),
				"see CHG-17", ""}}, state: Approved,
		},
		"an answered call": {answers: []said{{local(""), "", ""}, {operator("bob"), "", "was approved already"}},
			state: Approved},
	} {
		t.Run(name, func(t *testing.T) {
			rules, call := underRule(t, c.four, c.members...)
			s := NewStore()
			if err := s.Confirm(context.Background(), call); !fault.Is(err, fault.ApprovalRequired) {
				t.Fatal(err)
			}
			id := waitingID(s)
			for i, a := range c.answers {
				_, err := s.Answer(id, Answer{Person: a.who, Approve: true, Reason: a.reason}, rules)
				if (err == nil) != (a.refused == "") || err != nil && !strings.Contains(err.Error(), a.refused) {
					t.Fatalf("answer %d of %s: %v", i+1, a.who.Name, err)
				}
			}
			if p := s.All()[0]; p.State != c.state {
				t.Errorf("the call is %s", p.State)
			}
			if ok, err := s.Use(call); ok != (c.state == Approved) || err != nil {
				t.Errorf("used: %t %v", ok, err)
			}
		})
	}
}

// TestAnswersUnderAnotherRule: an approval under a rule is none under a stricter one, and
// a rule that is gone has no approvers.
func TestAnswersUnderAnotherRule(t *testing.T) {
	one, simple := underRule(t, policy.FourEyes{})
	two, strict := underRule(t, policy.FourEyes{More: 1})
	named, byLeads := underRule(t, policy.FourEyes{Approvers: []policy.Holder{{Kind: "group", Name: "leads"}}})
	s := NewStore()
	_ = s.Confirm(context.Background(), simple)
	if _, err := s.Answer(waitingID(s), answerOf("bob", true), one); err != nil {
		t.Fatal(err)
	}
	if ok, _ := s.Use(strict); ok {
		t.Error("what one person approved is used where two must")
	}
	s = NewStore()
	_ = s.Confirm(context.Background(), byLeads)
	for who, rules := range map[string]*policy.Policy{"two": two, "one": one} {
		if _, err := s.Answer(waitingID(s), Answer{Person: person("carol", "leads"), Approve: true},
			rules); err == nil ||
			!strings.Contains(err.Error(), "has changed") {
			t.Errorf("under the policy %s: %v", who, err)
		}
	}
	if _, err := s.Answer(waitingID(s), Answer{Person: person("eve"), Approve: false}, named); !fault.Is(err,
		fault.ApprovalRefused) {
		t.Errorf("anybody denies: %v", err)
	}
	if p, err := s.Answer(waitingID(s), Answer{Person: operator("root"), Reason: "not today"}, one); err != nil ||
		p.State != Denied {
		t.Errorf("an operator denies: %+v %v", p, err)
	}
	if _, err := s.Use(byLeads); !fault.Is(err, fault.ApprovalDenied) || !strings.Contains(err.Error(), "not today") {
		t.Errorf("the client is told %v", err)
	}
}

// TestManagedApprovers: a weaker policy with the same rule does not make an approver.
func TestManagedApprovers(t *testing.T) {
	four := policy.FourEyes{Approvers: []policy.Holder{{Kind: "role", Name: "lead"}}}
	of := func(subject string) policy.Rules {
		return policy.Rules{Given: true, Roles: []string{"lead"},
			Members: []policy.Membership{{Holder: policy.Holder{Kind: "subject", Name: subject},
				Roles: []string{"lead"}}},
			Rules: []policy.Rule{{
				Effect: policy.Confirms, At: "f:1:1",
				Approval: policy.Approval{Valid: time.Minute, Covers: policy.CoversCall, Four: four},
			}}}
	}
	rules := policy.New(map[string]policy.Server{"bank": {}}, of("mallory")).UnderManaged(of("carol"))
	_, call := underRule(t, four)
	for name, want := range map[string]bool{"mallory": false, "carol": false, "eve": false} {
		p := person(name).Principal
		if may, found := rules.MayApprove(&p, call.Terms.Rule); may != want || !found {
			t.Errorf("%s: %t %t", name, may, found)
		}
	}
	both := policy.New(map[string]policy.Server{"bank": {}}, of("carol")).UnderManaged(of("carol"))
	p := person("carol").Principal
	if may, _ := both.MayApprove(&p, call.Terms.Rule); !may {
		t.Error("an approver of both policies is refused")
	}
}

// TestBarredApprovers: a person to whom the policy denies everything approves nothing.
func TestBarredApprovers(t *testing.T) {
	rule := policy.Rule{Effect: policy.Confirms, At: "f:1:1", Approval: policy.Approval{Valid: time.Minute,
		Covers: policy.CoversCall, Four: policy.FourEyes{Approvers: []policy.Holder{{Kind: "group", Name: "leads"}}}}}
	eve := policy.Holder{Kind: "subject", Name: "eve"}
	for name, c := range map[string]struct {
		deny policy.Rule
		bars bool
	}{
		"everything": {policy.Rule{Effect: policy.Denies, Holder: eve, At: "f:2:1"}, true},
		"one server": {policy.Rule{Effect: policy.Denies, Holder: eve, At: "f:2:1", Servers: []string{"bank"}},
			false},
		"all that write": {policy.Rule{Effect: policy.Denies, Holder: eve, At: "f:2:1", Access: policy.Write},
			false},
		"everything, to others": {policy.Rule{Effect: policy.Denies,
			Holder: policy.Holder{Kind: "subject", Name: "mallory"}, At: "f:2:1"}, false},
		"everything, to all": {policy.Rule{Effect: policy.Denies, At: "f:2:1"}, false},
	} {
		rules := policy.New(map[string]policy.Server{"bank": {}}, policy.Rules{Given: true,
			Members: []policy.Membership{{Holder: eve}, {Holder: policy.Holder{Kind: "subject", Name: "mallory"}}},
			Rules:   []policy.Rule{rule, c.deny}})
		who := person("eve", "leads")
		if got := rules.Bars(&who.Principal); got != c.bars {
			t.Errorf("%s: bars %t", name, got)
		}
		_, call := underRule(t, rule.Approval.Four)
		p := &Pending{ID: "x", Call: call}
		if err := p.MayApprove(who, rules); (err != nil) != c.bars {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShorterValid: an approval ends earlier when the rule in effect says so.
func TestShorterValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules, call := underRule(t, policy.FourEyes{})
		call.Terms.Valid, call.Terms.Covers = time.Hour, policy.CoversTool
		s := NewStore()
		_ = s.Confirm(t.Context(), call)
		if _, err := s.Answer(waitingID(s), answerOf("bob", true), rules); err != nil {
			t.Fatal(err)
		}
		shorter := *call
		shorter.Terms.Valid = 4 * time.Second
		bubble.Sleep(3 * time.Second)
		if ok, _ := s.Use(&shorter); !ok {
			t.Error("it ended early")
		}
		bubble.Sleep(2 * time.Second)
		if ok, _ := s.Use(&shorter); ok {
			t.Error("it did not end")
		}
		s.Close()
	})
}

// TestLayersAskTogether: what rules of two layers ask for must both be met, so that no layer
// replaces the approvers of another one.
func TestLayersAskTogether(t *testing.T) {
	of := func(four policy.FourEyes, covers policy.Coverage, valid time.Duration) policy.Rules {
		return policy.Rules{Given: true, Rules: []policy.Rule{{Effect: policy.Confirms, At: "f:1:1",
			Approval: policy.Approval{Valid: valid, Covers: covers, Four: four}}}}
	}
	security := of(policy.FourEyes{Approvers: []policy.Holder{{Kind: "group", Name: "security"}}},
		policy.CoversCall, time.Minute)
	looser := of(policy.FourEyes{Approvers: []policy.Holder{{Kind: "subject", Name: "local"}}, Reason: true},
		policy.CoversServer, time.Hour)
	servers := map[string]policy.Server{"bank": {}}
	for name, rules := range map[string]*policy.Policy{
		"managed": policy.New(servers, looser).UnderManaged(security),
		"above":   policy.New(servers, looser).Under(security),
		"below":   policy.New(servers, security).Under(looser),
	} {
		caller := person("alice").Principal
		item := policy.Item{Server: "bank", Kind: policy.Tool, Name: "pay"}
		d := rules.Decide(&policy.Query{Principal: &caller, Item: item, Args: []byte(`{}`)})
		call := &Call{Principal: caller, Item: item, Arguments: []byte(`{}`), Terms: *d.Approval(), Rule: d.Rule}
		if call.Terms.Covers != policy.CoversCall || call.Terms.Valid != time.Minute {
			t.Errorf("%s: %+v", name, call.Terms)
		}
		s := NewStore()
		_ = s.Confirm(t.Context(), call)
		id := waitingID(s)
		if _, err := s.Answer(id, Answer{Person: local(""), Approve: true}, rules); err == nil {
			t.Errorf("%s: no reason is needed", name)
		}
		if p, err := s.Answer(id, Answer{Person: local(""), Approve: true, Reason: "x"}, rules); err != nil ||
			p.State != Waiting {
			t.Fatalf("%s: one layer is enough: %+v, %v", name, p, err)
		}
		if _, err := s.Answer(id, Answer{Person: person("eve"), Approve: true, Reason: "x"}, rules); err == nil {
			t.Errorf("%s: anybody approves", name)
		}
		if p, err := s.Answer(id, Answer{Person: person("sue", "security"), Approve: true}, rules); err != nil ||
			p.State != Approved {
			t.Errorf("%s: both have approved: %+v, %v", name, p, err)
		}
	}
}

// TestFormerApprovers: the last answer counts only those who are approvers by then, and an
// approval ends when the caller joins the approver's team.
func TestFormerApprovers(t *testing.T) {
	four := policy.FourEyes{Approvers: []policy.Holder{{Kind: "role", Name: "lead"}}, More: 1}
	member := func(subjects ...string) (all []policy.Membership) {
		for _, s := range subjects {
			all = append(all,
				policy.Membership{Holder: policy.Holder{Kind: "subject", Name: s}, Roles: []string{"lead"}})
		}
		return all
	}
	before, call := underRule(t, four, member("bob", "carol", "dave")...)
	after, _ := underRule(t, four, member("carol", "dave")...)
	s := NewStore()
	_ = s.Confirm(t.Context(), call)
	for i, c := range []struct {
		who   string
		rules *policy.Policy
		state State
	}{{"bob", before, Waiting}, {"carol", after, Waiting}, {"dave", after, Approved}} {
		if p, err := s.Answer(waitingID(s), Answer{Person: person(c.who), Approve: true}, c.rules); err != nil ||
			p.State != c.state {
			t.Fatalf("answer %d: %+v, %v", i+1, p, err)
		}
	}

	rules, apart := underRule(t, policy.FourEyes{Apart: []string{"team-*"}})
	s = NewStore()
	_ = s.Confirm(t.Context(), apart)
	bob := Person{Principal: person("bob", "team-b").Principal, Operator: true}
	if _, err := s.Answer(waitingID(s), Answer{Person: bob, Approve: true}, rules); err != nil {
		t.Fatal(err)
	}
	moved := *apart
	moved.Principal.Groups = []string{"team-b"}
	if ok, _ := s.Use(&moved); ok {
		t.Error("the caller is of the approver's team")
	}
}
