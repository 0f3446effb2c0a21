package policy

import (
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
)

// An Explanation says how a decision came about.
type Explanation struct {
	Decision Decision
	// Roles are the roles that the principal has under this policy, and where each comes
	// from.
	Roles []HeldRole
	// Rules are the rules about the server or the item, in the order in which they
	// decide. Those that are about other servers are left out.
	Rules []RuleResult
}

// A HeldRole is a role of a principal.
type HeldRole struct {
	Role string `json:"role"`
	From string `json:"from"` // "credential", or the place of the subject or group block
	// Known is false for a role of the credential that the policy does not name.
	Known bool `json:"known"`
}

// A RuleResult says what a rule came to.
type RuleResult struct {
	Rule    string `json:"rule"` // effect, place and holder
	Effect  string `json:"effect"`
	At      string `json:"at"`
	Matched bool   `json:"matched"`
	Decided bool   `json:"decided"`
	Why     string `json:"why"` // it did not match, or may match; what its condition came to
	When    string `json:"when,omitempty"`
	about   bool   // it is about the item
	held    bool   // the principal is its holder
	helps   bool   // the decision would be another one if it matched
	holder  Holder
}

// Explain returns the decision of [Policy.Decide], or of [Policy.List] if undecided is
// set, with everything that led to it. The verb why, the console and the tests of policies call
// it. It may be called concurrently.
func (p *Policy) Explain(q *Query, undecided bool) Explanation {
	x := p.explain(q, undecided)
	for _, o := range p.above {
		also := o.explain(q, undecided)
		x = Explanation{
			Decision: stricter(also.Decision, x.Decision), Roles: append(x.Roles, also.Roles...),
			Rules: append(also.Rules, x.Rules...),
		}
	}
	return x
}

func (p *Policy) explain(q *Query, undecided bool) Explanation {
	x := Explanation{Roles: p.heldRoles(q.Principal)}
	results := map[*rule]matching{}
	x.Decision = p.applyRules(q, undecided && q.Item.Kind == Tool, func(r *rule, m matching) { results[r] = m })
	for _, r := range p.rules {
		if r.Servers != nil && !anyLike(r.Servers, q.Item.Server) {
			continue
		}
		result := RuleResult{Rule: r.text, Effect: r.Effect.String(), At: r.At, holder: r.Holder}
		if r.When != nil {
			result.When = r.When.Source
		}
		m, about := results[r]
		result.about, result.held = about, m.held
		switch {
		case !about:
			result.Why = r.matchesItem(q.Item, p.access(q), p.strict)
		case !m.held:
			result.Why = "the principal is not " + r.Holder.String()
			if r.Holder.Kind == "role" && r.Holder.admits(q.Principal) {
				result.Why = fmt.Sprintf("the principal does not have the role %q", r.Holder.Name)
			}
		default:
			result.Matched = m.decides(r.Effect)
			result.Why = m.explain(r)
		}
		result.Decided = x.Decision.Rule == r.text && about
		result.helps = result.Near() && p.helps(q, undecided, r, m.held, &x.Decision)
		x.Rules = append(x.Rules, result)
	}
	return x
}

// helps reports whether the decision d would be another one if a rule that is near matched.
func (p *Policy) helps(q *Query, undecided bool, r *rule, held bool, d *Decision) bool {
	if r.Tightens {
		return d.Verdict == Allow
	}
	if held {
		return r.Effect == Denies || !d.denied() && (r.Effect == Confirms || d.Verdict != Confirm)
	}
	who, with := *q.Principal, *q
	who.Roles = append(slices.Clone(who.Roles), r.Holder.Name)
	with.Principal = &who
	return r.Holder.Kind == "role" && p.applyRules(&with, undecided && q.Item.Kind == Tool, nil).Verdict != d.Verdict
}

// explain says in words what a condition came to. It returns "" for a rule without one.
func (m matching) explain(r *rule) string {
	switch {
	case r.When == nil:
		return ""
	case m.outcome == condition.True && m.mayFail:
		return "its condition is true or fails, so it matches"
	case m.outcome == condition.True:
		return "its condition is true"
	case m.outcome == condition.False:
		return "its condition is false"
	case m.outcome == condition.Unknown:
		return "its condition depends on the arguments or the request"
	case r.Effect == Allows:
		return "failed: " + m.why + ", so it does not match"
	}
	return "failed: " + m.why + ", so it matches"
}

// Near reports whether a rule is about the item and missed only by its holder or its
// condition.
func (r RuleResult) Near() bool { return !r.Matched && r.about }

// Change says in words what would change the decision if the rule is near and would decide
// otherwise.
func (r RuleResult) Change() string {
	switch {
	case !r.helps:
		return ""
	case r.held:
		return fmt.Sprintf("if %s, %s would match", r.When, r.Rule)
	case r.holder.Kind == "role":
		return fmt.Sprintf("with the role %q, %s would match", r.holder.Name, r.Rule)
	}
	return ""
}

// heldRoles returns the roles of a principal, with those that the policy does not know.
func (p *Policy) heldRoles(who *authn.Principal) []HeldRole {
	var all []HeldRole
	for _, role := range who.Roles {
		_, known := p.members.roles[role]
		all = append(all, HeldRole{Role: role, From: "credential", Known: known})
	}
	p.members.each(who, func(one membership) {
		for _, role := range one.roles {
			all = append(all, HeldRole{Role: role, From: one.named.String(), Known: true})
		}
	})
	return all
}
