package tool

import (
	"reflect"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Record returns the tool block for a discovered tool, so that users can review
// and edit it. JSON calls it for "junctor wrap".
func Record(t *Tool) Block {
	b := Block{
		Name: t.Name, Description: strings.TrimSuffix(t.Description, t.note+t.others+exclusive(t.Conflicts)),
		Access: t.Access.Kind, Idempotent: t.Idempotent, Stdin: t.Stdin,
	}
	var argv []string
	for _, word := range t.Command.Path {
		argv = append(argv, strings.ReplaceAll(word, "{", `\{`))
	}
	argv = append(argv, t.Forced...)
	names := map[string]string{}
	for i := range t.Parameters {
		names[t.Parameters[i].Name] = argumentName(t.Parameters[i].Name)
	}
	for i := range t.Parameters {
		b.Arguments = append(b.Arguments, recordArgument(t, &t.Parameters[i], names))
	}
	slots := recordSlots(t, names)
	if len(t.Forced) > 0 && len(slots) > 0 && slots[0] != "--" {
		argv = append(argv, optionsPlace) // the forced options do not take the slots as their values
	}
	b.Argv = Words(append(argv, slots...)...)
	return b
}

// argumentName returns a name for an argument block. It avoids "options", which
// is reserved in argv.
func argumentName(name string) string {
	if name == "options" {
		return "options_"
	}
	return name
}

// recordSlots returns the slots of the positionals, after "--" if the program
// accepts it.
func recordSlots(t *Tool, names map[string]string) []string {
	var before, after, listed []string
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Role != PositionalRole {
			continue
		}
		slot := "{" + names[p.Name] + "}"
		if p.Expression != nil {
			listed = append(listed, slot)
		} else if p.AfterTerminator {
			after = append(after, slot)
		} else {
			before = append(before, slot)
		}
	}
	switch {
	case len(after) > 0:
		before = append(append(before, "--"), after...)
	case len(before) > 0 && t.Command.Terminator:
		before = append([]string{"--"}, before...)
	}
	return append(before, listed...)
}

// recorded returns the description for an argument block. It omits what about
// adds, because the tool of the block adds it again.
func (p *Parameter) recorded(brief bool) string {
	if !brief {
		return p.Description
	}
	return cut(firstSentence(oneLine(p.Description)), briefAbout)
}

// recordArgument returns the argument block of a parameter.
func recordArgument(t *Tool, p *Parameter, names map[string]string) Argument {
	v := p.Value
	a := Argument{
		Name: names[p.Name], Type: string(v.Kind), Negation: p.Negation, Values: v.Choices, Required: p.Required,
		Repeat: p.Repeatable && !p.Tuple() && v.Kind != model.Count && v.Kind != model.Map &&
			v.Kind != model.Expression, Pair: p.Pairs(),
		Count: tupleCount(p), Separator: v.Separator, Optional: v.Optional, Equals: v.Equals, Glued: v.Glued,
		Pattern: v.Pattern, Minimum: v.Minimum, Maximum: v.Maximum, Description: p.recorded(t.Brief),
	}
	if p.Path && v.Kind == model.String {
		a.Type = string(model.Path)
	}
	if !v.Kind.TakesValue() {
		a.Equals, a.Glued, a.Optional = false, false, false // without a value nothing is joined
	}
	if v.Kind != model.Bool && !v.Optional {
		a.Negation = "" // a block expresses a value and no value as two arguments
	}
	if p.Role == OptionRole {
		a.Flag, a.Default = p.Spelling, v.Default
	}
	a.Unless = recordUnless(t, p, names)
	for _, set := range t.Conflicts {
		for _, other := range set[slices.Index(set, p.Name)+1:] { // each pair is recorded once
			if slices.Contains(set, p.Name) && !slices.Contains(a.Conflicts, names[other]) {
				a.Conflicts = append(a.Conflicts, names[other])
			}
		}
	}
	return a
}

// recordUnless returns what can take the place of a parameter without which the program
// reads standard input.
func recordUnless(t *Tool, p *Parameter, names map[string]string) (unless []string) {
	if !p.OrStdin || p.Required {
		return nil
	}
	if t.Stdin {
		unless = append(unless, StdinName)
	}
	for i := range t.Parameters {
		q := &t.Parameters[i]
		if q.Role == OptionRole && slices.Contains(p.StdinUnless, q.Spelling) {
			unless = append(unless, names[q.Name])
		}
	}
	return unless
}

// tupleCount returns the number of values of a tuple, or 0.
func tupleCount(p *Parameter) int {
	if p.Tuple() {
		return p.Value.Arity
	}
	return 0
}

// settings returns a block as JSON for sdk.Decode, without attributes that have
// their zero value.
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
