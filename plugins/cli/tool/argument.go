package tool

import (
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// check says which attributes of an argument do not fit together.
func (c *caged) check(a *Argument, at string) {
	kind := model.Kind(a.Type)
	c.checkFlag(a, at, kind)
	if kind == model.Enum && len(a.Values) == 0 {
		c.failf(at+"values", "an enum names its values")
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

func (c *caged) checkFlag(a *Argument, at string, kind model.Kind) {
	if a.Flag == "" {
		if !kind.TakesValue() {
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
			c.failf(at+"negation", "only a bool, or an option whose value is optional, can be said no to")
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

// checkSpelling refuses what would end the options or hold a value already.
func (c *caged) checkSpelling(flag, at string) {
	if strings.Trim(flag, "-+") == "" || !strings.ContainsRune("-+", rune(flag[0])) || strings.ContainsAny(flag, " \t\r\n\x00=") {
		c.failf(at, "is the spelling of one option, such as \"--all\", without a value")
	}
}

// checkDefault holds the default of a slot against the type.
func (c *caged) checkDefault(a *Argument, at string, kind model.Kind) {
	switch {
	case a.Default == "" || a.Flag != "":
		return
	case a.Required:
		c.failf(at+"default", "an argument that is required never needs it")
	case a.Repeat || kind == model.List || kind == model.Map:
		c.failf(at+"default", "a list has none")
	case kind.TakesValue():
		p := Parameter{Name: a.Name, Value: model.Value{Kind: kind, Choices: a.Values, Minimum: a.Minimum, Maximum: a.Maximum}}
		if a.Pattern != "" {
			p.Pattern, _ = Whole(a.Pattern) // which is complained about elsewhere
		}
		if err := p.Fits(a.Default); err != nil {
			c.failf(at+"default", "%v", err)
		}
	}
}
