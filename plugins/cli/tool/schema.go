package tool

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// MaxCount bounds how often an option of type count can be given.
const MaxCount = 16

// finish builds the input schema.
func (t *Tool) finish() {
	var properties object
	required := []string{}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		properties.set(p.Name, t.schemaOf(p))
		if p.Required {
			required = append(required, p.Name)
		}
	}
	if t.Free != nil {
		var o object
		o.set("type", "array")
		o.set("items", stringSchema(t.Free.String()))
		o.set("description", "Further arguments, each given as it is.")
		properties.set(FreeName, o)
	}
	if t.Stdin {
		var o object
		o.set("type", "string")
		o.set("description", cmp.Or(t.StdinAbout, "What the program reads from its standard input."))
		properties.set(StdinName, o)
		if t.StdinRequired {
			required = append(required, StdinName)
		}
	}
	if properties == nil {
		properties = object{}
	}
	var o object
	o.set("type", "object")
	o.set("properties", properties)
	if len(required) > 0 {
		o.set("required", required)
	}
	o.set("additionalProperties", false)
	input, err := plain(o)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	t.Input = input
}

// schemaOf returns the schema of one parameter.
func (t *Tool) schemaOf(p *Parameter) object {
	var o object
	shown := false // whether the schema has the default
	switch {
	case p.Value.Kind == model.Map:
		o.set("type", "object")
		o.set("additionalProperties", stringSchema(p.Value.Pattern))
	case p.Several():
		o.set("type", "array")
		o.set("items", valueSchema(p))
		switch {
		case p.Tuple():
			o.set("minItems", p.Value.Arity)
			o.set("maxItems", p.Value.Arity)
		case p.Required:
			o.set("minItems", 1)
		}
		if p.Expression != nil {
			o.set("maxItems", MaxWords)
		}
	default:
		o = valueSchema(p)
		if v, ok := safeDefault(p); ok && !inConflict(t.Conflicts, p.Name) && !p.Required {
			o.set("default", v)
			shown = true
		}
	}
	text := p.about(shown)
	switch {
	case p.Expression != nil:
		text = strings.TrimSpace(sentence(p.Description) + " " + p.Expression.about())
	case t.Brief:
		text = p.brief(shown)
	}
	if text != "" {
		o.set("description", text)
	}
	return o
}

// valueSchema returns the schema of one value of a parameter.
func valueSchema(p *Parameter) object {
	v := p.Value
	var o object
	switch v.Kind {
	case model.Bool:
		o.set("type", "boolean")
		return o
	case model.Count:
		o.set("type", "integer")
		o.set("minimum", 0)
		o.set("maximum", MaxCount)
		return o
	case model.Integer, model.Number:
		o.set("type", orBoolean(v, string(v.Kind)))
		if v.Minimum != nil {
			o.set("minimum", *v.Minimum)
		}
		if v.Maximum != nil {
			o.set("maximum", *v.Maximum)
		}
		return o
	}
	o.set("type", orBoolean(v, "string"))
	if len(v.Choices) > 0 {
		choices := []any{}
		for _, c := range v.Choices {
			choices = append(choices, c)
		}
		if v.Optional && !p.Several() {
			choices = append(choices, true, false)
		}
		o.set("enum", choices)
	}
	if v.Pattern != "" {
		o.set("pattern", pattern(v.Pattern))
	}
	if p.File {
		o.set("maxLength", MaxFile)
	}
	return o
}

// orBoolean adds the type boolean for an option with an optional value: true
// gives it without a value.
func orBoolean(v model.Value, kind string) any {
	if v.Optional {
		return []string{kind, "boolean"}
	}
	return kind
}

// stringSchema returns the schema of a string that matches a pattern
// completely.
func stringSchema(whole string) object {
	var o object
	o.set("type", "string")
	if whole != "" {
		o.set("pattern", pattern(whole))
	}
	return o
}

// pattern returns a pattern for the complete value in the syntax of JSON
// Schema.
func pattern(p string) string {
	if len(p) > len(`\A(?:)\z`) && p[:len(`\A(?:`)] == `\A(?:` {
		p = p[len(`\A(?:`) : len(p)-len(`)\z`)]
	}
	return "^(?:" + p + ")$"
}

// safeDefault returns the default of a parameter, if a call with this value has
// the same effect as a call without it.
func safeDefault(p *Parameter) (any, bool) {
	v := p.Value
	if v.Optional {
		return nil, false
	}
	if p.Map != nil && v.Kind == model.Bool {
		return v.Default == "true", v.Default != ""
	}
	switch v.Kind {
	case model.Bool:
		// If the default is true, false must be expressible.
		return v.Default == "true", v.Default == "false" || v.Default == "true" && p.No() != ""
	case model.Integer:
		n, err := strconv.ParseInt(v.Default, 10, 64)
		return json.Number(strconv.FormatInt(n, 10)), err == nil && n > -1<<53 && n < 1<<53
	case model.Enum:
		return v.Default, slices.Contains(v.Choices, v.Default)
	}
	if p.Role == SlotRole && v.Kind.TakesValue() && v.Kind != model.Number {
		return v.Default, v.Default != ""
	}
	return nil, false
}

// inConflict reports whether a parameter excludes another one.
func inConflict(sets [][]string, name string) bool {
	return slices.ContainsFunc(sets, func(set []string) bool { return slices.Contains(set, name) })
}
