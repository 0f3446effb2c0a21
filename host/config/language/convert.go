package language

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Convert converts an attribute's value to a type. It reports each element of a
// list or map that has the wrong type, at its own place. It is pure but for its reports.
func (r Reader) Convert(a *hclsyntax.Attribute, v cty.Value, want cty.Type) (cty.Value, bool) {
	wrong := typeMismatches(v, want, nil)
	for _, m := range wrong {
		name := fmt.Sprintf("%q", a.Name)
		at := a.Expr.Range()
		if len(m.steps) > 0 && !v.ContainsMarked() { // of a marked value, keys may be secret too
			name, at = a.Name+TextOf(m.steps), Locate(a.Expr, m.steps)
		}
		hint := m.hint
		if hint == "" {
			hint = typeHint(a.Name, m, v.ContainsMarked())
		}
		r.ErrorAt(at, hint, "%s %s", name, m.why)
	}
	if len(wrong) > 0 {
		return cty.NilVal, false
	}
	fitting, err := Conform(v, want)
	if err != nil {
		r.ErrorAt(a.Expr.Range(), "", "%q must be %s", a.Name, TypeName(want))
		return cty.NilVal, false
	}
	return fitting, true
}

// A typeMismatch is one element of a value that has the wrong type.
type typeMismatch struct {
	steps     []Step
	why, hint string    // hint may be empty
	got       cty.Value // unmarked; NilVal: its type is not the problem
	want      cty.Type
}

// typeMismatches lists the elements of v that cannot be converted to want. within
// leads from the attribute to v.
func typeMismatches(v cty.Value, want cty.Type, within []Step) []typeMismatch {
	v, _ = v.Unmark()
	got := v.Type()
	why := fmt.Sprintf("must be %s, not %s", TypeName(want), TypeName(got))
	wrong := []typeMismatch{{steps: within, why: why, got: v, want: want}}
	isMap := got.IsObjectType() || got.IsMapType()
	isList := got.IsTupleType() || got.IsListType() || got.IsSetType()
	switch {
	case want == cty.DynamicPseudoType || v.IsNull():
		return nil
	case want.IsObjectType() && isMap:
		return memberMismatches(v, want, within)
	case want.IsMapType() && isMap, want.IsListType() && isList, want.IsSetType() && isList:
		var all []typeMismatch
		for it := v.ElementIterator(); it.Next(); {
			key, e := it.Element()
			if want.IsSetType() && got.IsSetType() {
				key = cty.Zero // elements of a set have no index
			}
			path := Inside(within, StepsOf(cty.Path{cty.IndexStep{Key: key}})...)
			all = append(all, typeMismatches(e, want.ElementType(), path)...)
		}
		return all
	case want.IsPrimitiveType() || want.IsTupleType():
		if _, err := convert.Convert(v, want); err == nil {
			return nil
		}
	}
	return wrong
}

// memberMismatches is typeMismatches for an object type. It also lists members
// that the type does not have; HCL's conversion would drop them.
func memberMismatches(v cty.Value, want cty.Type, within []Step) []typeMismatch {
	known := slices.Sorted(maps.Keys(want.AttributeTypes()))
	members := v.AsValueMap()
	var all []typeMismatch
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !want.HasAttribute(name) {
			steps := Inside(within, Step{Name: name})
			all = append(all, typeMismatch{steps: steps, why: "is not known", hint: DidYouMean(name, known)})
			continue
		}
		all = append(all, typeMismatches(members[name], want.AttributeType(name), Inside(within, Step{Name: name}))...)
	}
	for _, name := range known {
		if _, set := members[name]; !set && !want.AttributeOptional(name) {
			all = append(all, typeMismatch{steps: within, why: fmt.Sprintf("needs %q", name)})
		}
	}
	return all
}

// Conform converts a value to a type. Parts of the dynamic type stay unchanged.
// HCL's own conversion would give all members of a map(any) one type. It would
// turn the number in { a = 1, b = "x" } into a string.
func Conform(v cty.Value, want cty.Type) (cty.Value, error) {
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
		e, err := Conform(e, want.ElementType())
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

// typeHint returns what to write in place of a value of a wrong type. It repeats words of
// a command that cannot be secret, and no other values.
func typeHint(name string, m typeMismatch, secret bool) string {
	if m.got == cty.NilVal {
		return ""
	}
	set := "write "
	if len(m.steps) == 0 {
		set = "write " + name + " = "
	}
	text := ""
	if m.got.Type() == cty.String && !m.got.IsNull() && m.got.IsKnown() {
		text = m.got.AsString()
	}
	switch want := m.want; {
	case want.IsListType() && name == "command" && strings.Contains(text, " ") && !secret:
		return set + WordsInBrackets(text)
	case want.IsListType() && strings.Contains(text, " "):
		return set + `["...", "..."], each word for itself`
	case want.IsListType() && m.got.Type().IsPrimitiveType():
		return set + `["..."], a list in brackets`
	case want.IsMapType() && want.ElementType() == cty.String:
		return set + `{ NAME = "..." }`
	case want == cty.Bool:
		return set + "true or " + strings.TrimPrefix(set, "write ") + "false, without quotes"
	case want == cty.Number:
		return set + "1, a number without quotes"
	case want == cty.String:
		return set + `"...", one text in quotes`
	}
	return ""
}

// TypeName returns the name of a type for messages.
func TypeName(ty cty.Type) string {
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
		return "a map" + elementTypeName(ty.ElementType())
	case ty.IsTupleType():
		return "a list"
	case ty.IsListType() || ty.IsSetType():
		return "a list" + elementTypeName(ty.ElementType())
	}
	return "a value"
}

// elementTypeName returns the end of a collection type's name for messages.
func elementTypeName(element cty.Type) string {
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
