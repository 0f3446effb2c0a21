package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// arguments adds the parameters.
func (c *blockBuilder) arguments(arguments []Argument) {
	for i := range arguments {
		a, at := &arguments[i], fmt.Sprintf("argument[%d].", i)
		switch {
		case !propertyName.MatchString(a.Name):
			c.failf(at+"name", "an argument's name begins with a letter and has at most 64 letters, digits, dots, dashes and underscores")
		case a.Name == "options" || a.Name == StdinName && c.t.Stdin:
			c.failf(at+"name", "the name %q is reserved", a.Name)
		case c.t.Parameter(a.Name) != nil:
			c.failf(at+"name", "there is another argument %q", a.Name)
		}
		c.check(a, at)
		p := Parameter{
			Name: a.Name, Role: SlotRole, Spelling: a.Flag, Negation: a.Negation, Description: a.Description,
			Required: a.Required, Repeatable: a.Repeat, Path: a.Type == string(model.Path),
			Value: model.Value{
				Kind: model.Kind(a.Type), Choices: a.Values, Default: a.Default, Optional: a.Optional,
				Equals: a.Equals, Glued: a.Glued,
				Separator: a.Separator, Pattern: a.Pattern, Minimum: a.Minimum, Maximum: a.Maximum,
			},
		}
		if a.Pair {
			p.Value.Arity = 2
		}
		if a.Count > 0 {
			p.Value.Arity = a.Count
		}
		if len(a.Words) > 0 || p.Value.Kind == model.Expression {
			p.Expression = &Expression{only: a.Words}
		}
		if a.Flag != "" {
			p.Role = OptionRole
			if p.Repeatable && p.Value.Kind == model.Bool {
				p.Value.Kind = model.Count
			}
		}
		if a.Pattern != "" {
			var err error
			if p.Pattern, err = Whole(a.Pattern); err != nil {
				c.failf(at+"pattern", "is not a regular expression: %v", err)
			}
		}
		if a.Map != nil {
			c.mapped(a, &p, at)
		}
		c.t.Parameters = append(c.t.Parameters, p)
		c.record(&p)
	}
}

// check checks that the attributes of an argument fit together.
func (c *blockBuilder) check(a *Argument, at string) {
	kind := model.Kind(a.Type)
	c.checkFlag(a, at, kind)
	if kind == model.Enum && len(a.Values) == 0 && a.Map == nil {
		c.failf(at+"values", "an enum needs its values")
	}
	if len(a.Values) > 0 && kind != model.Enum && kind != model.List {
		c.failf(at+"values", "only an enum or a list has values")
	}
	number := kind == model.Integer || kind == model.Number
	if a.Minimum != nil && !number {
		c.failf(at+"minimum", "only an integer or a number has a minimum")
	}
	if a.Maximum != nil && !number {
		c.failf(at+"maximum", "only an integer or a number has a maximum")
	}
	if a.Minimum != nil && a.Maximum != nil && *a.Minimum > *a.Maximum {
		c.failf(at+"maximum", "is below the minimum")
	}
	if a.Pair && (kind != model.Map || a.Equals || a.Glued || a.Separator != "") {
		c.failf(at+"pair", "only a map has pairs, whose key and value are elements of their own")
	}
	if a.Count < 0 || a.Count == 1 || a.Count > MaxTuple {
		c.failf(at+"count", "must be from 2 to %d", MaxTuple)
	}
	if single := kind == model.String || kind == model.Integer || kind == model.Number ||
		kind == model.Path; a.Count > 0 && (!single || a.Flag == "" || a.Repeat || a.Equals || a.Glued || a.Optional) {
		c.failf(at+"count",
			"only an option with values of its own has several, not a list, a map or one joined with its value")
	}
	if kind == model.Expression {
		c.checkExpression(a, at)
	} else if len(a.Words) > 0 {
		c.failf(at+"words", "only an expression has words")
	}
	if a.Pattern != "" && (number || !kind.TakesValue()) {
		c.failf(at+"pattern", "only text has a pattern, not a value of type %s", kind)
	}
	if a.Repeat && kind == model.Map {
		c.failf(at+"repeat", "a map holds several values already")
	}
	if a.Separator != "" && !a.Repeat && kind != model.List && kind != model.Map {
		c.failf(at+"separator", "joins the elements of a list or a map, and this is neither")
	}
	c.checkDefault(a, at, kind)
}

// checkFlag checks the attributes about the flag.
func (c *blockBuilder) checkFlag(a *Argument, at string, kind model.Kind) {
	if a.Flag == "" {
		if !kind.TakesValue() && a.Map == nil {
			c.failf(at+"flag", "an argument of type %s needs one: it has no value to put into a slot", kind)
		}
		for _, only := range []struct {
			name string
			set  bool
		}{{"negation", a.Negation != ""}, {"equals", a.Equals}, {"glued", a.Glued}, {"optional_value", a.Optional}} {
			if only.set {
				c.failf(at+only.name, "needs a flag beside it")
			}
		}
		return
	}
	c.checkSpelling(a.Flag, at+"flag")
	if a.Negation != "" {
		c.checkSpelling(a.Negation, at+"negation")
		if kind != model.Bool && !a.Optional {
			c.failf(at+"negation", "only a bool, or an option whose value is optional, has a negation")
		}
	}
	switch {
	case a.Equals && a.Glued:
		c.failf(at+"glued", "a value is joined by an equals sign or by nothing, not both")
	case a.Equals && !kind.TakesValue():
		c.failf(at+"equals", "a value of type %s is not written", kind)
	case a.Glued && !kind.TakesValue():
		c.failf(at+"glued", "a value of type %s is not written", kind)
	case a.Optional && !kind.TakesValue():
		c.failf(at+"optional_value", "a value of type %s is not written", kind)
	}
}

// checkSpelling rejects a flag that ends the options or contains a value.
func (c *blockBuilder) checkSpelling(flag, at string) {
	if strings.Trim(flag, "-+") == "" || !strings.ContainsRune("-+", rune(flag[0])) ||
		strings.ContainsAny(flag, " \t\r\n\x00=") {
		c.failf(at, "must be the spelling of one option, such as \"--all\", without a value")
	}
}

// checkDefault checks the default of a slot against the type.
func (c *blockBuilder) checkDefault(a *Argument, at string, kind model.Kind) {
	switch {
	case a.Default == "" || a.Flag != "":
		return
	case a.Required:
		c.failf(at+"default", "a required argument cannot have a default")
	case a.Repeat || kind == model.List || kind == model.Map || kind == model.Expression:
		c.failf(at+"default", "a list cannot have a default")
	case kind.TakesValue():
		p := Parameter{Name: a.Name,
			Value: model.Value{Kind: kind, Choices: a.Values, Minimum: a.Minimum, Maximum: a.Maximum}}
		if a.Pattern != "" {
			p.Pattern, _ = Whole(a.Pattern) // reported elsewhere
		}
		if err := p.Fits(a.Default); err != nil {
			c.failf(at+"default", "%v", err)
		}
	}
}

// hasExpression reports whether one of the arguments is an expression.
func (c *blockBuilder) hasExpression(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		p := c.t.Parameter(name)
		return p != nil && p.Value.Kind == model.Expression
	})
}

// checkExpression checks the attributes of an argument of type expression.
func (c *blockBuilder) checkExpression(a *Argument, at string) {
	for _, other := range []struct {
		name string
		set  bool
	}{{"flag", a.Flag != ""}, {"repeat", a.Repeat}, {"separator", a.Separator != ""}, {"pattern", a.Pattern != ""}} {
		if other.set {
			c.failf(at+other.name, "does not apply to an expression, which is a list with a slot of its own")
		}
	}
}
