package approval

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/visible"
)

// A Person answers calls. It is a value.
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

// ValidReason reports whether a text can be a reason: "" for none, or a text with a letter or a
// digit that people see.
func ValidReason(text string) bool {
	return text == "" || len(text) <= MostReason && visible.HasLetter(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// A Given is the answer of one person.
type Given struct {
	By       string // for records
	Who      authn.Principal
	Operator bool
	Reason   string
	At       time.Time
}

// Answer approves or denies the call with an id. A call that needs several people goes on
// waiting until all of them have approved it. rules says who the approvers of a rule are. The
// methods of Pending in this file do not take the lock: the caller holds mu, or has a copy.
func (s *Store) Answer(id string, a Answer, rules *policy.Policy) (*Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	p := s.find(id)
	switch {
	case p == nil:
		return nil, fault.New(fault.ApprovalUnknown, "nothing waits for an approval under %q", id).
			WithHint("junctor approvals lists what waits")
	case p.State != Waiting:
		return nil, fault.New(fault.ApprovalUnknown, "%q was %s already", id, p.State)
	case !ValidReason(a.Reason):
		return nil, fault.New(fault.Usage,
			"a reason is at most %d bytes of printable text with a letter or a digit", MostReason)
	}
	given, err := p.give(a, rules)
	if err != nil {
		return nil, err
	}
	if a.Approve {
		p.Given = append(slices.Clone(p.Given), given)
	} else {
		p.Given = []Given{given}
	}
	switch {
	case !a.Approve:
		s.decide(p, Denied, given.By)
	case len(p.open(rules)) == 0:
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
	return &copied, nil
}

// decide sets the state of an entry. The caller holds mu.
func (s *Store) decide(p *Pending, state State, by string) {
	p.By, p.State, p.Expires = by, state, time.Now().Add(p.Call.Terms.Valid)
}

// MayApprove returns nil if a person may approve the call, apart from the reason.
func (p *Pending) MayApprove(who Person, rules *policy.Policy) error {
	_, err := p.give(Answer{Person: who, Approve: true, Reason: anyReason}, rules)
	return err
}

// anyReason stands for a reason that meets every requirement.
const anyReason = "\x00"

// Answered reports whether a person has answered the call.
func (p *Pending) Answered(who Person) bool {
	return slices.ContainsFunc(p.Given, func(g Given) bool { return g.Who.Same(who.Principal) })
}

// mayRevoke returns nil if a person may take an approval of the call back.
func (p *Pending) mayRevoke(who Person, rules *policy.Policy) error {
	_, err := p.give(Answer{Person: who}, rules)
	return err
}

// give returns the answer of a person, or why it does not count. A name that a program gives
// is tried first, and then the user who runs that program.
func (p *Pending) give(a Answer, rules *policy.Policy) (g Given, err error) {
	g = Given{By: a.Person.Name, Who: a.Person.Principal, Operator: a.Person.Operator, Reason: a.Reason, At: time.Now()}
	if a.Person.Relayed != "" {
		relayed := g
		relayed.Who, relayed.Operator = authn.Principal{Subject: a.Person.Relayed, Method: policy.Relayed}, false
		why := p.admit(relayed, a.Approve, rules)
		if why == nil {
			return relayed, nil
		}
		if err = p.admit(g, a.Approve, rules); err != nil && p.names(relayed, rules) {
			err = why
		}
		return g, err
	}
	return g, p.admit(g, a.Approve, rules)
}

// names reports whether a requirement names a person as an approver.
func (p *Pending) names(g Given, rules *policy.Policy) bool {
	return slices.ContainsFunc(p.Call.Terms.Requirements(), func(r policy.Requirement) bool {
		may, _ := rules.MayApprove(&g.Who, r.Rule)
		return r.Four.Approvers != nil && may
	})
}

// admit returns nil if an answer counts: operators may deny everything, and an approval must
// meet a requirement that is still open.
func (p *Pending) admit(g Given, approve bool, rules *policy.Policy) error {
	if !approve {
		if g.Operator {
			return nil
		}
		for _, r := range p.Call.Terms.Requirements() {
			if p.isApprover(g, r, rules) == nil {
				return nil
			}
		}
		return p.isApprover(g, p.Call.Terms.Requirements()[0], rules)
	}
	if slices.ContainsFunc(p.Given, func(o Given) bool { return samePerson(o.Who, g.Who) }) {
		return fault.New(fault.ApprovalRefused, "you have approved %q already; it needs %d people",
			p.ID, p.Call.Terms.Count())
	}
	var first error
	for _, r := range p.open(rules) {
		err := p.meets(g, r, rules)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// open returns the requirements that the answers so far do not meet under the rules in effect.
// An answer of a former approver does not count.
func (p *Pending) open(rules *policy.Policy) (left []policy.Requirement) {
	for _, r := range p.Call.Terms.Requirements() {
		n := 0
		for _, g := range p.Given {
			if p.meets(g, r, rules) == nil {
				n++
			}
		}
		if n < r.Four.Count() {
			left = append(left, r)
		}
	}
	return left
}

// meets returns nil if an approval counts for a requirement.
func (p *Pending) meets(g Given, r policy.Requirement, rules *policy.Policy) error {
	if err := p.isApprover(g, r, rules); err != nil {
		return err
	}
	if err := p.Call.isApart(&g.Who, &r.Four); err != nil {
		return err
	}
	switch four := &r.Four; {
	case g.Reason == anyReason || four.MeetsReason(g.Reason):
		return nil
	case four.Pattern != "":
		return fault.New(fault.ApprovalRefused, "%q needs a reason in which %q finds something", p.ID, four.Pattern).
			WithHint("%s", reasonHint)
	}
	return fault.New(fault.ApprovalRefused, "%q needs a reason", p.ID).WithHint("%s", reasonHint)
}

const reasonHint = `say why, such as with junctor approvals approve ID --reason "CHG-1234: the cause"`

// isApprover returns nil if a person may approve under a rule at all.
func (p *Pending) isApprover(g Given, r policy.Requirement, rules *policy.Policy) error {
	if !g.Who.Same(authn.Local()) && rules != nil && rules.Bars(&g.Who) {
		return fault.New(fault.ApprovalRefused, "the policy denies you everything, and so this")
	}
	if r.Four.Approvers == nil {
		if g.Operator {
			return nil
		}
		return fault.New(fault.ApprovalRefused,
			"the user who runs Junctor and the admins of the console answer %q", p.ID)
	}
	switch may, found := rules.MayApprove(&g.Who, r.Rule); {
	case may:
		return nil
	case !found:
		return fault.New(fault.ApprovalRefused, "the rule that asks about %q has changed", p.ID).
			WithHint("the client sends the same call again, which then waits under the new rule")
	}
	return fault.New(fault.ApprovalRefused, "you are no approver of %q, which needs %s", p.ID, p.Call.Terms.Needs())
}

// samePerson reports whether two principals are one person, who may have several credentials.
// Of a person whom a program names only the subject is known.
func samePerson(a, b authn.Principal) bool {
	return a.Subject == b.Subject && (a.Tenant == b.Tenant || a.Method == policy.Relayed || b.Method == policy.Relayed)
}

// isApart returns nil if a principal is another person than the caller, and of another team
// where the rule says so. The local user may approve what a program of theirs asks for.
func (c *Call) isApart(who *authn.Principal, four *policy.FourEyes) error {
	if !who.Same(authn.Local()) && samePerson(*who, c.Principal) {
		return fault.New(fault.ApprovalRefused, "you sent this call yourself; another person has to approve it")
	}
	if four.Apart == nil {
		return nil
	}
	theirs, yours := four.TeamsOf(&c.Principal), four.TeamsOf(who)
	switch {
	case len(theirs) == 0:
		return fault.New(fault.ApprovalRefused,
			"the caller is in no group like %s, so it is not known whose team has to approve",
			strings.Join(four.Apart, ", "))
	case len(yours) == 0:
		return fault.New(fault.ApprovalRefused, "you are in no group like %s, so your team is not known",
			strings.Join(four.Apart, ", "))
	}
	for _, team := range yours {
		if slices.Contains(theirs, team) {
			return fault.New(fault.ApprovalRefused,
				"you are in the caller's group %q; a person of another one has to approve", team)
		}
	}
	return nil
}

// stillApart reports whether a caller, whose groups may have changed, is of another team than
// those who approved.
func (p *Pending) stillApart(c *Call) bool {
	for _, r := range p.Call.Terms.Requirements() {
		for _, g := range p.Given {
			if r.Four.Apart != nil && p.Call.isApart(&g.Who, &r.Four) == nil && c.isApart(&g.Who, &r.Four) != nil {
				return false
			}
		}
	}
	return true
}

// because returns the reason of a denial, after a colon.
func because(p *Pending) string {
	if len(p.Given) == 1 && p.Given[0].Reason != "" {
		return ": " + Visible(p.Given[0].Reason)
	}
	return ""
}
