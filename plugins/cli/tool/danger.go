package tool

import (
	"path"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// admits reports whether the configuration names a dangerous option or argument:
// "--output", or "log --output" for one command.
func (o *Options) admits(words, names []string) bool {
	for _, pattern := range o.Dangerous {
		fields := strings.Fields(pattern)
		if len(fields) == 0 || !isArgument(fields[len(fields)-1]) {
			continue
		}
		last := len(fields) - 1
		if last > 0 && !discover.Match(strings.Join(fields[:last], " "), words) {
			continue
		}
		for _, name := range names {
			if ok, err := path.Match(fields[last], name); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// admitsCommand reports whether the configuration names a dangerous command.
func (o *Options) admitsCommand(words []string) bool {
	return slices.ContainsFunc(o.Dangerous, func(pattern string) bool {
		fields := strings.Fields(pattern)
		return len(fields) > 0 && !isArgument(fields[len(fields)-1]) && discover.Match(pattern, words)
	})
}

func isArgument(word string) bool {
	return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "<")
}

// Skipped are the commands that are left out because they are dangerous.
func (o *Options) Skipped(p *model.Program) []danger.Finding {
	var all []danger.Finding
	for _, c := range runnable(p) {
		if f, ok := o.skips(p, c); ok {
			f.Command = o.words(p, c)
			all = append(all, f)
		}
	}
	return all
}

// skips reports whether a whole command is left out: it is dangerous itself, or
// cannot be called without a dangerous option.
func (o *Options) skips(p *model.Program, c *model.Command) (danger.Finding, bool) {
	words := o.words(p, c)
	if f, ok := o.Rules.Command(c); ok {
		return f, !o.admitsCommand(words)
	}
	for i := range c.Options {
		opt := &c.Options[i]
		if f, ok := o.Rules.Option(c.Path, opt); ok && opt.Required && !o.admits(words, opt.Names) {
			return f, true
		}
	}
	return danger.Finding{}, false
}

// applyRules notes what is known of the command before its parameters are made.
func (t *Tool) applyRules(o *Options, words []string) {
	c := *t.Command
	c.Terminator = c.Terminator && !o.Rules.Is(c.Path, "no-terminator") || o.Rules.Is(c.Path, "terminator")
	t.Command = &c
	t.apply(o, c.Path, words)
	if f, ok := o.Rules.Command(&c); ok {
		f.Command = words
		t.Admitted = append(t.Admitted, f)
	}
	for _, option := range o.Rules.Forced(c.Path) {
		if !o.admits(words, []string{option}) {
			t.Forced = append(t.Forced, option)
			continue
		}
		t.Forced = nil
		break
	}
	for _, name := range o.Rules.Spellings(c.Path) {
		if !o.admits(words, []string{name}) {
			t.Banned = append(t.Banned, name)
		}
	}
}

// apply takes over what the rules say about values and exit codes.
func (t *Tool) apply(o *Options, path, words []string) {
	t.Confined = o.Confined
	t.NoEquals = o.Rules.Is(path, "no-equals")
	t.DataCodes = o.Rules.DataCodes(path)
	for _, v := range o.Rules.Values(path) {
		if o.admits(words, []string{v.Name}) {
			t.Admitted = append(t.Admitted, danger.Finding{Names: []string{v.Name}, Effect: v.Effect, Evidence: v.Evidence})
			continue
		}
		t.Refused = append(t.Refused, v)
	}
}

// leavesOut reports whether an option of the tool's command is dangerous and not
// named by the configuration.
func (t *Tool) leavesOut(o *Options, words []string, opt *model.Option) bool {
	f, dangerous := o.Rules.Option(t.Command.Path, opt)
	switch {
	case !dangerous:
		return false
	case o.admits(words, opt.Names):
		t.Admitted = append(t.Admitted, f)
		return false
	}
	t.Unsafe = append(t.Unsafe, f)
	t.Banned = append(t.Banned, opt.Names...)
	return true
}

// names reports whether the configuration names a dangerous option: it is offered
// then, common or not.
func (o *Options) names(words []string, opt *model.Option) bool {
	for _, pattern := range o.Dangerous {
		one := &Options{Dangerous: []string{pattern}}
		if !strings.Contains(pattern, "*") && one.admits(words, opt.Names) {
			return true
		}
	}
	return false
}

// chosenDangerous returns the first element of Only without wildcards that names a
// dangerous option which the configuration does not allow, or -1.
func (o *Options) chosenDangerous(p *model.Program, commands []*model.Command) (int, danger.Finding) {
	for i, element := range o.Only {
		if strings.Contains(element, "*") {
			continue
		}
		for _, c := range commands {
			words := o.words(p, c)
			patterns := patternsFor([]string{element}, words)
			for j := range c.Options {
				opt := &c.Options[j]
				if f, ok := o.Rules.Option(c.Path, opt); ok && matchesOption(patterns, opt.Names) && !o.admits(words, opt.Names) {
					return i, f
				}
			}
		}
	}
	return -1, danger.Finding{}
}

// lowerAccess takes the access "read" from a tool that can do more than read.
func (t *Tool) lowerAccess() {
	if t.Access.Kind == Read && (len(t.Admitted) > 0 || t.unconfined()) {
		t.Access = Access{Kind: Write, From: FromDanger}
	}
}

// unconfined reports whether an argument can name a path anywhere.
func (t *Tool) unconfined() bool {
	if t.Confined {
		return false
	}
	return t.Free != nil || slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Path })
}

// Bans reports whether a free argument is, or begins with, a dangerous option:
// "--output=x", "--outp" as getopt_long abbreviates it, or "-xo" for "-o".
func (t *Tool) Bans(argument string) bool {
	name, _, _ := strings.Cut(argument, "=")
	for _, banned := range t.Banned {
		long := strings.HasPrefix(banned, "--")
		switch {
		case name == banned:
			return true
		case long && len(name) > 2 && strings.HasPrefix(banned, name):
			return true
		case !long && len(banned) > 2 && strings.HasPrefix(argument, banned):
			return true
		case len(banned) == 2 && !strings.HasPrefix(argument, "--") && strings.ContainsRune(argument[1:], rune(banned[1])):
			return true
		}
	}
	return false
}
