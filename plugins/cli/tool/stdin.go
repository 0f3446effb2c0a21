package tool

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// addStdin gives a discovered tool the parameter stdin if its command reads standard input,
// unless the configuration says otherwise. A dangerous command does not get it by itself.
func (t *Tool) addStdin(o *Options) {
	c := t.Command
	if _, dangerous := o.Rules.Command(c); !o.Stdin && !o.NoStdin && !dangerous {
		t.Stdin = c.Stdin && o.Rules.MayRead(c.Path) ||
			slices.ContainsFunc(c.Positionals, func(p model.Positional) bool {
				_, ok := o.Rules.OrStdin(c.Path, "<"+p.Name+">")
				return ok
			})
	}
	if t.Stdin && c.Stdin {
		t.StdinAbout = `What the program reads from its standard input. "-" stands for it in place of a file.`
	}
}

// needInput requires a positional without which the program would read standard input, which
// is empty unless the call gives it: the answer would be about nothing. name is within angle
// brackets.
func (t *Tool) needInput(p *Parameter, o *Options, name string) {
	unless, ok := o.Rules.OrStdin(t.Command.Path, name)
	if !ok || o.Stdin || o.Free != nil {
		return
	}
	for i := range t.Parameters {
		if q := &t.Parameters[i]; q.Role == OptionRole && slices.Contains(unless, q.Spelling) {
			p.StdinUnless = append(p.StdinUnless, q.Spelling)
		}
	}
	p.OrStdin = true
	p.Required = !t.Stdin && (p.Required || len(p.StdinUnless) == 0)
}

// replaceByStdin makes the only file of a command that reads standard input optional: a call
// gives either.
func (t *Tool) replaceByStdin(o *Options) {
	var only *Parameter
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Role != PositionalRole || !p.Path {
			continue
		}
		if only != nil {
			return
		}
		only = p
	}
	if only == nil || !only.Required || !t.Stdin || !t.Command.Stdin {
		return
	}
	only.Required, only.OrStdin = false, true
}

// stdinValue matches the description of an option that may have "-" as its value.
var stdinValue = regexp.MustCompile(`(?i)\b(stdin|standard[- ]input)\b`)

// MayBeStdin reports whether the value "-" of a parameter stands for standard input. A
// positional such as "file.sql" is a file, too.
func (p *Parameter) MayBeStdin() bool {
	return (p.Path || p.Role == PositionalRole && strings.Contains(p.Name, ".")) &&
		(p.Role != OptionRole || stdinValue.MatchString(p.Description))
}
