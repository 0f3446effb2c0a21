package config

import (
	"encoding/json"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Pattern is a glob for names of tools. '*' matches any number of any
// characters; every other character matches itself.
type Pattern struct {
	Glob string
	At   source.Position
}

// Match reports whether the pattern matches the whole name; see [condition.Like].
func (p Pattern) Match(name string) bool { return condition.Like(name, p.Glob) }

// globs reads a list of patterns.
func globs(r language.Reader, name string) []language.Item {
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

// patternsOf converts items. It returns nil for an attribute that is not set.
func patternsOf(items []language.Item) []Pattern {
	if items == nil {
		return nil
	}
	ps := []Pattern{}
	for _, e := range items {
		ps = append(ps, Pattern{Glob: e.Text, At: source.StartOf(e.At)})
	}
	return ps
}

// haveCommon reports whether two lists have a pattern in common.
func haveCommon(one, other Patterns) bool {
	return slices.ContainsFunc(one, func(p Pattern) bool {
		return slices.ContainsFunc(other, func(o Pattern) bool { return o.Glob == p.Glob })
	})
}

// exclusive reports a pattern in two lists that contradict each other. Two
// different patterns may match the same tool: "deny" and "write" win then.
func exclusive(r language.Reader, one, other string) {
	seen := map[string]hcl.Range{}
	for _, e := range r.Texts(one) {
		seen[e.Text] = e.At
	}
	for _, e := range r.Texts(other) {
		if first, both := seen[e.Text]; both {
			r.ErrorAt(e.At, "", "the pattern %q is in both %q and %q; the other is at %s",
				e.Text, one, other, source.StartOf(first))
		}
	}
}

// toolNameRule is the grammar of offered names of tools. MCP allows longer names.
var toolNameRule = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`)

// readViews reads the tool blocks of a server block. loader.server calls it.
func readViews(r blockReader) []View {
	var views []View
	tools := map[string]hcl.Range{}
	names := map[string]hcl.Range{}
	for _, b := range r.Body.Blocks {
		if b.Type != "tool" || len(b.Labels) != 1 {
			continue
		}
		t := r.nested(b)
		v, nameAt := readView(t)
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
			t.ErrorAt(nameAt, "", "two tools would be called %q; the other is at %s", offered, source.StartOf(first))
		} else if !v.Hidden {
			names[offered] = nameAt
		}
		views = append(views, v)
	}
	return views
}

// A viewBlock is a tool block of a server.
type viewBlock struct {
	Tool        string    `hcl:"tool,label"`
	Name        string    `hcl:"name" accepts:"1 to 64 letters, digits, '_', '.' and '-'" unset:"the server's name" doc:"The offered name, without the prefix."`
	Description *string   `hcl:"description" accepts:"a text" unset:"the server's description" doc:"Replaces the server's description."`
	Hidden      bool      `hcl:"hidden" doc:"The tool is not offered."`
	Pin         arguments `hcl:"pin" secret:"true" unset:"none" doc:"Arguments that are always sent. Clients neither see nor set them."`
	Default     arguments `hcl:"default" secret:"true" unset:"none" doc:"Arguments that are sent when the client sends none."`
}

// Validate implements [language.Validator].
func (b *viewBlock) Validate(r language.Reader) {
	if b.Tool == "" || len(b.Tool) > 256 {
		r.ErrorAt(r.LabelAt, "", "the label is the tool's name, of 1 to 256 bytes")
	}
	if r.IsRead("name") && !toolNameRule.MatchString(b.Name) {
		r.ErrorAt(r.ValueAt("name", r.Head), "", "a tool's name is 1 to 64 letters, digits, and _ . -")
	}
	for name := range b.Default.members {
		if _, both := b.Pin.members[name]; both {
			at := keyRange(r.Body.Attributes["default"].Expr, name)
			r.ErrorAt(at, "a pinned argument is always sent and needs no default", "argument %q is pinned too", name)
		}
	}
}

// readView reads one tool block. It also returns the range of the offered name.
func readView(r blockReader) (View, hcl.Range) {
	var b viewBlock
	language.Decode(r.Reader, &b)
	v := View{
		Tool:         b.Tool,
		At:           source.StartOf(r.Head),
		Name:         b.Name,
		Hidden:       b.Hidden,
		Pin:          b.Pin.members,
		Default:      b.Default.members,
		Places:       map[string]source.Position{},
		shownPin:     b.Pin.shown,
		shownDefault: b.Default.shown,
	}
	if b.Description != nil {
		v.Description, v.HasDescription = *b.Description, true
	}
	addPlaces(r, v.Places, "pin", v.Pin)
	addPlaces(r, v.Places, "default", v.Default)
	if b.Name == "" {
		return v, r.LabelAt
	}
	return v, r.ValueAt("name", r.LabelAt)
}

// addPlaces adds the place of each member of an object of arguments.
func addPlaces(r blockReader, places map[string]source.Position, name string, arguments map[string]json.RawMessage) {
	for key := range arguments {
		places[key] = source.StartOf(keyRange(r.Body.Attributes[name].Expr, key))
	}
}

// arguments are an object with members of any type.
type arguments struct {
	members map[string]json.RawMessage
	shown   json.RawMessage // the object as it may be printed: see shownValue
}

// ReadSetting implements [language.Setting].
func (o *arguments) ReadSetting(r language.Reader, name string) {
	v, a, set := r.Value(name, cty.DynamicPseudoType)
	if !set {
		return
	}
	marked := v
	v, _ = v.UnmarkDeep()
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		r.ErrorAt(a.Expr.Range(), "write "+name+" = { argument = value }",
			"%q must be an object, not %s", name, language.TypeName(v.Type()))
		return
	}
	o.members = map[string]json.RawMessage{}
	for key, value := range v.AsValueMap() {
		o.members[key] = jsonOf(value)
	}
	o.shown = jsonOf(shownValue(marked, false))
}
