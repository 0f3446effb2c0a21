package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// setting reads one attribute of a plugin's schema.
func (s blockReader) setting(a sdk.Attribute) (cty.Value, bool) {
	want, err := ctyjson.UnmarshalType(a.Type)
	if err != nil {
		s.problem(problem{in: s.in, at: s.head, code: fault.PluginDescribe,
			summary: fmt.Sprintf("the plugin describes %q with a type that is none", a.Name)})
		return cty.NilVal, false
	}
	own, inherited := s.body.Attributes[a.Name], s.fallback[a.Name]
	if own == nil && inherited == nil {
		if a.Required {
			s.missing(a.Name, s.head)
		}
		return cty.NilVal, false
	}
	var v cty.Value
	var set bool
	if own != nil {
		if v, set = s.settingAt(a, own, want); !set && !s.isNull(own) {
			return cty.NilVal, false // reported
		}
	}
	if inherited == nil || set && !want.IsMapType() {
		return v, set
	}
	byDefault, ok := s.settingAt(a, inherited, want)
	switch {
	case !ok:
		return v, set
	case set:
		return merged(v, byDefault), true
	}
	return byDefault, true
}

// isNull reports whether an attribute is there and null, which is to be unset.
func (s blockReader) isNull(a *hclsyntax.Attribute) bool {
	v, ok := s.eval(s.in, a.Expr)
	return ok && v.IsNull()
}

// settingAt reads an attribute of a plugin's schema where it stands.
func (s blockReader) settingAt(a sdk.Attribute, attr *hclsyntax.Attribute, want cty.Type) (cty.Value, bool) {
	if a.Deprecated != "" {
		s.problem(problem{severity: Warning, in: s.in, at: attr.NameRange, hint: a.Deprecated,
			summary: fmt.Sprintf("%q is deprecated", a.Name)})
	}
	s.shellVariables(attr, want, a.Sensitive) // before the expression is computed, which wraps its parts
	v, ok := s.eval(s.in, attr.Expr)
	if !ok {
		return cty.NilVal, false
	}
	if v.IsNull() {
		if a.Required {
			s.wrong(attr.Expr.Range(), "", "%q is required and cannot be null", a.Name)
		}
		return cty.NilVal, false
	}
	if !s.mayWait(a, attr, v, want) {
		return cty.NilVal, false
	}
	v, ok = s.convert(attr, v, want)
	if !ok {
		return cty.NilVal, false
	}
	s.narrow(a, attr, v)
	return v, true
}

// mayWait refuses secrets that are read later, unless the setting is a text that
// is kept from people, or has a name in a map. What is neither may be seen by
// everybody on the machine, such as the arguments of a program.
func (s blockReader) mayWait(a sdk.Attribute, attr *hclsyntax.Attribute, v cty.Value, want cty.Type) bool {
	steps, found := s.keyring.in(v)
	switch {
	case !found:
		return true
	case len(a.Enum) > 0, slices.Contains([]string{"duration", "integer", "env_names"}, a.Format):
		return !s.early(attr, v)
	case a.Sensitive, want.IsMapType():
		return true
	}
	s.wrong(locate(attr.Expr, steps), "use it in a setting that is sensitive, such as env or headers",
		"%q is no setting for secrets, so it cannot come from keyring()", a.Name)
	return false
}

// narrow checks what the schema asks for beyond the type.
func (s blockReader) narrow(a sdk.Attribute, attr *hclsyntax.Attribute, v cty.Value) {
	marked := v.ContainsMarked()
	secret := a.Sensitive || marked || soundsSecret(a.Name)
	v, _ = v.UnmarkDeep()
	for _, steps := range nulls(v, nil) {
		if marked {
			s.wrong(attr.Expr.Range(), "", "%q holds a null", a.Name) // keys can be secret too
			break
		}
		s.wrong(locate(attr.Expr, steps), "", "%s%s is null", a.Name, textOf(steps))
	}
	switch {
	case v.Type() == cty.String:
		s.word(a, attr.Expr.Range(), v.AsString(), secret)
	case v.Type() == cty.List(cty.String) && len(a.Enum) > 0:
		for i, e := range v.AsValueSlice() {
			if !e.IsNull() {
				s.word(a, locate(attr.Expr, []step{{index: i}}), e.AsString(), secret)
			}
		}
	case a.Format == "headers" && v.Type() == cty.Map(cty.String):
		s.headers(a, attr, v, marked)
	case v.Type() == cty.Number && a.Format == "integer" && !v.AsBigFloat().IsInt():
		s.wrong(attr.Expr.Range(), "", "%q must be a whole number", a.Name)
	}
}

// word checks a string that must be one of several, or a duration.
func (s blockReader) word(a sdk.Attribute, at hcl.Range, text string, secret bool) {
	if len(a.Enum) > 0 && !slices.Contains(a.Enum, text) {
		hint := ""
		if !secret {
			hint = nearHint(text, a.Enum)
		}
		s.wrong(at, hint, "%q must be one of %s%s", a.Name, quoted(a.Enum), notThat(text, secret))
	}
	if a.Format == "header_name" && !headerName(text) {
		s.wrong(at, "", "%q must be the name of a header: letters, digits, - and few others%s", a.Name, notThat(text, secret))
	}
	if a.Format == "duration" {
		if d, err := time.ParseDuration(text); err != nil || d < 0 {
			s.wrong(at, "", `%q must be a duration such as "30s" or "1m30s"%s`, a.Name, notThat(text, secret))
		}
	}
}

// nulls finds them inside lists and maps, where a plugin would read an empty
// string.
func nulls(v cty.Value, within []step) [][]step {
	if v.IsNull() {
		return [][]step{within}
	}
	if !v.Type().IsCollectionType() {
		return nil
	}
	var all [][]step
	for it := v.ElementIterator(); it.Next(); {
		key, e := it.Element()
		all = append(all, nulls(e, inside(within, stepsOf(cty.Path{cty.IndexStep{Key: key}})...))...)
	}
	return all
}
