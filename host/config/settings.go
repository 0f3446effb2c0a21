package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/sdk"
)

// settings are a block decoded with a plugin's schema. Only what is set is in
// them: the plugin knows its own defaults, and for [sdk.Decode] a default that
// was written out would conflict like any other value.
type settings struct {
	full, shown map[string]cty.Value
	env         []string // from attributes of format "env_names"
	files       []string // from attributes of format "watched_file", as they are written
}

// object is the settings as one value, for people or for the plugin.
func (s settings) object(shown bool) cty.Value {
	if shown {
		return cty.ObjectVal(s.shown)
	}
	return cty.ObjectVal(s.full)
}

// settings decodes the section's body. Everything that is wrong is reported.
func (s blockReader) settings(schema sdk.Schema) settings {
	s.check(formOf(schema))
	got := settings{full: map[string]cty.Value{}, shown: map[string]cty.Value{}}
	for _, a := range schema.Attributes {
		if v, set := s.setting(a); set {
			got.full[a.Name], _ = v.UnmarkDeep()
			got.shown[a.Name] = shownValue(v, a.Sensitive)
			switch a.Format {
			case "env_names":
				got.env = append(got.env, s.envNames(a, v)...)
			case "watched_file":
				if path := got.full[a.Name]; path.Type() == cty.String && path.AsString() != "" {
					got.files = append(got.files, path.AsString())
				}
			}
		}
	}
	for _, b := range schema.Blocks {
		s.inner(b, &got)
	}
	s.relations(schema, got.full)
	return got
}

// formOf says what may stand in a block with the schema.
func formOf(schema sdk.Schema) form {
	f := form{blocks: map[string]shape{}}
	for _, a := range schema.Attributes {
		if a.Sensitive {
			f.private = append(f.private, a.Name)
		} else {
			f.attributes = append(f.attributes, a.Name)
		}
	}
	for _, b := range schema.Blocks {
		sh := shape{many: b.List}
		if b.Label != "" {
			sh.labels = 1
		}
		f.blocks[b.Name] = sh
	}
	return f
}

// inner decodes the nested blocks of one kind.
func (s blockReader) inner(b sdk.Block, got *settings) {
	var full, shown []cty.Value
	for _, block := range s.body.Blocks {
		if block.Type != b.Name {
			continue
		}
		t := s.nested(block)
		in := t.settings(b.Schema)
		if b.Label != "" {
			in.full[b.Label], in.shown[b.Label] = cty.StringVal(t.label), cty.StringVal(t.label)
			s.revealLabel(t.labelAt)
		}
		full, shown = append(full, in.object(false)), append(shown, in.object(true))
		got.env, got.files = append(got.env, in.env...), append(got.files, in.files...)
	}
	switch {
	case len(full) == 0 && b.Need:
		s.wrong(s.head, fmt.Sprintf("write %s { ... } in it", b.Name), "%s needs a block %q", s.what, b.Name)
	case len(full) == 0:
	case b.List:
		got.full[b.Name], got.shown[b.Name] = cty.TupleVal(full), cty.TupleVal(shown)
	default:
		got.full[b.Name], got.shown[b.Name] = full[0], shown[0]
	}
}

// relations checks what may and must stand beside each other.
func (s blockReader) relations(schema sdk.Schema, set map[string]cty.Value) {
	has := func(name string) bool { _, ok := set[name]; return ok }
	reported := map[[2]string]bool{}
	for _, a := range schema.Attributes {
		if !has(a.Name) {
			continue
		}
		at := s.attribute(a.Name).NameRange
		for _, other := range a.ConflictsWith {
			pair := [2]string{min(a.Name, other), max(a.Name, other)}
			if has(other) && !reported[pair] {
				reported[pair] = true
				s.wrong(at, "keep one of them", "%q cannot stand beside %q", a.Name, other)
			}
		}
		for _, other := range a.RequiredWith {
			if !has(other) && s.attribute(other) == nil {
				s.wrong(at, "", "%q needs %q beside it", a.Name, other)
			}
		}
	}
}

// envNames checks a list of names of environment variables.
func (s blockReader) envNames(a sdk.Attribute, v cty.Value) []string {
	attr := s.attribute(a.Name)
	if v.ContainsMarked() {
		s.wrong(attr.Expr.Range(), "", "%q lists names, which cannot come from env() or file()", a.Name)
		return nil
	}
	if !v.CanIterateElements() {
		return nil // not a list: the schema is at fault, and sdk.Decode copes
	}
	var names []string
	for i, e := range v.AsValueSlice() {
		switch {
		case e.Type() != cty.String || e.IsNull():
		case !envRule.MatchString(e.AsString()):
			s.wrong(locate(attr.Expr, []step{{index: i}}), "", "%q lists names of environment variables: letters, digits and _", a.Name)
		case !slices.Contains(names, e.AsString()):
			names = append(names, e.AsString())
		}
	}
	return names
}

// missing says that an attribute must stand in the section.
func (s blockReader) missing(name string, at hcl.Range) {
	s.wrong(at, fmt.Sprintf("write %s = ... in it", name), "%s needs %q", s.what, name)
}
