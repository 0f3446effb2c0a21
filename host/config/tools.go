package config

import (
	"encoding/json"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// globs reads a list of patterns.
func (s blockReader) globs(name string) []item {
	items := s.texts(name)
	for _, e := range items {
		switch {
		case e.text == "":
			s.wrong(e.at, "", "%q holds an empty pattern, which fits no tool", name)
		case len(e.text) > 256:
			s.wrong(e.at, "", "a pattern is longer than 256 bytes")
		}
	}
	return items
}

// patterns is nil for an attribute that is not set.
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

// exclusive refuses a pattern that stands in two lists that contradict each
// other. Two different patterns may still fit one tool: deny and write win.
func (s blockReader) exclusive(one, other string, globs map[string][]item) {
	seen := map[string]hcl.Range{}
	for _, e := range globs[one] {
		seen[e.text] = e.at
	}
	for _, e := range globs[other] {
		if first, both := seen[e.text]; both {
			s.wrong(e.at, "", "the pattern %q stands in both %q and %q; the other is at %s", e.text, one, other, startOf(first))
		}
	}
}

// toolName is what MCP allows a tool to be called, and a little shorter.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// views reads the tool blocks.
func (s blockReader) views() []View {
	var views []View
	tools := map[string]hcl.Range{}
	names := map[string]hcl.Range{}
	for _, b := range s.body.Blocks {
		if b.Type != "tool" || len(b.Labels) != 1 {
			continue
		}
		t := s.nested(b)
		v, nameAt := t.view()
		if first, both := tools[t.label]; both {
			t.twice(t.labelAt, first, "tool %q", t.label)
			continue
		}
		tools[t.label] = t.labelAt
		offered := v.Name
		if offered == "" {
			offered = v.Tool
		}
		if first, both := names[offered]; both && !v.Hidden {
			t.wrong(nameAt, "", "two tools would be called %q; the other is at %s", offered, startOf(first))
		} else if !v.Hidden {
			names[offered] = nameAt
		}
		views = append(views, v)
	}
	return views
}

var viewForm = form{
	attributes: []string{"name", "description", "hidden"},
	private:    []string{"pin", "default"}, // arguments may be secrets
}

// view reads one tool block. It also returns where its name comes from.
func (s blockReader) view() (View, hcl.Range) {
	s.check(viewForm)
	v := View{Tool: s.label, At: startOf(s.head)}
	nameAt := s.labelAt
	if s.label == "" || len(s.label) > 256 {
		s.wrong(s.labelAt, "", "the label is the tool's name, of 1 to 256 bytes")
	}
	if name, a, set := s.text("name"); set {
		v.Name, nameAt = name, a.Expr.Range()
		if !toolName.MatchString(name) {
			s.wrong(nameAt, "", "a tool's name is 1 to 64 letters, digits, and _ . -")
		}
	}
	v.Description, _, v.HasDescription = s.text("description")
	v.Hidden = s.flag("hidden", false)
	v.Pin = s.arguments("pin")
	v.Default = s.arguments("default")
	v.Places = map[string]Position{}
	s.place(v.Places, "pin", v.Pin)
	s.place(v.Places, "default", v.Default)
	for name := range v.Default {
		if _, both := v.Pin[name]; both {
			at := keyRange(s.body.Attributes["default"].Expr, name)
			s.wrong(at, "a pinned argument is always sent and needs no default", "argument %q is pinned too", name)
		}
	}
	return v, nameAt
}

// place adds where each member of an object of arguments stands.
func (s blockReader) place(places map[string]Position, name string, arguments map[string]json.RawMessage) {
	for key := range arguments {
		places[key] = startOf(keyRange(s.body.Attributes[name].Expr, key))
	}
}

// arguments reads an object of any values.
func (s blockReader) arguments(name string) map[string]json.RawMessage {
	v, a, set := s.value(name, cty.DynamicPseudoType)
	if !set {
		return nil
	}
	v, _ = v.UnmarkDeep()
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		s.wrong(a.Expr.Range(), "write "+name+" = { argument = value }", "%q must be an object, not %s", name, typeName(v.Type()))
		return nil
	}
	arguments := map[string]json.RawMessage{}
	for key, value := range v.AsValueMap() {
		arguments[key] = jsonOf(value)
	}
	return arguments
}
