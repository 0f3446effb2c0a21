package tool

import (
	"slices"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

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
		if f, ok := o.Rules.Option(c.Path, opt); ok && opt.Required && !o.admits(words, opt.Names) &&
			!o.writesHere(p, c, opt) {
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
			t.Admitted = append(t.Admitted,
				danger.Finding{Names: []string{v.Name}, Effect: v.Effect, Evidence: v.Evidence})
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
	return t.Free != nil ||
		slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Path || p.Expression != nil })
}
