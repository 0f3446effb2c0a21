package policy

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/condition"
)

// Decide decides whether a principal may use an item once. The gateway calls it for each request, and
// again when a call goes on or the policy changed while it waited. Explain goes through the same
// applyRules. Narrow, for lists, walks the rules by itself: a change of how rules decide belongs in
// both.
func (p *Policy) Decide(q *Query) Decision {
	d := p.decide(q)
	for _, o := range p.above {
		d = stricter(o.decide(q), d)
	}
	return d
}

// stricter returns the decision that allows less; the first one if both allow the same.
func stricter(a, b Decision) Decision {
	rank := [...]int{Deny: 0, Depends: 1, Confirm: 2, Allow: 3}
	switch {
	case rank[b.Verdict] < rank[a.Verdict], a.Verdict == Allow:
		return b
	case a.Verdict == Confirm && b.Verdict == Confirm:
		d := a
		if b.approval.stricterThan(a.approval) < 0 {
			d = b
		}
		d.approval = both(a.approval, b.approval)
		return d
	}
	return a
}

func (p *Policy) decide(q *Query) Decision {
	if q.Continues {
		d := p.applyRules(q, true, nil)
		if d.Verdict == Depends || d.Verdict == Confirm {
			d.Verdict, d.approval = Allow, nil
		}
		return d
	}
	return p.applyRules(q, false, nil)
}

// List decides whether a list shows an item to a principal. The verdict is
// [Depends] if only the arguments of a call can decide. It may be called concurrently, as all
// methods of Policy.
func (p *Policy) List(q *Query) Decision {
	d := p.applyRules(q, q.Item.Kind == Tool, nil)
	for _, o := range p.above {
		d = stricter(o.applyRules(q, q.Item.Kind == Tool, nil), d)
	}
	return d
}

// applyRules applies the rules. undecided is set if there are no arguments yet. trace is
// called with each rule about the item; nil: none.
func (p *Policy) applyRules(q *Query, undecided bool, trace func(*rule, matching)) Decision {
	d := Decision{item: q.Item, principal: identityOf(q.Principal), args: digestOf(q.Args)}
	if undecided {
		d.args = digestOf(nil)
	}
	if rule, offered := p.offered(q.Item); !offered || !p.given {
		if d.Rule = rule; offered {
			d.Verdict = Allow
		}
		return d
	}
	var held holderSet
	p.members.of(q.Principal, &held)
	var in *condition.Input   // made for the first condition
	var may [Allows + 1]*rule // of each effect, the first that matches for some arguments
	var missed failure        // of the first rule that allows
	var tightens, mayTighten *rule
	var tightened failure
	for _, r := range p.plan(q.Item, p.access(q)) {
		if in == nil && r.When != nil {
			in = p.input(q, undecided)
		}
		m := r.match(&held, in)
		if trace != nil {
			trace(r, m)
		}
		switch {
		case r.Tightens && m.outcome == condition.Unknown && mayTighten == nil:
			mayTighten = r
		case r.Tightens && m.decides(r.Effect) && tightens == nil:
			tightens, tightened = r, failure{why: m.why}
		case r.Tightens:
		case d.Rule != "": // decided; the rest is for the trace
		case m.outcome == condition.Unknown && may[r.Effect] == nil:
			may[r.Effect] = r
		case m.decides(r.Effect):
			d.decide(r)
			d.failed = failure{why: m.why}
		case m.outcome == condition.Failed && missed.why == "":
			missed = failure{r.text, m.why}
		}
		if d.Rule != "" && trace == nil {
			break
		}
	}
	if d.Rule == "" {
		d.Verdict, d.Rule = p.fallbackFor(q)
		d.failed = missed
	}
	if d.tighten(tightens, mayTighten) {
		d.failed = tightened
	}
	d.leaveOpen(may)
	return d
}

// fallbackFor returns the decision if no rule matches.
func (p *Policy) fallbackFor(q *Query) (v Verdict, reason string) {
	if p.strict && p.fallback == Allow && accessOf(q.Item, p.access(q)) == Ambiguous {
		return Deny, ambiguousDenied
	}
	return p.fallback, p.reason
}

// ambiguousDenied is why a strict policy denies a tool that its default would allow.
const ambiguousDenied = `no rule without access matches, and ambiguous = "deny" denies a tool that is neither read nor write`

// tighten asks for what is allowed, if a rule that only asks matches. It reports whether
// that rule decides.
func (d *Decision) tighten(r, may *rule) (decides bool) {
	switch {
	case r != nil && (d.Verdict == Allow || d.Verdict == Confirm && r.Approval.stricterThan(d.approval) < 0):
		d.decide(r)
		return true
	case may != nil && d.Verdict == Allow:
		d.leaveTo(may)
	}
	return false
}

// leaveTo makes the decision depend on a rule that may match.
func (d *Decision) leaveTo(may *rule) {
	d.cite(may)
	d.Verdict, d.approval, d.failed = Depends, nil, failure{}
}

// cite makes the decision name a rule.
func (d *Decision) cite(r *rule) {
	d.Rule, d.Holder, d.Name, d.Reason = r.text, r.Holder, r.Name, r.Reason
}

// decide makes the decision of a rule that matches.
func (d *Decision) decide(r *rule) {
	d.cite(r)
	d.byRule = true
	switch r.Effect {
	case Confirms:
		d.Verdict, d.approval = Confirm, &r.Approval
	case Allows:
		d.Verdict = Allow
	}
}

// leaveOpen makes a decision depend on the arguments if a rule that may match would
// decide otherwise.
func (d *Decision) leaveOpen(may [Allows + 1]*rule) {
	for _, r := range may {
		if r == nil {
			continue
		}
		if otherwise := [...]bool{
			Denies: d.Verdict != Deny, Confirms: d.Verdict == Allow || d.Verdict == Deny, Allows: d.Verdict == Deny,
		}; otherwise[r.Effect] && !d.denied() {
			d.leaveTo(r)
			return
		}
	}
}

// denied reports whether a rule denies, and not the default.
func (d *Decision) denied() bool { return d.Verdict == Deny && d.byRule }

// A matching is what a rule about the item came to for a principal.
type matching struct {
	held    bool // the principal is the holder of the rule
	outcome condition.Outcome
	why     string // the condition failed
	mayFail bool   // the condition is true or fails, and the rule matches either way
}

// decides reports whether a rule matches. A condition that fails matches unless the rule
// allows.
func (m matching) decides(e Effect) bool {
	return m.held && (m.outcome == condition.True || m.outcome == condition.Failed && e != Allows)
}

// input returns what conditions see.
func (p *Policy) input(q *Query, undecided bool) *condition.Input {
	in := &condition.Input{
		Principal: q.Principal, Server: q.Item.Server, Item: q.Item.Name, Args: q.Args, Undecided: undecided,
		Request: q.Request, AnyRequest: q.AnyRequest, Zone: p.zone, Time: q.Time,
	}
	if p.asksRole {
		in.Roles = p.members.rolesOf(q.Principal)
	}
	return in
}

// match evaluates the holder and the condition of a rule.
func (r *rule) match(held *holderSet, in *condition.Input) matching {
	if r.holder >= 0 && !held.has(r.holder) {
		return matching{}
	}
	m := matching{held: true, outcome: condition.True}
	if r.When == nil {
		return m
	}
	m.outcome, m.why = r.When.Evaluate(in)
	switch {
	case m.outcome == condition.FalseOrFailed && r.Effect == Allows:
		m.outcome = condition.False
	case m.outcome == condition.TrueOrFailed && r.Effect != Allows:
		m.outcome, m.mayFail = condition.True, true
	case m.outcome == condition.FalseOrFailed || m.outcome == condition.TrueOrFailed:
		m.outcome = condition.Unknown
	}
	return m
}

// offered applies what the server block offers. It is the same for all principals.
func (p *Policy) offered(item Item) (rule string, ok bool) {
	s, ok := p.servers[item.Server]
	if !ok {
		return fmt.Sprintf("server %q is not configured", item.Server), false
	}
	if item.Kind != Tool {
		return p.reason, true
	}
	for _, d := range s.Deny {
		if condition.Like(item.Name, d.Glob) {
			return "deny at " + d.At, false
		}
	}
	for _, a := range s.Allow {
		if condition.Like(item.Name, a.Glob) {
			return "allow at " + a.At, true
		}
	}
	switch {
	case len(s.Allow) > 0:
		return "no allow matches; the first is at " + s.Allow[0].At, false
	case s.Allow != nil:
		return "allow is empty", false
	}
	return p.reason, true
}
