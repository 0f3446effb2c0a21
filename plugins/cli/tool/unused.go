package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// Unused complains about the first pattern for options that matches none of the
// program's: one that is misspelled would leave an option on offer that was
// meant to be omitted.
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
				return slices.ContainsFunc(c.Options, func(opt model.Option) bool { return list.fits(&opt) && matchesOption([]string{pattern}, opt.Names) })
			}) {
				e := sdk.AttrErrorf(fmt.Sprintf("%s[%d]", list.name, i), "no option of the commands that are offered matches %q", pattern)
				e.Hint = "check the spelling; junctor wrap shows the options there are"
				if strings.Contains(pattern, " ") {
					e.Hint = "name one option, without its value"
				}
				return e
			}
		}
	}
	if i := o.unusedOption(p, commands); i >= 0 {
		e := sdk.AttrErrorf(fmt.Sprintf("options[%d]", i), "no option of the commands that are offered matches %q", o.Only[i])
		e.Hint = "write the words of the command and then one option, such as \"log --oneline\"; junctor wrap shows the options there are"
		return e
	}
	if element, f := o.chosenDangerous(p, commands); element >= 0 {
		e := sdk.AttrErrorf(fmt.Sprintf("options[%d]", element), "%q is dangerous: it %s", o.Only[element], f.Effect)
		e.Hint = fmt.Sprintf("name it in dangerous as well, as in dangerous = [%q]", o.Only[element])
		return e
	}
	return o.unusedDangerous(p)
}

// unusedDangerous complains about the first name in dangerous that nothing
// dangerous has: a misspelled one would change nothing, and its author would not
// know.
func (o *Options) unusedDangerous(p *model.Program) error {
	for i, pattern := range o.Dangerous {
		if strings.Contains(pattern, "*") {
			continue
		}
		one := &Options{Rules: o.Rules, Dangerous: []string{pattern}}
		if !slices.ContainsFunc(runnable(p), func(c *model.Command) bool { return one.admitsAny(p, c) }) {
			e := sdk.AttrErrorf(fmt.Sprintf("dangerous[%d]", i), "nothing dangerous of the commands that are offered is called %q", pattern)
			e.Hint = "name an option with its dashes, or a command; junctor wrap shows what is left out"
			return e
		}
	}
	return nil
}

// admitsAny reports whether a dangerous option or argument of a command, or the
// command itself, is named.
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
		if _, ok := o.Rules.Option(c.Path, &c.Options[i]); ok {
			names = append(names, c.Options[i].Names...)
		}
	}
	return o.admits(words, names)
}
