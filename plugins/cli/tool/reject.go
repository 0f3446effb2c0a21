package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

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
		case len(banned) == 2 && !strings.HasPrefix(argument, "--") &&
			strings.ContainsRune(argument[1:], rune(banned[1])):
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
		if (slices.ContainsFunc(p.spellings(), func(name string) bool { return slices.Contains(options, name) }) ||
			p.mapsTo(options)) && (given(p.Name) || p.Map != nil && p.Value.Default != "") {
			return true
		}
	}
	fixed := func(list []string) bool {
		return slices.ContainsFunc(list,
			func(word string) bool { name, _, _ := strings.Cut(word, "="); return slices.Contains(options, name) })
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
			return "is rejected" + why + " (" + explained(v.Evidence) + `); dangerous = ["` + v.Name +
				`"] would allow it`
		}
	}
	return ""
}
