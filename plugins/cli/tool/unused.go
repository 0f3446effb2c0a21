package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// Unused returns an error for the first pattern for options that matches no
// option of the program. A misspelled pattern would otherwise offer an option
// that was meant to be omitted. The plugin calls it when discovery is complete; it is pure.
func (o *Options) Unused(p *model.Program) error {
	commands := runnable(p)
	for _, list := range []struct {
		name     string
		patterns []string
		fits     func(*model.Option) bool
	}{
		{"omit", o.Omit, func(*model.Option) bool { return true }},
		{"globals", o.Globals, func(opt *model.Option) bool { return opt.Inherited }},
	} {
		for i, pattern := range list.patterns {
			if !slices.ContainsFunc(commands, func(c *model.Command) bool {
				return slices.ContainsFunc(c.Options, func(opt model.Option) bool {
					return list.fits(&opt) && matchesOption([]string{pattern}, opt.Names)
				})
			}) {
				e := sdk.AttrErrorf(fmt.Sprintf("%s[%d]", list.name, i),
					"no option of the offered commands matches %q", pattern)
				e.Hint = "check the spelling; junctor wrap lists the options"
				if strings.Contains(pattern, " ") {
					e.Hint = "name one option, without its value"
				}
				return e
			}
		}
	}
	if err := o.unusedCommand(p, commands); err != nil {
		return err
	}
	if i := o.unusedOption(p, commands); i >= 0 {
		e := sdk.AttrErrorf(fmt.Sprintf("options[%d]", i), "no option of the offered commands matches %q", o.Only[i])
		e.Hint = "write the words of the command and then one option, such as \"log --oneline\"; junctor wrap lists the options"
		return e
	}
	if element, f := o.chosenDangerous(p, commands); element >= 0 {
		e := sdk.AttrErrorf(fmt.Sprintf("options[%d]", element), "%q is dangerous: it %s", o.Only[element], f.Effect)
		e.Hint = fmt.Sprintf("name it in dangerous as well, as in dangerous = [%q]", o.Only[element])
		return e
	}
	return o.unusedDangerous(p)
}

// unusedCommand returns an error for the first pattern for commands that
// matches no offered command. A misspelled one would leave a command with
// another access than the author meant.
func (o *Options) unusedCommand(p *model.Program, commands []*model.Command) error {
	for _, list := range []struct {
		name     string
		patterns []string
	}{{"only", o.Commands}, {"read", o.Read}, {"write", o.Write}, {"destructive", o.Destructive}, {"idempotent",
		o.Idempotent}} {
		for i, pattern := range list.patterns {
			offered, skipped := o.selected(p, commands, pattern)
			at := fmt.Sprintf("%s[%d]", list.name, i)
			switch {
			case offered:
			case skipped != nil:
				e := sdk.AttrErrorf(at, "%q matches only what is left out as dangerous: it %s", pattern, skipped.Effect)
				e.Hint = fmt.Sprintf("name it in dangerous as well, as in dangerous = [%q], or remove it here", pattern)
				return e
			case list.name != "only": // discovery reports those of only; here they may be commands that were not asked
				e := sdk.AttrErrorf(at, "no offered command matches %q", pattern)
				e.Hint = discover.Suggest(p.Root, pattern)
				return e
			}
		}
	}
	return nil
}

// selected reports whether a pattern matches an offered command, and returns
// why one that it matches is left out.
func (o *Options) selected(p *model.Program, commands []*model.Command, pattern string) (
	offered bool, skipped *danger.Finding,
) {
	for _, c := range commands {
		if !matchesAny([]string{pattern}, o.words(p, c)) {
			continue
		}
		if f, left := o.skips(p, c); left {
			skipped = &f
			continue
		}
		offered = true
	}
	return offered, skipped
}

// unusedDangerous returns an error for the first element of Dangerous that
// names nothing dangerous. A misspelled element would otherwise have no effect.
func (o *Options) unusedDangerous(p *model.Program) error {
	for i, pattern := range o.Dangerous {
		if strings.Contains(pattern, "*") {
			continue
		}
		one := &Options{Rules: o.Rules, Dangerous: []string{pattern}}
		if !slices.ContainsFunc(runnable(p), func(c *model.Command) bool { return one.admitsAny(p, c) }) {
			e := sdk.AttrErrorf(fmt.Sprintf("dangerous[%d]", i),
				"the offered commands have nothing dangerous with the name %q", pattern)
			e.Hint = "name an option with its dashes, or a command; junctor wrap lists what is left out"
			return e
		}
	}
	return nil
}

// admitsAny reports whether Dangerous names a dangerous option or argument of a
// command, or the command itself.
func (o *Options) admitsAny(p *model.Program, c *model.Command) bool {
	words := o.words(p, c)
	if _, ok := o.Rules.Command(c); ok && o.admitsCommand(words) {
		return true
	}
	names := append(o.Rules.Spellings(c.Path), o.Rules.Forced(c.Path)...)
	for _, v := range o.Rules.Values(c.Path) {
		names = append(names, v.Name)
	}
	for i := range c.Options {
		if _, ok := o.Rules.Freely(c.Path, &c.Options[i]); ok {
			names = append(names, c.Options[i].Names...)
		}
	}
	return o.admits(words, names) || o.admitsWord(c.Path, words)
}

// unusedOption returns the index of the first element of Only that selects
// nothing, or -1.
func (o *Options) unusedOption(p *model.Program, commands []*model.Command) int {
	return slices.IndexFunc(o.Only, func(element string) bool {
		return !slices.ContainsFunc(commands, func(c *model.Command) bool {
			patterns := patternsFor([]string{element}, o.words(p, c))
			return slices.ContainsFunc(c.Options,
				func(opt model.Option) bool { return matchesOption(patterns, opt.Names) })
		})
	})
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
				if f, ok := o.Rules.Option(c.Path, opt); ok && matchesOption(patterns, opt.Names) &&
					!o.admits(words, opt.Names) && !o.writesHere(p, c, opt) {
					return i, f
				}
			}
		}
	}
	return -1, danger.Finding{}
}
