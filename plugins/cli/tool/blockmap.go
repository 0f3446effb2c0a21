package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// maxMapped bounds the arguments that one value stands for.
const maxMapped = 64

// mapped checks the map of an argument, whose keys are its values, and completes the
// parameter.
func (c *blockBuilder) mapped(a *Argument, p *Parameter, at string) {
	p.Map = a.Map
	keys := slices.Sorted(maps.Keys(a.Map))
	switch p.Value.Kind {
	case model.Enum:
		if len(a.Values) == 0 {
			p.Value.Choices = keys
		}
		for _, value := range a.Values {
			if _, ok := a.Map[value]; !ok {
				c.failf(at+"map", "has no arguments for the value %q; write [] for none", value)
			}
		}
	case model.Bool:
		p.Value.Choices = []string{"true", "false"}
		if a.Repeat {
			c.failf(at+"repeat", "a bool with a map has one value")
		}
	default:
		c.failf(at+"map", "only an enum or a bool has one; a value of type %s is placed as it is", p.Value.Kind)
	}
	if a.Flag != "" {
		c.failf(at+"map", "cannot be set beside a flag: write the option into the arguments of each value")
	}
	if len(keys) == 0 {
		c.failf(at+"map", "is empty")
	}
	for _, key := range keys {
		if len(p.Value.Choices) > 0 && !slices.Contains(p.Value.Choices, key) {
			c.failf(fmt.Sprintf("%smap[%q]", at, key), "is no value of the argument; the values are %s",
				quoted(p.Value.Choices))
		}
		if len(a.Map[key]) > maxMapped {
			c.failf(fmt.Sprintf("%smap[%q]", at, key), "has more than %d arguments", maxMapped)
		}
		for i, text := range a.Map[key] {
			if strings.ContainsRune(text, 0) {
				c.failf(fmt.Sprintf("%smap[%q][%d]", at, key, i), "contains NUL")
			}
		}
	}
	if a.Default != "" && len(a.Values) == 0 && !slices.Contains(p.Value.Choices, a.Default) {
		c.failf(at+"default", "must be one of %s", quoted(p.Value.Choices))
	}
	if p.Value.Kind == model.Bool {
		p.Value.Choices = nil
	}
}

// mapsToOptions reports whether each value of an argument stands for options, so that an
// option before its slot does not take them as its value.
func (p *Parameter) mapsToOptions() bool {
	for _, arguments := range p.Map {
		if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
			return false
		}
	}
	return p.Map != nil
}

// mapsTo reports whether a value of an argument stands for one of the options.
func (p *Parameter) mapsTo(options []string) bool {
	for _, arguments := range p.Map {
		for _, text := range arguments {
			if name, _, _ := strings.Cut(text, "="); slices.Contains(options, name) {
				return true
			}
		}
	}
	return false
}
