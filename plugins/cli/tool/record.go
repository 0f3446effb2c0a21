package tool

import (
	"reflect"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Record writes a discovered tool down as the block that would make it by hand,
// for people to review and keep.
func Record(t *Tool) Block {
	b := Block{
		Name: t.Name, Description: strings.TrimSuffix(strings.TrimSuffix(t.Description, exclusive(t.Conflicts)), t.note), Access: t.Access.Kind, Idempotent: t.Idempotent, Stdin: t.Stdin,
		Argv: []string{},
	}
	for _, word := range t.Command.Path {
		b.Argv = append(b.Argv, strings.ReplaceAll(word, "{", `\{`))
	}
	b.Argv = append(b.Argv, t.Forced...)
	names := map[string]string{}
	for i := range t.Parameters {
		names[t.Parameters[i].Name] = argumentName(t.Parameters[i].Name)
	}
	for i := range t.Parameters {
		b.Arguments = append(b.Arguments, recordArgument(t, &t.Parameters[i], names))
	}
	b.Argv = append(b.Argv, recordSlots(t, names)...)
	return b
}

// argumentName keeps clear of the one name that means something else in argv.
func argumentName(name string) string {
	if name == "options" {
		return "options_"
	}
	return name
}

// recordSlots are the places of the positionals, what can follow "--" behind it.
func recordSlots(t *Tool, names map[string]string) []string {
	var before, after []string
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Role != PositionalRole {
			continue
		}
		slot := "{" + names[p.Name] + "}"
		if p.AfterTerminator {
			after = append(after, slot)
		} else {
			before = append(before, slot)
		}
	}
	switch {
	case len(after) > 0:
		return append(append(before, "--"), after...)
	case len(before) > 0 && t.Command.Terminator:
		return append([]string{"--"}, before...)
	}
	return before
}

// recorded is the description of an argument that is written down. What about adds
// to it, the block adds again.
func (p *Parameter) recorded(brief bool) string {
	if !brief {
		return p.Description
	}
	return cut(firstSentence(oneLine(p.Description)), briefAbout)
}

func recordArgument(t *Tool, p *Parameter, names map[string]string) Argument {
	v := p.Value
	a := Argument{
		Name: names[p.Name], Type: string(v.Kind), Negation: p.Negation, Values: v.Choices, Required: p.Required,
		Repeat: p.Repeatable && v.Kind != model.Count && v.Kind != model.Map, Separator: v.Separator, Optional: v.Optional, Equals: v.Equals, Glued: v.Glued,
		Pattern: v.Pattern, Minimum: v.Minimum, Maximum: v.Maximum, Description: p.recorded(t.Brief),
	}
	if p.Path && v.Kind == model.String {
		a.Type = string(model.Path)
	}
	if !v.Kind.TakesValue() {
		a.Equals, a.Glued, a.Optional = false, false, false // nothing is joined; its default says whether "=false" is understood
	}
	if v.Kind != model.Bool && !v.Optional {
		a.Negation = "" // a value and no value are two arguments to a person
	}
	if p.Role == OptionRole {
		a.Flag, a.Default = p.Spelling, v.Default
	}
	for _, set := range t.Conflicts {
		for _, other := range set[slices.Index(set, p.Name)+1:] { // each pair stands once
			if slices.Contains(set, p.Name) && !slices.Contains(a.Conflicts, names[other]) {
				a.Conflicts = append(a.Conflicts, names[other])
			}
		}
	}
	return a
}

// settings is a block as the JSON that sdk.Decode reads, without what has its
// zero value.
func settings(block reflect.Value) object {
	var o object
	for f, v := range block.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("hcl"), ",")
		switch {
		case v.IsZero():
		case option == "block":
			var all []object
			for i := range v.Len() {
				all = append(all, settings(v.Index(i)))
			}
			o.set(name, all)
		default:
			o.set(name, v.Interface())
		}
	}
	return o
}
