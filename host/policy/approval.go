package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/visible"
)

// An Approval says how a use is confirmed. It is a value; its JSON is part of approvals at
// rest.
type Approval struct {
	ByClient bool // by the person at the client that calls; else by another principal
	// AtTerminal lets the person at the terminal of a single command approve, too, because no
	// operator sees its call.
	AtTerminal bool
	Wait       time.Duration // how long the call waits; 0: it fails at once
	Valid      time.Duration // how long an approval can be used
	Covers     Coverage
	Four       FourEyes `json:",omitzero"` // who approves, if not the operators alone
	// Rule identifies the rule, wherever it stands: an approval for a tool or a server is
	// not one under another rule.
	Rule string `json:"-"`
	// Also is what rules of other layers of the configuration ask for beside Four.
	Also []Requirement `json:",omitempty"`
}

// A Requirement is who must approve under one rule.
type Requirement struct {
	Four FourEyes
	Rule string // see Approval
}

// Requirements returns who must approve; all of it must be met.
func (a *Approval) Requirements() []Requirement {
	return append([]Requirement{{a.Four, a.Rule}}, a.Also...)
}

// Needs returns the requirements in words; "" if one operator is enough.
func (a *Approval) Needs() string {
	var all []string
	for _, r := range a.Requirements() {
		if text := r.Four.String(); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; and ")
}

// Count returns how many people must approve at least.
func (a *Approval) Count() int {
	most := 0
	for _, r := range a.Requirements() {
		most = max(most, r.Four.Count())
	}
	return most
}

// AsksReason reports whether an approver must say why.
func (a *Approval) AsksReason() bool {
	return slices.ContainsFunc(a.Requirements(), func(r Requirement) bool { return r.Four.Reason })
}

// Print returns a text that is equal for equal requirements, and "" if one operator is enough.
func (a *Approval) Print() string {
	text := a.Four.Print()
	for _, r := range a.Also {
		text += "\x00" + r.Four.Print() + "\x00" + r.Rule
	}
	return text
}

// both returns the approval that meets what two layers ask for: each one's people, the
// narrower coverage, and the shorter time.
func both(a, b *Approval) *Approval {
	if a.stricterThan(b) > 0 {
		a, b = b, a
	}
	of := *a
	of.ByClient, of.AtTerminal = a.ByClient && b.ByClient, a.AtTerminal && b.AtTerminal
	of.Valid = min(a.Valid, b.Valid)
	order := []Coverage{CoversCall, CoversTool, CoversServer}
	of.Covers = order[min(slices.Index(order, a.Covers), slices.Index(order, b.Covers))]
	of.Also = slices.Clone(a.Also)
	for _, r := range b.Requirements() {
		if !r.Four.IsZero() {
			of.Also = append(of.Also, r)
		}
	}
	return &of
}

// FourEyes says who must approve a use, and what they must say. The zero value asks for one
// operator: the user who runs Junctor, or an admin of the console.
type FourEyes struct {
	// Approvers may approve; nil: the operators may.
	Approvers []Holder `json:",omitempty"`
	// More is how many people must approve beside the first one.
	More int `json:",omitempty"`
	// Apart are globs of groups, the teams: an approver is in one of them, and in none that
	// the caller is in.
	Apart []string `json:",omitempty"`
	// Reason is set if an approver must say why. Pattern is a regular expression that finds
	// something in what they say; "": anything will do.
	Reason  bool   `json:",omitempty"`
	Pattern string `json:",omitempty"`
}

// Count returns how many people must approve.
func (f *FourEyes) Count() int { return f.More + 1 }

// IsZero reports whether one operator is enough.
func (f FourEyes) IsZero() bool {
	return f.Approvers == nil && f.More == 0 && f.Apart == nil && !f.Reason
}

// String returns the requirements in words, such as "2 of group \"leads\""; "" for none.
func (f *FourEyes) String() string {
	if f.IsZero() {
		return ""
	}
	who := "operator"
	if f.Approvers != nil {
		var names []string
		for _, h := range f.Approvers {
			names = append(names, h.String())
		}
		who = strings.Join(names, " or ")
	}
	text := fmt.Sprintf("%d of %s", f.Count(), who)
	if f.Approvers == nil && f.Count() > 1 {
		text = fmt.Sprintf("%d operators", f.Count())
	}
	if f.Apart != nil {
		text += ", not of the caller's " + strings.Join(f.Apart, ", ")
	}
	switch {
	case f.Pattern != "":
		text += fmt.Sprintf(", with a reason like %q", f.Pattern)
	case f.Reason:
		text += ", with a reason"
	}
	return text
}

// Print returns a text that is equal for equal requirements, and "" for none.
func (f *FourEyes) Print() string {
	if f.IsZero() {
		return ""
	}
	var names []string
	for _, h := range f.Approvers {
		names = append(names, fmt.Sprintf("%q", []string{h.Kind, h.Name, h.Tenant, h.Issuer}))
	}
	slices.Sort(names)
	return fmt.Sprintf("%q %d %q %t %q", names, f.More, slices.Sorted(slices.Values(f.Apart)), f.Reason, f.Pattern)
}

// MeetsReason reports whether a text is a reason that the requirements accept. Where they ask for
// one, it has a letter or a digit that people see.
func (f *FourEyes) MeetsReason(text string) bool {
	if f.Pattern == "" || !visible.HasLetter(text) {
		return !f.Reason || visible.HasLetter(text)
	}
	found, err := regexp.MatchString(f.Pattern, text)
	return err == nil && found
}

// TeamsOf returns the groups of a principal that are teams.
func (f *FourEyes) TeamsOf(p *authn.Principal) (teams []string) {
	for _, group := range p.Groups {
		if slices.ContainsFunc(f.Apart, func(glob string) bool { return condition.Like(group, glob) }) {
			teams = append(teams, group)
		}
	}
	return teams
}

// stricterThan orders requirements: more people before fewer, named ones before any
// operator, and those with further conditions before those without.
func (f *FourEyes) stricterThan(o *FourEyes) int {
	flag := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	return cmp.Or(o.More-f.More, flag(f.Approvers != nil, o.Approvers != nil), flag(f.Apart != nil, o.Apart != nil),
		flag(f.Reason, o.Reason), flag(f.Pattern != "", o.Pattern != ""))
}

// stricterThan orders approvals: another person before the one at the terminal, and that one
// before the client; more eyes before fewer; one call before many, a short time before a long
// one.
func (a *Approval) stricterThan(b *Approval) int {
	order := []Coverage{CoversCall, CoversTool, CoversServer}
	byClient := func(x *Approval) int {
		switch {
		case x.ByClient:
			return 2
		case x.AtTerminal:
			return 1
		}
		return 0
	}
	return cmp.Or(byClient(a)-byClient(b), a.Four.stricterThan(&b.Four),
		slices.Index(order, a.Covers)-slices.Index(order, b.Covers), cmp.Compare(a.Valid, b.Valid))
}

// Relayed is the method, and as the issuer of a holder the name, of people whom a program
// on the control socket names. Nothing proves their names but that program, so only a holder
// with this issuer is one of them.
const Relayed = "relay"

// MayApprove reports whether a principal is one of the approvers of a rule, in each policy
// that has it. found is false if none has a rule with the identity any more.
func (p *Policy) MayApprove(who *authn.Principal, rule string) (may, found bool) {
	may = true
	for _, one := range append([]*Policy{p}, p.above...) {
		for _, r := range one.rules {
			if r.Effect == Confirms && r.Approval.Rule == rule {
				may, found = may && one.approves(who, r), true
			}
		}
	}
	return may && found, found
}

// IsApprover reports whether a rule names a principal as an approver.
func (p *Policy) IsApprover(who *authn.Principal) bool {
	for _, one := range append([]*Policy{p}, p.above...) {
		if slices.ContainsFunc(one.rules, func(r *rule) bool { return r.Effect == Confirms && one.approves(who, r) }) {
			return true
		}
	}
	return false
}

// Bars reports whether a deny rule without any condition takes a principal out: one that is
// about everything, in the block of a role, a subject or a group.
func (p *Policy) Bars(who *authn.Principal) bool {
	for _, one := range append([]*Policy{p}, p.above...) {
		var held holderSet
		one.members.of(who, &held)
		if slices.ContainsFunc(one.rules, func(r *rule) bool {
			return r.Effect == Denies && r.holder >= 0 && held.has(r.holder) && r.When == nil &&
				r.Access == Ambiguous &&
				r.Servers == nil && r.Tools == nil && r.Resources == nil && r.Prompts == nil
		}) {
			return true
		}
	}
	return false
}

// approves reports whether a rule names a principal. Its roles are those that this policy
// gives: another one cannot add approvers.
func (p *Policy) approves(who *authn.Principal, r *rule) bool {
	return slices.ContainsFunc(r.Approval.Four.Approvers, func(h Holder) bool {
		switch {
		case (who.Method == Relayed) != (h.Issuer == Relayed):
			return false
		case h.Kind == "role":
			return h.admits(who) && slices.Contains(p.members.rolesOf(who), h.Name)
		}
		return h.reserved().NamedBy(who)
	})
}
