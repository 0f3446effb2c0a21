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
	t.NoEquals = o.Rules.Is(path, "no-equals")
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

// restrict applies the rules to a tool from a tool block. It leaves out no
// option, because the author chose them. But a tool with a dangerous option
// does not count as reading.
func (t *Tool) restrict(o *Options, b *Block) {
	path := fixedWords(t.Template)
	t.Fixed, t.start = o.Command[min(1, len(o.Command)):], o.Rules.At()
	path = path[min(len(path), max(0, t.start-len(t.Fixed))):]
	t.PairOptions = o.Rules.PairOptions(path)
	t.apply(o, path, path)
	t.force(o, path)
	if b.Paths != "" {
		t.Confined = b.Paths == PathsCwd && o.Bounded
	}
	t.attach()
	t.attachExpressions(o, path)
	for i := range t.Parameters {
		p := &t.Parameters[i]
		names := []string{p.Spelling}
		if p.Role != OptionRole {
			names[0] = p.ValueOf
		}
		p.classifyBlock(o.Rules, path)
		if f, ok := o.Rules.Freely(path, &model.Option{Names: names, Description: p.Description, Value: p.Value}); names[0] != "" && ok {
			t.Admitted = append(t.Admitted, f)
		}
	}
	if f, ok := o.Rules.Command(&model.Command{Path: path, Options: literals(t.Template)}); ok && (open(t.Template) || f.Words > 0 && len(t.Parameters) > 0) {
		t.Admitted = append(t.Admitted, f)
	}
	t.lowerAccess()
	if o.writes(path, t.Parameters) != nil {
		t.ReadsOnly = false
		if t.Access.Kind == Read {
			t.Access = Access{Kind: Write, From: FromDanger}
		}
	}
}

// force adds the arguments with which every run of the program begins to those of a tool
// block, if a call can give the program more than the names of files behind a fixed script.
func (t *Tool) force(o *Options, path []string) {
	forced := o.Rules.Forced(nil)
	if !o.Rules.Plain() || t.start > 0 || len(forced) == 0 || strings.HasPrefix(forced[0], "?") || o.admits(path, forced[:1]) || !t.Stdin && !t.openEnded() {
		return
	}
	for _, word := range t.Fixed {
		if name, _, _ := strings.Cut(word, "="); name == forced[0] {
			return
		}
	}
	for _, option := range literals(t.Template) {
		if slices.Contains(option.Names, forced[0]) {
			return
		}
	}
	t.Forced = forced
}

// openEnded reports whether a slot may be the first positional or the value of an option.
func (t *Tool) openEnded() bool {
	if len(t.FirstSlots()) > 0 {
		return true
	}
	for i := range t.Template {
		e := &t.Template[i]
		if _, literal := e.literal(); !literal && !e.Options && (valued(t.Template, i) || strings.HasPrefix(e.Parts[0].Text, "-")) {
			return true
		}
	}
	return slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Role == OptionRole && p.Value.Kind.TakesValue() })
}

// classifyBlock sets what the table knows about an argument of a tool block.
// The author chose its type, so its name alone says nothing.
func (p *Parameter) classifyBlock(rules *danger.Rules, path []string) {
	name := p.Spelling
	switch {
	case p.Role != OptionRole && p.ValueOf != "":
		name = p.ValueOf
	case p.Role != OptionRole:
		name = "<" + strings.TrimPrefix(p.Name, "arg_") + ">"
	}
	p.Content = rules.Content(path, name)
}

// Gives reports whether a call gives an option that changes the meaning of
// positionals. given reports whether the call has an argument.
func (t *Tool) Gives(options []string, given func(name string) bool) bool {
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if (slices.Contains(options, p.Spelling) || slices.Contains(options, p.ValueOf) || p.mapsTo(options)) && (given(p.Name) || p.Map != nil && p.Value.Default != "") {
			return true
		}
	}
	return slices.ContainsFunc(literals(t.Template), func(o model.Option) bool { return slices.Contains(options, o.Names[0]) })
}

// fixedWords returns the words at the start of a template, which may name a
// command.
func fixedWords(template []Element) []string {
	var words []string
	for i := range template {
		text, ok := template[i].literal()
		if !ok || strings.HasPrefix(text, "-") {
			break
		}
		words = append(words, text)
	}
	return words
}

// literals returns the options that a template itself contains.
func literals(template []Element) []model.Option {
	var options []model.Option
	for i := range template {
		if text, ok := template[i].literal(); ok && strings.HasPrefix(text, "-") {
			name, _, _ := strings.Cut(text, "=")
			options = append(options, model.Option{Names: []string{name}})
		}
	}
	return options
}

// open reports whether the first argument that is not an option is a slot, such
// as the script of an interpreter.
func open(template []Element) bool {
	for i := range template {
		e := &template[i]
		if e.Options {
			continue
		}
		text, ok := e.literal()
		switch {
		case !ok:
			return true
		case !strings.HasPrefix(text, "-"):
			return false
		}
	}
	return false
}

// attach finds the options whose values are slots: "--name={x}", or "--name"
// followed by "{x}".
func (t *Tool) attach() {
	for i := range t.Template {
		e := &t.Template[i]
		for _, slot := range e.Slots() {
			p := t.Parameter(slot)
			if p == nil || p.Map != nil {
				continue
			}
			if text := e.Parts[0].Text; strings.HasPrefix(text, "-") {
				p.ValueOf, _, _ = strings.Cut(text, "=")
			} else if valued(t.Template, i) {
				p.ValueOf, _ = t.Template[i-1].literal()
			}
		}
	}
}

// RejectionReason returns why a value is rejected, or "". p is nil for a free
// argument.
func (t *Tool) RejectionReason(p *Parameter, text string) string {
	return t.rejection(text, func(v *danger.Value) bool {
		switch {
		case p == nil:
			return !v.Stdin()
		case p.Role == OptionRole:
			return v.Option(p.Spelling)
		}
		return v.Positional(p.Name) || p.ValueOf != "" && v.Option(p.ValueOf)
	})
}

// FirstRejection returns why the first positional of a call is rejected, or "". given
// reports whether the call has an argument.
func (t *Tool) FirstRejection(text string, given func(name string) bool) string {
	return t.rejection(text, func(v *danger.Value) bool {
		unless, ok := v.First()
		return ok && !t.Gives(unless, given)
	})
}

// StdinRejection returns why the text of standard input is rejected, or "".
func (t *Tool) StdinRejection(text string) string { return t.rejection(text, (*danger.Value).Stdin) }

func (t *Tool) rejection(text string, about func(*danger.Value) bool) string {
	for i := range t.Rejected {
		v := &t.Rejected[i]
		if !about(v) {
			continue
		}
		if why := v.Rejects(text); why != "" {
			return "is rejected" + why + " (" + strings.TrimSuffix(v.Evidence, "; tried") + `); dangerous = ["` + v.Name + `"] would allow it`
		}
	}
	return ""
}
