package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// convert converts an attribute's value, or says what about it has the wrong type:
// each element of a list or map for itself.
func (s blockReader) convert(a *hclsyntax.Attribute, v cty.Value, want cty.Type) (cty.Value, bool) {
	wrong := misfits(v, want, nil)
	for _, m := range wrong {
		name := fmt.Sprintf("%q", a.Name)
		at := a.Expr.Range()
		if len(m.steps) > 0 && !v.ContainsMarked() { // keys can be secret too
			name, at = a.Name+textOf(m.steps), locate(a.Expr, m.steps)
		}
		s.wrong(at, m.hint, "%s %s", name, m.why)
	}
	if len(wrong) > 0 {
		return cty.NilVal, false
	}
	fitting, err := conform(v, want)
	if err != nil {
		s.wrong(a.Expr.Range(), "", "%q must be %s", a.Name, typeName(want))
		return cty.NilVal, false
	}
	return fitting, true
}

// A misfit is one place in a value that has the wrong type.
type misfit struct {
	steps     []step
	why, hint string
}

func misfits(v cty.Value, want cty.Type, within []step) []misfit {
	v, _ = v.Unmark()
	got := v.Type()
	wrong := []misfit{{within, fmt.Sprintf("must be %s, not %s", typeName(want), typeName(got)), exampleOf(got, want)}}
	isMap := got.IsObjectType() || got.IsMapType()
	isList := got.IsTupleType() || got.IsListType() || got.IsSetType()
	switch {
	case want == cty.DynamicPseudoType || v.IsNull():
		return nil
	case want.IsObjectType() && isMap:
		return memberMisfits(v, want, within)
	case want.IsMapType() && isMap, want.IsListType() && isList, want.IsSetType() && isList:
		var all []misfit
		for it := v.ElementIterator(); it.Next(); {
			key, e := it.Element()
			if want.IsSetType() && got.IsSetType() {
				key = cty.Zero // its elements have no place
			}
			all = append(all, misfits(e, want.ElementType(), inside(within, stepsOf(cty.Path{cty.IndexStep{Key: key}})...))...)
		}
		return all
	case want.IsPrimitiveType() || want.IsTupleType():
		if _, err := convert.Convert(v, want); err == nil {
			return nil
		}
	}
	return wrong
}

// memberMisfits looks at an object whose members the type lists. HCL would
// drop what is not listed.
func memberMisfits(v cty.Value, want cty.Type, within []step) []misfit {
	known := slices.Sorted(maps.Keys(want.AttributeTypes()))
	members := v.AsValueMap()
	var all []misfit
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !want.HasAttribute(name) {
			all = append(all, misfit{inside(within, step{name: name}), "is not known", didYouMean(name, known)})
			continue
		}
		all = append(all, misfits(members[name], want.AttributeType(name), inside(within, step{name: name}))...)
	}
	for _, name := range known {
		if _, set := members[name]; !set && !want.AttributeOptional(name) {
			all = append(all, misfit{within, fmt.Sprintf("needs %q", name), ""})
		}
	}
	return all
}

// inside is a path's steps and those that follow.
func inside(within []step, next ...step) []step { return slices.Concat(within, next) }

// conform converts a value to a type that it fits. Where the type says
// "anything" the value stays as it is; HCL's own conversion would give all
// members of a map of anything one type, and turn the number in
// { a = 1, b = "x" } into text.
func conform(v cty.Value, want cty.Type) (cty.Value, error) {
	if want == cty.DynamicPseudoType {
		return v, nil
	}
	if !want.HasDynamicTypes() || !want.IsListType() && !want.IsMapType() || v.IsNull() {
		return convert.Convert(v, want)
	}
	v, marks := v.Unmark()
	members, elements := map[string]cty.Value{}, []cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, e := it.Element()
		e, err := conform(e, want.ElementType())
		if err != nil {
			return cty.NilVal, err
		}
		if want.IsMapType() {
			members[key.AsString()] = e
		} else {
			elements = append(elements, e)
		}
	}
	if want.IsMapType() {
		return cty.ObjectVal(members).WithMarks(marks), nil
	}
	return cty.TupleVal(elements).WithMarks(marks), nil
}

// exampleOf is a hint for the commonest mistake.
func exampleOf(got, want cty.Type) string {
	if want.IsListType() && got.IsPrimitiveType() {
		return `a list stands in brackets: ["...", "..."]`
	}
	return ""
}

// typeName is what messages call a type.
func typeName(ty cty.Type) string {
	switch {
	case ty == cty.String:
		return "a string"
	case ty == cty.Number:
		return "a number"
	case ty == cty.Bool:
		return "true or false"
	case ty.IsObjectType():
		return "an object"
	case ty.IsMapType():
		return "a map" + of(ty.ElementType())
	case ty.IsTupleType():
		return "a list"
	case ty.IsListType() || ty.IsSetType():
		return "a list" + of(ty.ElementType())
	}
	return "a value"
}

func of(element cty.Type) string {
	switch element {
	case cty.String:
		return " of strings"
	case cty.Number:
		return " of numbers"
	case cty.Bool:
		return " of true or false"
	}
	return ""
}
