package config

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Pattern is a glob for names of tools. '*' matches any number of any
// characters; every other character matches itself.
type Pattern struct {
	Glob string
	At   Position
}

// Match reports whether the pattern matches the whole name; see [condition.Like].
func (p Pattern) Match(name string) bool { return condition.Like(name, p.Glob) }

// globs reads a list of patterns.
func (r blockReader) globs(name string) []item {
	items := r.publicStrings(name)
	for _, e := range items {
		switch {
		case e.text == "":
			r.errorAt(e.at, "", "%q holds an empty pattern, which fits no tool", name)
		case len(e.text) > 256:
			r.errorAt(e.at, "", "a pattern is longer than 256 bytes")
		}
	}
	return items
}

// patterns converts items. It returns nil for an attribute that is not set.
func patterns(items []item) []Pattern {
	if items == nil {
		return nil
	}
	ps := []Pattern{}
	for _, e := range items {
		ps = append(ps, Pattern{Glob: e.text, At: startOf(e.at)})
	}
	return ps
}

// exclusive reports a pattern in two lists that contradict each other. Two
// different patterns may match the same tool: "deny" and "write" win then.
func (r blockReader) exclusive(one, other string, globs map[string][]item) {
	seen := map[string]hcl.Range{}
	for _, e := range globs[one] {
		seen[e.text] = e.at
	}
	for _, e := range globs[other] {
		if first, both := seen[e.text]; both {
			r.errorAt(e.at, "", "the pattern %q is in both %q and %q; the other is at %s", e.text, one, other, startOf(first))
		}
	}
}

// toolNameRule is the grammar of offered names of tools. MCP allows longer names.
var toolNameRule = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`)

// views reads the tool blocks of a server block.
func (r blockReader) views() []View {
	var views []View
	tools := map[string]hcl.Range{}
	names := map[string]hcl.Range{}
	for _, b := range r.body.Blocks {
		if b.Type != "tool" || len(b.Labels) != 1 {
			continue
		}
		t := r.nested(b)
		v, nameAt := t.view()
		if first, both := tools[t.label]; both {
			t.duplicate(t.labelAt, first, "tool %q", t.label)
			continue
		}
		tools[t.label] = t.labelAt
		offered := v.Name
		if offered == "" {
			offered = v.Tool
		}
		if first, both := names[offered]; both && !v.Hidden {
			t.errorAt(nameAt, "", "two tools would be called %q; the other is at %s", offered, startOf(first))
		} else if !v.Hidden {
			names[offered] = nameAt
		}
		views = append(views, v)
	}
	return views
}

var viewForm = form{
	entries: []entry{
		{name: "name", values: texts("1 to 64 letters, digits, `_`, `.` and `-`"), unset: "the server's name", doc: "The offered name, without the prefix."},
		{name: "description", values: texts("a text"), unset: "the server's description", doc: "Replaces the server's description."},
		{name: "hidden", values: booleans, unset: "`false`", doc: "The tool is not offered."},
		// Arguments may be secrets.
		{name: "pin", values: objects, unset: "none", private: true, doc: "Arguments that are always sent. Clients neither see nor set them."},
		{name: "default", values: objects, unset: "none", private: true, doc: "Arguments that are sent when the client sends none."},
	},
}

// view reads one tool block. It also returns the range of the offered name.
func (r blockReader) view() (View, hcl.Range) {
	r.check(viewForm)
	v := View{Tool: r.label, At: startOf(r.head)}
	nameAt := r.labelAt
	if r.label == "" || len(r.label) > 256 {
		r.errorAt(r.labelAt, "", "the label is the tool's name, of 1 to 256 bytes")
	}
	if name, a, set := r.publicString("name"); set {
		v.Name, nameAt = name, a.Expr.Range()
		if !toolNameRule.MatchString(name) {
			r.errorAt(nameAt, "", "a tool's name is 1 to 64 letters, digits, and _ . -")
		}
	}
	v.Description, _, v.HasDescription = r.publicString("description")
	v.Hidden = r.boolean("hidden", false)
	v.Pin, v.shownPin = r.arguments("pin")
	v.Default, v.shownDefault = r.arguments("default")
	v.Places = map[string]Position{}
	r.addPlaces(v.Places, "pin", v.Pin)
	r.addPlaces(v.Places, "default", v.Default)
	for name := range v.Default {
		if _, both := v.Pin[name]; both {
			at := keyRange(r.body.Attributes["default"].Expr, name)
			r.errorAt(at, "a pinned argument is always sent and needs no default", "argument %q is pinned too", name)
		}
	}
	return v, nameAt
}

// addPlaces adds the place of each member of an object of arguments.
func (r blockReader) addPlaces(places map[string]Position, name string, arguments map[string]json.RawMessage) {
	for key := range arguments {
		places[key] = startOf(keyRange(r.body.Attributes[name].Expr, key))
	}
}

// arguments reads an object with members of any type. It also returns the object as it may be
// printed: see shownValue.
func (r blockReader) arguments(name string) (arguments map[string]json.RawMessage, shown json.RawMessage) {
	v, a, set := r.value(name, cty.DynamicPseudoType)
	if !set {
		return nil, nil
	}
	marked := v
	v, _ = v.UnmarkDeep()
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		r.errorAt(a.Expr.Range(), "write "+name+" = { argument = value }", "%q must be an object, not %s", name, typeName(v.Type()))
		return nil, nil
	}
	arguments = map[string]json.RawMessage{}
	for key, value := range v.AsValueMap() {
		arguments[key] = jsonOf(value)
	}
	return arguments, jsonOf(shownValue(marked, false))
}
