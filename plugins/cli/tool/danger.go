package tool

import (
	"path"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// admits reports whether Dangerous names an option or argument: "--output", or
// "log --output" for one command.
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

// admitsCommand reports whether Dangerous names a command.
func (o *Options) admitsCommand(words []string) bool {
	return slices.ContainsFunc(o.Dangerous, func(pattern string) bool {
		fields := strings.Fields(pattern)
		return len(fields) > 0 && !isArgument(fields[len(fields)-1]) && discover.Match(pattern, words)
	})
}

func isArgument(word string) bool {
	return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "<")
}

// Skipped returns the commands that are left out because they are dangerous.
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

// skips reports whether a whole command is left out: it is dangerous, or
// requires a dangerous option.
func (o *Options) skips(p *model.Program, c *model.Command) (danger.Finding, bool) {
	words := o.words(p, c)
	if f, ok := o.Rules.Command(c); ok {
		return f, !o.admitsCommand(words)
	}
	for i := range c.Options {
		opt := &c.Options[i]
		if f, ok := o.Rules.Option(c.Path, opt); ok && opt.Required && !o.admits(words, opt.Names) && !o.writesHere(p, c, opt) {
			return f, true
		}
	}
	return danger.Finding{}, false
}

// applyRules applies the rules for a discovered command, before its parameters
// are built.
func (t *Tool) applyRules(o *Options, words []string) {
	c := *t.Command
	c.Terminator = c.Terminator && !o.Rules.Is(c.Path, "no-terminator") || o.Rules.Is(c.Path, "terminator")
	t.Command = &c
	t.apply(o, c.Path, words)
	if f, ok := o.Rules.Command(&c); ok {
		f.Command = words
		t.Admitted = append(t.Admitted, f)
	}
	for _, option := range o.Rules.Given(&c) {
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

// apply applies the rules for values and exit codes.
func (t *Tool) apply(o *Options, path, words []string) {
	t.Confined = o.Confined
	t.Operators, t.NoTerminator = o.Rules.Operators(path), o.Rules.Is(path, "no-terminator")
	t.NoEquals, t.Known = o.Rules.Is(path, "no-equals"), o.Rules.Known()
	t.DataCodes = o.Rules.DataCodes(path)
	for _, v := range o.Rules.Values(path) {
		if o.admits(words, []string{v.Name}) {
			t.Admitted = append(t.Admitted, danger.Finding{Names: []string{v.Name}, Effect: v.Effect, Evidence: v.Evidence})
			continue
		}
		t.Rejected = append(t.Rejected, v)
	}
}

// leavesOut reports whether an option is dangerous and not named in Dangerous.
func (t *Tool) leavesOut(o *Options, p *model.Program, words []string, opt *model.Option) bool {
	if o.admits(words, opt.Names) {
		if f, dangerous := o.Rules.Freely(t.Command.Path, opt); dangerous {
			t.Admitted = append(t.Admitted, f)
		}
		return false
	}
	f, dangerous := o.Rules.Option(t.Command.Path, opt)
	switch {
	case !dangerous:
		return false
	case o.writesHere(p, t.Command, opt):
		t.Banned = append(t.Banned, opt.Names...) // a free argument is no checked path
		t.Written = append(t.Written, opt.Names[0])
		return false
	}
	t.Unsafe = append(t.Unsafe, f)
	t.Banned = append(t.Banned, opt.Names...)
	return true
}

// writesHere reports whether an option is a file that a tool which writes anyway may write in
// the working directory. The table decides about the options that it has.
func (o *Options) writesHere(p *model.Program, c *model.Command, opt *model.Option) bool {
	return o.Confined && o.Rules.Output(c.Path, opt) && o.access(p, c, nil).Kind != Read
}

// written makes a parameter the path of a file that the program writes.
func (p *Parameter) written() {
	p.Path, p.Writes, p.Content = true, true, danger.Content{}
	if p.Value.Kind == model.String {
		p.Value.Kind = model.Path
	}
}

// names reports whether Dangerous names an option without a wildcard. Such an
// option is always offered.
func (o *Options) names(words []string, opt *model.Option) bool {
	for _, pattern := range o.Dangerous {
		one := &Options{Dangerous: []string{pattern}}
		if !strings.Contains(pattern, "*") && one.admits(words, opt.Names) {
			return true
		}
	}
	return false
}

// chosenDangerous returns the index of the first element of Only without
// wildcards that names a dangerous option which Dangerous does not allow, or
// -1.
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
				if f, ok := o.Rules.Option(c.Path, opt); ok && matchesOption(patterns, opt.Names) && !o.admits(words, opt.Names) && !o.writesHere(p, c, opt) {
					return i, f
				}
			}
		}
	}
	return -1, danger.Finding{}
}

// lowerAccess replaces the access "read" of a tool that may do more than read.
func (t *Tool) lowerAccess() {
	if (t.Access.Kind == Read || t.Access.looksReading()) && (len(t.Admitted) > 0 || t.unconfined()) {
		t.ReadsOnly = t.Access.Kind == Read && (len(t.Admitted) == 0 || t.Access.From == "configuration")
		t.Access = Access{Kind: Write, From: FromDanger}
	}
}

// unconfined reports whether an argument may be a path outside the working
// directory.
func (t *Tool) unconfined() bool {
	if t.Confined {
		return false
	}
	return t.Free != nil || slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Path || p.Expression != nil })
}

// Bans reports whether a free argument is a dangerous option or begins with
// one: "--output=x", "--outp" as getopt_long abbreviates it, or "-xo" for "-o".
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

// Gives reports whether a call gives an option that changes the meaning of
// positionals. given reports whether the call has an argument.
func (t *Tool) Gives(options []string, given func(name string) bool) bool {
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if (slices.ContainsFunc(p.spellings(), func(name string) bool { return slices.Contains(options, name) }) || p.mapsTo(options)) && (given(p.Name) || p.Map != nil && p.Value.Default != "") {
			return true
		}
	}
	fixed := func(list []string) bool {
		return slices.ContainsFunc(list, func(word string) bool { name, _, _ := strings.Cut(word, "="); return slices.Contains(options, name) })
	}
	gives := func(o model.Option) bool { return fixed(o.Names) || t.Reading.clusters(options, o.Names[0]) }
	return fixed(t.after()) || slices.ContainsFunc(literals(t.Template[min(t.from, len(t.Template)):]), gives)
}

// clusters reports whether a literal such as "-nf" gives one of the options.
func (r *Reading) clusters(options []string, literal string) bool {
	if len(literal) < 3 || literal[1] == '-' {
		return false
	}
	for i := 1; i < len(literal); i++ {
		one := "-" + literal[i:i+1]
		switch takes := slices.Contains(r.Takes, one); {
		case slices.Contains(options, one):
			return true
		case takes, !slices.Contains(r.Flags, one):
			return false
		}
	}
	return false
}

// RejectionReason returns why a value is rejected, or "". p is nil for a free
// argument.
func (t *Tool) RejectionReason(p *Parameter, text string) string {
	for i := range t.Inner {
		inner := t.Inner[i].Tool
		if p == nil || inner.Parameter(p.Name) == nil {
			continue
		}
		if why := inner.RejectionReason(inner.Parameter(p.Name), text); why != "" {
			return why
		}
	}
	return rejection(t.Rejected, text, func(v *danger.Value) bool {
		switch {
		case p == nil:
			return !v.Stdin()
		case p.Role == OptionRole:
			return v.Option(p.Spelling)
		}
		return v.Positional(p.Name) || slices.ContainsFunc(p.spellings(), v.Option)
	})
}

// FirstRejection returns why the first positional of a call is rejected, or "". given
// reports whether the call gives one of some options.
func (t *Tool) FirstRejection(text string, given func(options []string) bool) string {
	return rejection(t.Rejected, text, func(v *danger.Value) bool {
		unless, ok := v.First()
		return ok && !given(unless)
	})
}

// ReadsPrograms reports whether the first positional is a program in a small language.
func (t *Tool) ReadsPrograms() bool {
	return slices.ContainsFunc(t.Rejected, func(v danger.Value) bool { _, ok := v.First(); return ok })
}

// ProgramRejection returns why the text of a program is rejected, or "".
func (t *Tool) ProgramRejection(text string) string {
	return rejection(t.Rejected, text, func(v *danger.Value) bool { _, ok := v.First(); return ok })
}

// StdinRejection returns why the text of standard input is rejected, or "".
func (t *Tool) StdinRejection(text string) string {
	for i := range t.Inner {
		if why := t.Inner[i].Tool.StdinRejection(text); why != "" {
			return why
		}
	}
	return rejection(t.Rejected, text, (*danger.Value).Stdin)
}

// explained returns the evidence of a danger as a reason, if it has one, and its source:
// "git-clone(1) GIT URLS: a reason" is "a reason; see git-clone(1) GIT URLS".
func explained(evidence string) string {
	source, reason, ok := strings.Cut(strings.TrimSuffix(evidence, "; tried"), ": ")
	if !ok {
		return "see " + source
	}
	return reason + "; see " + source
}

// rejection returns why one of the values that are about a text rejects it, or "".
func rejection(all []danger.Value, text string, about func(*danger.Value) bool) string {
	for i := range all {
		v := &all[i]
		if !about(v) {
			continue
		}
		if why := v.Rejects(text); why != "" {
			return "is rejected" + why + " (" + explained(v.Evidence) + `); dangerous = ["` + v.Name + `"] would allow it`
		}
	}
	return ""
}
