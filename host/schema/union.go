package schema

import (
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// union explains why no form of a union, anyOf or oneOf, matches. It reports the errors of the
// form that was probably meant: it leaves out forms for another type, then forms with another
// constant in a member, such as a discriminator. This file is the part of explain.go for
// unions.
func (x explainer) union(e *jsonschema.ValidationError) []finding {
	var branches [][]finding
	for _, cause := range e.Causes {
		if found := x.findings(cause); len(found) > 0 {
			branches = append(branches, found)
		}
	}
	here := x.at(e)
	depth := len(e.InstanceLocation)
	if merged, ok := mergeTypes(here, branches); ok {
		return []finding{merged}
	}
	got := x.got(e.InstanceLocation)
	branches = without(branches, func(f finding) bool {
		return len(f.loc) == depth && (f.types != nil || f.values != nil && !sameType(f.values, got))
	})
	branches = without(branches, func(f finding) bool { return f.values != nil && len(f.loc) == depth+1 })
	if len(branches) == 1 {
		return branches[0]
	}
	if merged, ok := mergeValues(here, branches, got); ok {
		return []finding{merged}
	}
	here.message = fmt.Sprintf("matches none of the %d allowed forms", len(e.Causes))
	return []finding{here}
}

// without removes the branches with a finding that excludes them, unless no branch
// would remain.
func without(branches [][]finding, excludes func(finding) bool) [][]finding {
	kept := slices.DeleteFunc(slices.Clone(branches),
		func(found []finding) bool { return slices.ContainsFunc(found, excludes) })
	if len(kept) == 0 {
		return branches
	}
	return kept
}

func sameType(values []any, got any) bool {
	return slices.ContainsFunc(values, func(v any) bool { return typesOf(v) == typesOf(got) })
}

// mergeTypes merges branches that each expect a type and nothing else. The types of here are
// empty. The functions of this file are pure.
func mergeTypes(here finding, branches [][]finding) (finding, bool) {
	for _, found := range branches {
		if len(found) != 1 || found[0].types == nil || len(found[0].loc) != len(here.loc) {
			return here, false
		}
		here.got = found[0].got
		for _, name := range found[0].types {
			if !slices.Contains(here.types, name) {
				here.types = append(here.types, name)
			}
		}
	}
	if here.types == nil {
		return here, false
	}
	here.message = wrongType(here.types, here.got)
	return here, true
}

// mergeValues merges branches that each expect a constant and nothing else. The values of here are
// empty. The message has the constants of the schema, and of got its type only.
func mergeValues(here finding, branches [][]finding, got any) (finding, bool) {
	for _, found := range branches {
		if len(found) != 1 || found[0].values == nil || len(found[0].loc) != len(here.loc) {
			return here, false
		}
		here.values = append(here.values, found[0].values...)
	}
	if here.values == nil {
		return here, false
	}
	here.message = wrongValue(here.values, got)
	return here, true
}
