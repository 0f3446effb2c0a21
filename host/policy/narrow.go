package policy

import "github.com/junctor-mcp/junctor/host/condition"

// Narrow returns what the policy asks of the arguments of a tool that is listed because
// they decide: constraints that every allowed call meets. exact is true if every call that
// meets them is allowed, with or without an approval. The gateway calls it for lists and for
// errors about arguments. It may be called concurrently.
func (p *Policy) Narrow(q *Query) (all []condition.Constraint, exact bool) {
	all, exact = p.narrow(q)
	for _, o := range p.above {
		more, whole := o.narrow(q)
		all, exact = condition.Combine(append(all, more...)), exact && whole
	}
	return all, exact
}

func (p *Policy) narrow(q *Query) (all []condition.Constraint, exact bool) {
	if _, offered := p.offered(q.Item); !offered || !p.given || q.Item.Kind != Tool {
		return nil, true
	}
	var held holderSet
	p.members.of(q.Principal, &held)
	in := p.input(q, true)
	fallback, _ := p.fallbackFor(q)
	certain, exact := fallback == Allow, true
	var grants [][]condition.Constraint
	grantsExact := true
	for _, r := range p.plan(q.Item, p.access(q)) {
		m := r.match(&held, in)
		switch {
		case r.Tightens: // it asks for an approval, and for no argument
		case r.Effect == Denies && m.outcome == condition.Unknown:
			some, whole := r.When.Narrow(in, true)
			all, exact = append(all, some...), exact && whole
		case r.Effect == Confirms && m.outcome == condition.Unknown:
			grants, grantsExact = append(grants, nil), false // it matches where its condition fails, too
		case r.Effect == Allows && m.outcome == condition.Unknown:
			some, whole := r.When.Narrow(in, false)
			grants, grantsExact = append(grants, some), grantsExact && whole
		case r.Effect != Denies && m.decides(r.Effect):
			certain = true
		}
	}
	if certain {
		return condition.Combine(all), exact
	}
	granted, one := anyGrant(grants, grantsExact)
	return condition.Combine(append(all, granted...)), exact && one
}

// anyGrant returns what at least one of several rules asks for.
func anyGrant(grants [][]condition.Constraint, whole bool) (all []condition.Constraint, exact bool) {
	for i, g := range grants {
		if i == 0 {
			all, exact = g, whole
			continue
		}
		if !whole {
			return nil, false
		}
		if all, exact = condition.Either(all, g); !exact {
			return nil, false
		}
	}
	return all, exact
}
