package policy

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/condition"
)

// About reports whether the rule is about an item, for some principal. This file finds rules
// that have no effect, for warnings. Its functions are pure.
func (r Rule) About(item Item, access Access, strict bool) bool {
	return (&rule{Rule: r}).matchesItem(item, access, strict) == ""
}

// Shadow returns the rule that keeps a rule from having an effect, or nil: an unconditional
// rule that denies all that the rule allows, or one that allows without a condition what
// the rule allows with one.
func (r Rules) Shadow(of Rule) *Rule {
	for i, other := range r.Rules {
		switch {
		case other.Tightens || of.Effect == Denies || other.At == of.At || other.When != nil || !other.covers(of):
		case other.Effect == Denies, other.Effect == Allows && of.Effect == Allows && of.When != nil:
			return &r.Rules[i]
		}
	}
	return nil
}

// covers reports whether a rule is about everything and everyone that another is about.
func (r Rule) covers(other Rule) bool {
	all := r.Tools == nil && r.Resources == nil && r.Prompts == nil
	kind := func(mine, others []string) bool { return all || others == nil || mine != nil && within(mine, others) }
	switch {
	case r.Holder != (Holder{}) && r.Holder != other.Holder:
		return false
	case r.Access != Ambiguous && r.Access != other.Access:
		return false
	case r.Servers != nil && (other.Servers == nil || !within(r.Servers, other.Servers)):
		return false
	case !all && other.Tools == nil && other.Resources == nil && other.Prompts == nil:
		return false
	}
	return kind(r.Tools, other.Tools) && kind(r.Resources, other.Resources) && kind(r.Prompts, other.Prompts)
}

// within reports whether every glob of a list is within one of another list: all that it
// matches the other one matches too.
func within(globs, others []string) bool {
	return !slices.ContainsFunc(others, func(o string) bool {
		return !slices.ContainsFunc(globs, func(g string) bool { return condition.Like(o, g) })
	})
}
