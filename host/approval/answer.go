package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Person answers calls.
type Person struct {
	// Principal is who it is: of a console session, or the local user, who may have been
	// named by a program.
	Principal authn.Principal
	Name      string // for records
	// Operator is set for the local user and for admins of the console. They answer where a
	// rule names no approvers, and may always deny and revoke.
	Operator bool
	Relayed  string // the name that a program of the local user gave; "": none
}

// An Answer is what a person says about a call.
type Answer struct {
	Person  Person
	Approve bool
	Reason  string // "" for none
}

// MostReason bounds a reason, in bytes.
const MostReason = 300

// ValidReason reports whether a text can be a reason.
func ValidReason(text string) bool {
	return len(text) <= MostReason && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// A Given is the approval of one person.
type Given struct {
	By     string // for records
	Key    string // identifies the person
	Reason string
	At     time.Time
}

// Answer approves or denies the call with an id. A call that needs several people goes on
// waiting until all of them have approved it. rules says who the approvers of a rule are.
func (s *Store) Answer(id string, a Answer, rules *policy.Policy) (*Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	p := s.find(id)
	switch {
	case p == nil:
		return nil, fault.New(fault.ApprovalUnknown, "nothing waits for an approval under %q", id).WithHint("junctor approvals lists what waits")
	case p.State != Waiting:
		return nil, fault.New(fault.ApprovalUnknown, "%q was %s already", id, p.State)
	case !ValidReason(a.Reason):
		return nil, fault.New(fault.Usage, "a reason is at most %d bytes of printable text", MostReason)
	}
	who, err := p.mayAnswer(a.Person, a.Approve, rules)
	if err != nil {
		return nil, err
	}
	if !a.Approve {
		s.decide(p, Denied, a.Person.Name)
		p.Given = []Given{{a.Person.Name, who, a.Reason, time.Now()}}
	} else if err := p.give(who, a); err != nil {
		return nil, err
	} else if len(p.Given) >= p.Call.Terms.Four.Count() {
		var names []string
		for _, g := range p.Given {
			names = append(names, g.By)
		}
		s.decide(p, Approved, strings.Join(names, "; "))
	}
	if p.State != Waiting {
		s.tell(p)
		s.announce()
	}
	s.keep(p.Call.Key(), p)
	copied := *p
	copied.Given = slices.Clone(p.Given)
	return &copied, nil
}

// decide sets the state of an entry. The caller holds mu.
func (s *Store) decide(p *Pending, state State, by string) {
	p.By, p.State, p.Expires = by, state, time.Now().Add(p.Call.Terms.Valid)
}

// give adds the approval of one person.
func (p *Pending) give(who string, a Answer) error {
	four := &p.Call.Terms.Four
	switch {
	case slices.ContainsFunc(p.Given, func(g Given) bool { return g.Key == who }):
		return fault.New(fault.ApprovalRefused, "you have approved %q already; it needs %d people", p.ID, four.Count())
	case !four.MeetsReason(a.Reason) && four.Pattern != "":
		return fault.New(fault.ApprovalRefused, "%q needs a reason in which %q finds something", p.ID, four.Pattern).WithHint("%s", reasonHint)
	case !four.MeetsReason(a.Reason):
		return fault.New(fault.ApprovalRefused, "%q needs a reason", p.ID).WithHint("%s", reasonHint)
	}
	p.Given = append(slices.Clone(p.Given), Given{a.Person.Name, who, a.Reason, time.Now()})
	return nil
}

const reasonHint = `say why, such as with junctor approvals approve ID --reason "CHG-1234: the cause"`

// MayApprove returns nil if a person may approve the call, apart from the reason.
func (p *Pending) MayApprove(who Person, rules *policy.Policy) error {
	key, err := p.mayAnswer(who, true, rules)
	if err == nil && slices.ContainsFunc(p.Given, func(g Given) bool { return g.Key == key }) {
		return fault.New(fault.ApprovalRefused, "you have approved it already")
	}
	return err
}

// Answered reports whether a person has answered the call.
func (p *Pending) Answered(who Person) bool {
	return slices.ContainsFunc(p.Given, func(g Given) bool { return g.Key == personKey(who.Principal) })
}

// mayAnswer returns what identifies a person who may approve or deny the call. Only an
// approver may approve it; operators may deny it, too.
func (p *Pending) mayAnswer(who Person, approve bool, rules *policy.Policy) (key string, err error) {
	c, four := p.Call, &p.Call.Terms.Four
	local := who.Principal.Same(authn.Local())
	if approve && !local && rules != nil && rules.Bars(&who.Principal) {
		return "", fault.New(fault.ApprovalRefused, "the policy denies you everything, and so this")
	}
	key = personKey(who.Principal)
	if four.Approvers == nil {
		if !who.Operator {
			return "", fault.New(fault.ApprovalRefused, "the user who runs Junctor and the admins of the console answer %q", p.ID)
		}
	} else {
		relayed := authn.Principal{Subject: who.Relayed, Method: policy.Relayed}
		may, found := rules.MayApprove(&who.Principal, c.Terms.Rule)
		if !may && who.Relayed != "" {
			if may, _ = rules.MayApprove(&relayed, c.Terms.Rule); may {
				who.Principal, key, local = relayed, personKey(relayed), false
			}
		}
		switch {
		case may || !approve && who.Operator:
		case !found:
			return "", fault.New(fault.ApprovalRefused, "the rule that asks about %q has changed", p.ID).WithHint("the client sends the same call again, which then waits under the new rule")
		default:
			return "", fault.New(fault.ApprovalRefused, "you are no approver of %q, which needs %s", p.ID, four)
		}
	}
	if !approve {
		return key, nil
	}
	return key, c.isApart(&who.Principal, local)
}

// personKey identifies a person, who may have several credentials.
func personKey(p authn.Principal) string { return fmt.Sprintf("%q %q", p.Tenant, p.Subject) }

// isApart returns nil if a principal is another person than the caller, and of another team
// where the rule says so. The local user may approve what a program of theirs asks for.
func (c *Call) isApart(who *authn.Principal, local bool) error {
	if !local && who.Subject == c.Principal.Subject && (who.Tenant == c.Principal.Tenant || who.Method == policy.Relayed) {
		return fault.New(fault.ApprovalRefused, "you sent this call yourself; another person has to approve it")
	}
	four := &c.Terms.Four
	if four.Apart == nil {
		return nil
	}
	theirs, yours := four.TeamsOf(&c.Principal), four.TeamsOf(who)
	switch {
	case len(theirs) == 0:
		return fault.New(fault.ApprovalRefused, "the caller is in no group like %s, so it is not known whose team has to approve", strings.Join(four.Apart, ", "))
	case len(yours) == 0:
		return fault.New(fault.ApprovalRefused, "you are in no group like %s, so your team is not known", strings.Join(four.Apart, ", "))
	}
	for _, team := range yours {
		if slices.Contains(theirs, team) {
			return fault.New(fault.ApprovalRefused, "you are in the caller's group %q; a person of another one has to approve", team)
		}
	}
	return nil
}

// because returns the reason of a denial, after a colon.
func because(p *Pending) string {
	if len(p.Given) == 1 && p.Given[0].Reason != "" {
		return ": " + Visible(p.Given[0].Reason)
	}
	return ""
}
