package expression

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// VariablePrefix begins the names of environment variables that give variable blocks their
// values. Variables read no others, so that a configuration says with env() what it wants to
// know of the user.
const VariablePrefix = "JUNCTOR_VAR_"

var VariableForm = language.Form{Entries: []language.Entry{
	{Name: "default", Values: language.Anything, Unset: "none",
		Doc: "The value without an environment variable `JUNCTOR_VAR_NAME`. A number or a boolean makes the value one, too."},
	{Name: "description", Values: language.Texts("a text"), Doc: "What the variable is for."},
	{Name: "sensitive", Values: language.Booleans, Unset: "`false`",
		Doc: "A value from the environment is never printed."},
}}

var variableRule = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// An argument is the value that a module block has for a variable.
type Argument struct {
	Value cty.Value // NilVal: its problem was reported
	At    hcl.Range
}

// ReadVariables evaluates the variable blocks: each is the environment variable of its name,
// or else its default. Defaults cannot refer to other
// values. arguments are those of a module block; nil for a layer.
func (h Host) ReadVariables(blocks []*hclsyntax.Block, arguments map[string]Argument) {
	for _, b := range blocks {
		r := language.NewReader(b, "")
		r.Host = h
		r.Check(&VariableForm)
		switch first := h.names.variables[r.Label]; {
		case len(b.Labels) == 0: // reported
		case first != nil:
			r.Duplicate(r.LabelAt, first.at, "variable %q", r.Label)
		case !variableRule.MatchString(r.Label):
			r.ErrorAt(r.LabelAt, "",
				"variable name %q: use letters, digits and _, at most 64, and begin with no digit", r.Label)
		default:
			x := &variable{at: r.LabelAt, value: cty.NilVal}
			h.names.variables[r.Label] = x
			if v, ok := h.variableValue(r, arguments); ok {
				x.value = v
			}
		}
	}
	values := map[string]cty.Value{}
	for name, x := range h.names.variables {
		if x.value != cty.NilVal {
			values[name] = x.value
		}
	}
	h.names.variableValues = cty.ObjectVal(values)
}

// variableValue returns the value of one variable block.
func (h Host) variableValue(r language.Reader, arguments map[string]Argument) (cty.Value, bool) {
	r.Text("description")
	sensitive := r.Boolean("sensitive", false)
	if arguments != nil {
		return moduleValue(r, arguments)
	}
	fallback, a, given := r.Value("default", cty.DynamicPseudoType)
	name := VariablePrefix + r.Label
	text, set := h.ev.inputs.Lookup(name)
	switch {
	case h.ev.inputs.Static:
		return cty.NilVal, false // the environment is not read
	case !set && !given:
		if r.Body.Attributes["default"] == nil { // else it was reported
			r.ErrorAt(r.Head, fmt.Sprintf("set %s, or write a default", name), "variable %q has no value", r.Label)
		}
		return cty.NilVal, false
	case !set:
		return fallback, true
	}
	v := cty.StringVal(text)
	if sensitive {
		v, _ = h.ev.functions["env"].Call([]cty.Value{cty.StringVal(name)}) // it is set
	}
	if !given || fallback.Type() == cty.String {
		return v, true
	}
	converted, err := convert.Convert(v, fallback.Type())
	if err != nil || !fallback.Type().IsPrimitiveType() {
		r.ErrorAt(a.Expr.Range(), "a variable of the environment can be a text, a number or a boolean",
			"%s cannot be the value of variable %q, whose default is %s", name, r.Label,
			language.TypeName(fallback.Type()))
		return cty.NilVal, false
	}
	return converted, true
}

// moduleValue returns the value of a variable of a module: that of the module block, or else
// the default. An argument may have any type if there is no default.
func moduleValue(r language.Reader, arguments map[string]Argument) (cty.Value, bool) {
	fallback, _, byDefault := r.Value("default", cty.DynamicPseudoType)
	v, given := arguments[r.Label]
	switch {
	case given && v.Value == cty.NilVal:
		return cty.NilVal, false // reported
	case given && !v.Value.IsNull():
		if !byDefault || fallback.Type().IsTupleType() || fallback.Type().IsObjectType() {
			return v.Value, true
		}
		converted, err := convert.Convert(v.Value, fallback.Type())
		if err != nil {
			r.ErrorAt(v.At, "", "variable %q of the module must be %s", r.Label, language.TypeName(fallback.Type()))
			return cty.NilVal, false
		}
		return converted, true
	case byDefault:
		return fallback, true
	case r.Body.Attributes["default"] == nil: // else it was reported
		r.ErrorAt(r.Head, fmt.Sprintf("write %s = ... into the module block, or a default here", r.Label),
			"variable %q of the module has no value", r.Label)
	}
	return cty.NilVal, false
}
