package config

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config/language"
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
func (r blockReader) globs(name string) []language.Item {
	items := r.Texts(name)
	for _, e := range items {
		switch {
		case e.Text == "":
			r.ErrorAt(e.At, "", "%q holds an empty pattern, which fits no tool", name)
		case len(e.Text) > 256:
			r.ErrorAt(e.At, "", "a pattern is longer than 256 bytes")
		}
	}
	return items
}

// patterns converts items. It returns nil for an attribute that is not set.
func patterns(items []language.Item) []Pattern {
	if items == nil {
		return nil
	}
	ps := []Pattern{}
	for _, e := range items {
		ps = append(ps, Pattern{Glob: e.Text, At: startOf(e.At)})
	}
	return ps
}

// exclusive reports a pattern in two lists that contradict each other. Two
// different patterns may match the same tool: "deny" and "write" win then.
func (r blockReader) exclusive(one, other string, globs map[string][]language.Item) {
	seen := map[string]hcl.Range{}
	for _, e := range globs[one] {
		seen[e.Text] = e.At
	}
	for _, e := range globs[other] {
		if first, both := seen[e.Text]; both {
			r.ErrorAt(e.At, "", "the pattern %q is in both %q and %q; the other is at %s", e.Text, one, other, startOf(first))
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
	for _, b := range r.Body.Blocks {
		if b.Type != "tool" || len(b.Labels) != 1 {
			continue
		}
		t := r.nested(b)
		v, nameAt := t.view()
		if first, both := tools[t.Label]; both {
			t.Duplicate(t.LabelAt, first, "tool %q", t.Label)
			continue
		}
		tools[t.Label] = t.LabelAt
		offered := v.Name
		if offered == "" {
			offered = v.Tool
		}
		if first, both := names[offered]; both && !v.Hidden {
			t.ErrorAt(nameAt, "", "two tools would be called %q; the other is at %s", offered, startOf(first))
		} else if !v.Hidden {
			names[offered] = nameAt
		}
		views = append(views, v)
	}
	return views
}

var viewForm = language.Form{
	Entries: []language.Entry{
		{Name: "name", Values: language.Texts("1 to 64 letters, digits, `_`, `.` and `-`"), Unset: "the server's name", Doc: "The offered name, without the prefix."},
		{Name: "description", Values: language.Texts("a text"), Unset: "the server's description", Doc: "Replaces the server's description."},
		{Name: "hidden", Values: language.Booleans, Unset: "`false`", Doc: "The tool is not offered."},
		// Arguments may be secrets.
		{Name: "pin", Values: language.Objects, Unset: "none", Private: true, Doc: "Arguments that are always sent. Clients neither see nor set them."},
		{Name: "default", Values: language.Objects, Unset: "none", Private: true, Doc: "Arguments that are sent when the client sends none."},
	},
}

// view reads one tool block. It also returns the range of the offered name.
func (r blockReader) view() (View, hcl.Range) {
	r.Check(&viewForm)
	v := View{Tool: r.Label, At: startOf(r.Head)}
	nameAt := r.LabelAt
	if r.Label == "" || len(r.Label) > 256 {
		r.ErrorAt(r.LabelAt, "", "the label is the tool's name, of 1 to 256 bytes")
	}
	if name, a, set := r.Text("name"); set {
		v.Name, nameAt = name, a.Expr.Range()
		if !toolNameRule.MatchString(name) {
			r.ErrorAt(nameAt, "", "a tool's name is 1 to 64 letters, digits, and _ . -")
		}
	}
	v.Description, _, v.HasDescription = r.Text("description")
	v.Hidden = r.Boolean("hidden", false)
	v.Pin, v.shownPin = r.arguments("pin")
	v.Default, v.shownDefault = r.arguments("default")
	v.Places = map[string]Position{}
	r.addPlaces(v.Places, "pin", v.Pin)
	r.addPlaces(v.Places, "default", v.Default)
	for name := range v.Default {
		if _, both := v.Pin[name]; both {
			at := keyRange(r.Body.Attributes["default"].Expr, name)
			r.ErrorAt(at, "a pinned argument is always sent and needs no default", "argument %q is pinned too", name)
		}
	}
	return v, nameAt
}

// addPlaces adds the place of each member of an object of arguments.
func (r blockReader) addPlaces(places map[string]Position, name string, arguments map[string]json.RawMessage) {
	for key := range arguments {
		places[key] = startOf(keyRange(r.Body.Attributes[name].Expr, key))
	}
}

// arguments reads an object with members of any type. It also returns the object as it may be
// printed: see shownValue.
func (r blockReader) arguments(name string) (arguments map[string]json.RawMessage, shown json.RawMessage) {
	v, a, set := r.Value(name, cty.DynamicPseudoType)
	if !set {
		return nil, nil
	}
	marked := v
	v, _ = v.UnmarkDeep()
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		r.ErrorAt(a.Expr.Range(), "write "+name+" = { argument = value }", "%q must be an object, not %s", name, language.TypeName(v.Type()))
		return nil, nil
	}
	arguments = map[string]json.RawMessage{}
	for key, value := range v.AsValueMap() {
		arguments[key] = jsonOf(value)
	}
	return arguments, jsonOf(shownValue(marked, false))
}
