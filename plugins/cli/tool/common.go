package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// CommonDefault is how many options a discovered tool has when the configuration
// does not say.
const CommonDefault = 20

// choose divides the options that a command could offer into those that it does
// offer, in the order of the help, and those that are left out.
func (o *Options) choose(words []string, options []*model.Option) (chosen, left []*model.Option) {
	if patterns := patternsFor(o.Only, words); len(patterns) > 0 {
		for _, opt := range options {
			if opt.Required || matchesOption(patterns, opt.Names) || o.names(words, opt) {
				chosen = append(chosen, opt)
			} else {
				left = append(left, opt)
			}
		}
		return chosen, left
	}
	if o.Common <= 0 || len(options) <= o.Common {
		return options, nil
	}
	ranked := slices.Clone(options)
	slices.SortStableFunc(ranked, func(a, b *model.Option) int { return rank(b) - rank(a) })
	common := ranked[:o.Common]
	for _, opt := range options {
		if opt.Required || slices.Contains(common, opt) || o.names(words, opt) {
			chosen = append(chosen, opt)
		} else {
			left = append(left, opt)
		}
	}
	return chosen, left
}

// rank says how common an option is. One that a usage line or an example has
// comes before all others; among these counts how many lines of the help name
// it, to which a letter of its own adds. Equal ranks keep the order of the help.
func rank(opt *model.Option) int {
	const shown, letter, most = 100, 2, 20
	r := min(opt.Mentions, most)
	if slices.ContainsFunc(opt.Names, func(name string) bool { return len(name) == 2 && name[0] == '-' }) {
		r += letter
	}
	if opt.Shown {
		r += shown
	}
	return r
}

// patternsFor are the patterns for options of the elements that are about a
// command: the last word of an element is the option, the words before it are the
// path, and without any it is about every command.
func patternsFor(list []string, words []string) []string {
	var patterns []string
	for _, element := range list {
		fields := strings.Fields(element)
		last := len(fields) - 1
		if last == 0 || last > 0 && discover.Match(strings.Join(fields[:last], " "), words) {
			patterns = append(patterns, fields[last])
		}
	}
	return patterns
}

// leftOut ends the description of a tool that does not have all options.
func leftOut(chosen, left []*model.Option) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf(" Offers %d of %d options.", len(chosen), len(chosen)+len(left))
}

// spellings are the first names of options.
func spellings(options []*model.Option) []string {
	names := []string{}
	for _, o := range options {
		names = append(names, o.Names[0])
	}
	return names
}

// unusedOption returns the first element of Only that selects nothing, -1 when
// there is none.
func (o *Options) unusedOption(p *model.Program, commands []*model.Command) int {
	return slices.IndexFunc(o.Only, func(element string) bool {
		return !slices.ContainsFunc(commands, func(c *model.Command) bool {
			patterns := patternsFor([]string{element}, o.words(p, c))
			return slices.ContainsFunc(c.Options, func(opt model.Option) bool { return matchesOption(patterns, opt.Names) })
		})
	})
}
