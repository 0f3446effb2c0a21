package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/secretname"
	"github.com/junctor-mcp/junctor/sdk"
)

// A settingReader reads the attributes of a block that a plugin's schema describes. readSettings
// makes one for each block.
type settingReader struct{ blockReader }

// setting reads one attribute of a plugin's schema, or its default. A map is merged
// with its default.
func (r settingReader) setting(a sdk.Attribute) (cty.Value, bool) {
	want, err := ctyjson.UnmarshalType(a.Type)
	if err != nil {
		r.Host.Report(language.Problem{In: r.In, At: r.Head, Code: fault.PluginDescribe,
			Summary: fmt.Sprintf("the plugin describes %q with an invalid type", a.Name)})
		return cty.NilVal, false
	}
	own, inherited := r.Body.Attributes[a.Name], r.Inherited(a.Name)
	if own == nil && inherited == nil {
		if a.Required && !replaced(r.blockReader, a.Name) {
			r.ReportMissing(a.Name, r.Head)
		}
		return cty.NilVal, false
	}
	var v cty.Value
	var set bool
	if own != nil {
		if v, set = r.settingAt(a, own, want); !set && !r.isNull(own) {
			return cty.NilVal, false // settingAt reported it
		}
	}
	if inherited == nil || set && !want.IsMapType() {
		return v, set
	}
	byDefault, ok := r.settingAt(a, inherited, want)
	switch {
	case !ok:
		return v, set
	case set:
		return mergeMaps(v, byDefault), true
	}
	return byDefault, true
}

// isNull reports whether an attribute is null, which means unset.
func (r settingReader) isNull(a *hclsyntax.Attribute) bool {
	v, ok := r.Host.Eval(r.In, a.Expr)
	return ok && v.IsNull()
}

// settingAt reads an attribute of a plugin's schema from the given place.
func (r settingReader) settingAt(a sdk.Attribute, attr *hclsyntax.Attribute, want cty.Type) (cty.Value, bool) {
	if a.Deprecated != "" {
		r.Host.Report(language.Problem{Warning: true, In: r.In, At: attr.NameRange, Hint: a.Deprecated,
			Summary: fmt.Sprintf("%q is deprecated", a.Name)})
	}
	shellVariables(r.Reader, attr, want, a.Sensitive) // before eval, which wraps parts of the expression
	foreignSettings(r.blockReader, attr, want, a.Sensitive)
	v, ok := r.Host.Eval(r.In, attr.Expr)
	if !ok {
		return cty.NilVal, false
	}
	if v.IsNull() {
		if a.Required {
			r.ErrorAt(attr.Expr.Range(), "", "%q is required and cannot be null", a.Name)
		}
		return cty.NilVal, false
	}
	if !r.allowsKeyring(a, attr, v, want) {
		return cty.NilVal, false
	}
	v, ok = r.Convert(attr, v, want)
	if !ok {
		return cty.NilVal, false
	}
	if r.of.ev.Keyring.AbsentInValue(v) == nil {
		r.checkConstraints(a, attr, v)
	}
	return v, true
}

// allowsKeyring reports a placeholder of keyring() in a setting that is neither
// sensitive nor a map of single values. Every user of the machine may see such a setting, for
// example the arguments of a program. It returns whether the value is allowed.
func (r settingReader) allowsKeyring(a sdk.Attribute, attr *hclsyntax.Attribute, v cty.Value, want cty.Type) bool {
	steps, found := r.of.ev.Keyring.Find(v)
	switch {
	case !found:
		return true
	case len(a.Enum) > 0, slices.Contains([]string{"duration", "integer", "env_names"}, a.Format):
		return r.Host.Settled(r.In, attr, v)
	case a.Sensitive, want.IsMapType() && !want.ElementType().IsListType():
		return true
	case r.of.ev.Keyring.AbsentInValue(v) != nil:
		return want != cty.Number && want != cty.Bool || !r.of.host(r.each).RejectAbsent(r.In, attr, v)
	}
	r.ErrorAt(language.Locate(attr.Expr, steps), "use it in a setting that is sensitive, such as env or headers",
		"%q is no setting for secrets, so it cannot come from keyring()", a.Name)
	return false
}

// checkConstraints checks the constraints of the schema beyond the type.
func (r settingReader) checkConstraints(a sdk.Attribute, attr *hclsyntax.Attribute, v cty.Value) {
	marked := v.ContainsMarked()
	secret := a.Sensitive || marked || secretname.Sounds(a.Name)
	v, _ = v.UnmarkDeep()
	for _, steps := range nulls(v, nil) {
		if marked {
			r.ErrorAt(attr.Expr.Range(), "", "%q holds a null", a.Name) // without the key, which may be secret
			break
		}
		r.ErrorAt(language.Locate(attr.Expr, steps), "", "%s%s is null", a.Name, language.TextOf(steps))
	}
	switch {
	case v.Type() == cty.String:
		r.checkString(a, attr.Expr.Range(), v.AsString(), secret)
	case v.Type() == cty.List(cty.String) && len(a.Enum) > 0:
		for i, e := range v.AsValueSlice() {
			if !e.IsNull() {
				r.checkString(a, language.Locate(attr.Expr, []language.Step{{Index: i}}), e.AsString(), secret)
			}
		}
	case a.Format == "headers" && v.Type() == cty.Map(cty.String):
		r.headers(a, attr, v, marked)
	case v.Type() == cty.Number && a.Format == "integer" && !v.AsBigFloat().IsInt():
		r.ErrorAt(attr.Expr.Range(), "", "%q must be a whole number", a.Name)
	}
}

// checkString checks a string against the enum and the format of its attribute.
func (r settingReader) checkString(a sdk.Attribute, at hcl.Range, text string, secret bool) {
	if len(a.Enum) > 0 && !slices.Contains(a.Enum, text) {
		hint := ""
		if !secret {
			hint = language.NearHint(text, a.Enum)
		}
		r.ErrorAt(at, hint, "%q must be one of %s%s", a.Name, language.Quoted(a.Enum), language.GotText(text, secret))
	}
	if a.Format == "header_name" && !headerName(text) {
		r.ErrorAt(at, "", "%q must be the name of a header: letters, digits, - and few others%s",
			a.Name, language.GotText(text, secret))
	}
	if a.Format == "duration" {
		if d, err := time.ParseDuration(text); err != nil || d < 0 {
			hint := ""
			if !secret {
				hint = language.DurationHint(a.Name, text)
			}
			r.ErrorAt(at, hint, `%q must be a duration such as "30s" or "1m30s"%s`,
				a.Name, language.GotText(text, secret))
		}
	}
}

// nulls returns the paths of nulls inside lists and maps. A plugin would read them
// as empty strings.
func nulls(v cty.Value, within []language.Step) [][]language.Step {
	if v.IsNull() {
		return [][]language.Step{within}
	}
	if !v.Type().IsCollectionType() {
		return nil
	}
	var all [][]language.Step
	for it := v.ElementIterator(); it.Next(); {
		key, e := it.Element()
		all = append(all, nulls(e, language.Inside(within, language.StepsOf(cty.Path{cty.IndexStep{Key: key}})...))...)
	}
	return all
}

// headers checks the names and values of a map of HTTP headers, and that no name
// occurs twice. The plugin checks which headers its transport reserves. marked means
// that the map contains text from env() or file(), so messages must not quote names.
func (r settingReader) headers(a sdk.Attribute, attr *hclsyntax.Attribute, v cty.Value, marked bool) {
	first := map[string]bool{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		name := key.AsString()
		at := language.Locate(attr.Expr, language.StepsOf(cty.Path{cty.IndexStep{Key: key}}))
		called := language.GotText(name, marked || a.Sensitive)
		switch lower := strings.ToLower(name); {
		case !headerName(name):
			r.ErrorAt(at, "", "a name in %q must be the name of a header: letters, digits, - and few others%s",
				a.Name, called)
			continue
		case first[lower]:
			r.ErrorAt(at, "keep one of them", "%q has a header twice, in different spellings", a.Name)
		default:
			first[lower] = true
		}
		if value.IsNull() {
			continue // checkConstraints reported it
		}
		if _, late := r.of.ev.Keyring.Find(value); !late && strings.ContainsFunc(value.AsString(), notInHeader) {
			hint := ""
			if strings.HasSuffix(value.AsString(), "\n") {
				hint = "trimspace() removes the line end"
			}
			r.ErrorAt(at, hint,
				"a value in %q has a character that a header cannot hold: only visible ASCII, spaces and tabs", a.Name)
		}
	}
}

// headerName reports whether s can be the name of a header (RFC 9110 §5.6.2).
func headerName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// notInHeader reports whether a header's value must not contain a rune.
func notInHeader(r rune) bool { return r != '\t' && (r < 0x20 || r > 0x7e) }
