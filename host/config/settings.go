package config

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/sdk"
)

// settings are a block decoded with a plugin's schema, before pluginRef.decode encodes them for the
// plugin. They contain only attributes
// that are set. The plugin knows its defaults, and for [sdk.Decode] an explicit
// default would conflict like any other value.
type settings struct {
	full, shown map[string]cty.Value
	env         []string // from attributes of format "env_names"
	files       []string // from attributes of format "watched_file", as written
}

// object returns the settings as one value, for output or for the plugin.
func (s settings) object(shown bool) cty.Value {
	if shown {
		return cty.ObjectVal(s.shown)
	}
	return cty.ObjectVal(s.full)
}

// readSettings decodes the body of the block and reports what is wrong.
func readSettings(r blockReader, schema sdk.Schema) settings {
	s := settingReader{r}
	r.Check(formOf(schema))
	got := settings{full: map[string]cty.Value{}, shown: map[string]cty.Value{}}
	for _, a := range schema.Attributes {
		if v, set := s.setting(a); set {
			got.full[a.Name], _ = v.UnmarkDeep()
			got.shown[a.Name] = shownValue(v, a.Sensitive)
			switch a.Format {
			case "env_names":
				got.env = append(got.env, envNames(r, a, v)...)
			case "watched_file":
				if path := got.full[a.Name]; path.Type() == cty.String && path.AsString() != "" {
					got.files = append(got.files, path.AsString())
				}
			}
		}
	}
	for _, b := range schema.Blocks {
		nestedSettings(r, b, &got)
	}
	checkRelations(r.Reader, schema, got.full)
	return got
}

// formOf returns the form of a block with the schema.
func formOf(schema sdk.Schema) *language.Form {
	f := &language.Form{Blocks: map[string]language.Shape{}}
	for _, a := range schema.Attributes {
		if a.Sensitive {
			f.Private = append(f.Private, a.Name)
		} else {
			f.Attributes = append(f.Attributes, a.Name)
		}
	}
	for _, b := range schema.Blocks {
		sh := language.Shape{Many: b.List}
		if b.Label != "" {
			sh.Labels = 1
		}
		f.Blocks[b.Name] = sh
	}
	return f
}

// nestedSettings decodes the nested blocks of one kind into got.
func nestedSettings(r blockReader, b sdk.Block, got *settings) {
	var full, shown []cty.Value
	for _, block := range r.Body.Blocks {
		if block.Type != b.Name {
			continue
		}
		t := r.nested(block)
		in := readSettings(t, b.Schema)
		if b.Label != "" {
			in.full[b.Label], in.shown[b.Label] = cty.StringVal(t.Label), cty.StringVal(t.Label)
			r.of.ev.Files.RevealLabel(t.LabelAt)
		}
		full, shown = append(full, in.object(false)), append(shown, in.object(true))
		got.env, got.files = append(got.env, in.env...), append(got.files, in.files...)
	}
	switch {
	case len(full) == 0 && b.Need:
		r.ErrorAt(r.Head, fmt.Sprintf("add %s { ... } to the block", b.Name), "%s needs a block %q", r.What, b.Name)
	case len(full) == 0:
	case b.List:
		got.full[b.Name], got.shown[b.Name] = cty.TupleVal(full), cty.TupleVal(shown)
	default:
		got.full[b.Name], got.shown[b.Name] = full[0], shown[0]
	}
}

// checkRelations reports attributes that conflict, and attributes that require
// another one.
func checkRelations(r language.Reader, schema sdk.Schema, set map[string]cty.Value) {
	has := func(name string) bool { _, ok := set[name]; return ok }
	reported := map[[2]string]bool{}
	for _, a := range schema.Attributes {
		if !has(a.Name) {
			continue
		}
		at := r.Attribute(a.Name).NameRange
		for _, other := range a.ConflictsWith {
			pair := [2]string{min(a.Name, other), max(a.Name, other)}
			if has(other) && !reported[pair] {
				reported[pair] = true
				r.ErrorAt(at, "keep one of them", "%q cannot be set together with %q", a.Name, other)
			}
		}
		for _, other := range a.RequiredWith {
			if !has(other) && r.Attribute(other) == nil {
				r.ErrorAt(at, "", "%q needs %q beside it", a.Name, other)
			}
		}
	}
}

// envNames checks a list of names of environment variables and returns the valid
// names, each once.
func envNames(r blockReader, a sdk.Attribute, v cty.Value) []string {
	attr := r.Attribute(a.Name)
	if v.ContainsMarked() {
		r.ErrorAt(attr.Expr.Range(), "", "%q lists names, which cannot come from env() or file()", a.Name)
		return nil
	}
	if !v.CanIterateElements() {
		return nil // the schema is wrong: sdk.Decode reports it
	}
	var names []string
	for i, e := range v.AsValueSlice() {
		switch {
		case e.Type() != cty.String || e.IsNull():
		case !envRule.MatchString(e.AsString()):
			r.ErrorAt(language.Locate(attr.Expr, []language.Step{{Index: i}}), "",
				"%q lists names of environment variables: letters, digits and _", a.Name)
		case !slices.Contains(names, e.AsString()):
			names = append(names, e.AsString())
		}
	}
	return names
}
