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

// A Variable is a variable block.
type Variable struct {
	Default     anyValue `hcl:"default" unset:"none" doc:"The value without an environment variable 'JUNCTOR_VAR_NAME'. A number or a boolean makes the value one, too."`
	Description string   `hcl:"description,optional" accepts:"a text" doc:"What the variable is for."`
	Sensitive   bool     `hcl:"sensitive" doc:"A value from the environment is never printed."`
}

// An anyValue is an attribute with a value of any type.
type anyValue struct {
	value cty.Value
	at    hcl.Range
	set   bool // it has a value in which nothing wrong was found
	given bool // it is written
}

// Values implements [language.Valued].
func (anyValue) Values() language.Values { return language.Anything }

// ReadSetting implements [language.Setting].
func (x *anyValue) ReadSetting(r language.Reader, name string) {
	v, a, set := r.Value(name, cty.DynamicPseudoType)
	if x.value, x.set, x.given = v, set, a != nil; x.given {
		x.at = a.Expr.Range()
	}
}

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
		if !h.isNew(r, b) {
			r.Check(language.FormOf[Variable]())
			continue
		}
		x := &variable{at: r.LabelAt, value: cty.NilVal}
		h.names.variables[r.Label] = x
		var block Variable
		language.Decode(r, &block)
		if v, ok := h.variableValue(r, block, arguments); ok {
			x.value = v
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

// isNew reports whether a variable block has a name, and reports a name that is wrong or taken.
func (h Host) isNew(r language.Reader, b *hclsyntax.Block) bool {
	switch first := h.names.variables[r.Label]; {
	case len(b.Labels) == 0: // reported
	case first != nil:
		r.Duplicate(r.LabelAt, first.at, "variable %q", r.Label)
	case !variableRule.MatchString(r.Label):
		r.ErrorAt(r.LabelAt, "",
			"variable name %q: use letters, digits and _, at most 64, and begin with no digit", r.Label)
	default:
		return true
	}
	return false
}

// variableValue returns the value of one variable block.
func (h Host) variableValue(r language.Reader, block Variable, arguments map[string]Argument) (cty.Value, bool) {
	if arguments != nil {
		return moduleValue(r, block, arguments)
	}
	fallback, given := block.Default.value, block.Default.set
	name := VariablePrefix + r.Label
	text, set := h.ev.inputs.Lookup(name)
	switch {
	case h.ev.inputs.Static:
		return cty.NilVal, false // the environment is not read
	case !set && !given:
		if !block.Default.given { // else it was reported
			r.ErrorAt(r.Head, fmt.Sprintf("set %s, or write a default", name), "variable %q has no value", r.Label)
		}
		return cty.NilVal, false
	case !set:
		return fallback, true
	}
	v := cty.StringVal(text)
	if block.Sensitive {
		v, _ = h.ev.functions["env"].Call([]cty.Value{cty.StringVal(name)}) // it is set
	}
	if !given || fallback.Type() == cty.String {
		return v, true
	}
	converted, err := convert.Convert(v, fallback.Type())
	if err != nil || !fallback.Type().IsPrimitiveType() {
		r.ErrorAt(block.Default.at, "a variable of the environment can be a text, a number or a boolean",
			"%s cannot be the value of variable %q, whose default is %s", name, r.Label,
			language.TypeName(fallback.Type()))
		return cty.NilVal, false
	}
	return converted, true
}

// moduleValue returns the value of a variable of a module: that of the module block, or else
// the default. An argument may have any type if there is no default.
func moduleValue(r language.Reader, block Variable, arguments map[string]Argument) (cty.Value, bool) {
	fallback, byDefault := block.Default.value, block.Default.set
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
	case !block.Default.given: // else it was reported
		r.ErrorAt(r.Head, fmt.Sprintf("write %s = ... into the module block, or a default here", r.Label),
			"variable %q of the module has no value", r.Label)
	}
	return cty.NilVal, false
}
