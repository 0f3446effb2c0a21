package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// CommonDefault is the default number of options of a discovered tool.
const CommonDefault = 20

// choose splits the options of a command into those that the tool offers and
// those that it leaves out, both in the order of the help.
func (o *Options) choose(path, words []string, options []*model.Option) (chosen, left []*model.Option) {
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
	known := o.Rules.Common(path)
	slices.SortStableFunc(ranked, func(a, b *model.Option) int { return rank(b, known) - rank(a, known) })
	common := ranked[:o.limit(ranked, known)]
	for _, opt := range options {
		if opt.Required || slices.Contains(common, opt) || o.names(words, opt) {
			chosen = append(chosen, opt)
		} else {
			left = append(left, opt)
		}
	}
	return chosen, left
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

// limit returns how many of the ranked options the tool offers: Common, or as many as fit into
// Budget for the only tool of a program. A list of the table is not extended.
func (o *Options) limit(ranked []*model.Option, known []string) int {
	if !o.single || len(known) > 0 {
		return o.Common
	}
	t := &Tool{Brief: o.Brief}
	left := o.Budget * bytesPerToken
	for i, opt := range ranked {
		p := Parameter{Name: strings.TrimLeft(opt.Names[0], "-"), Role: OptionRole, Spelling: opt.Names[0],
			Negation: opt.Negation, Description: opt.Description, Value: opt.Value, Repeatable: opt.Repeatable}
		left -= len(p.Name) + len(render(t.schemaOf(&p))) + len(`"":,`)
		if left < 0 {
			return max(i, o.Common)
		}
	}
	return len(ranked)
}

const (
	// BudgetDefault is the estimated number of tokens for the options of a program's only tool.
	BudgetDefault = 2500

	bytesPerToken = 4
	namesMost     = 60      // number of names of options that a description adds
	namesBytes    = 200 * 4 // their size
	namesAll      = 300 * 4 // their size in all tools of a program
)

// others returns the sentence with the names of options that a tool leaves out because they
// are not common, the most common ones first. tools is the number of tools, which share the space.
func (o *Options) others(path, words []string, left []*model.Option, tools int) string {
	if len(left) == 0 || len(patternsFor(o.Only, words)) > 0 {
		return ""
	}
	room := min(namesBytes, namesAll/max(tools, 1))
	text := " With common = 0 in the transport block also:"
	if room < 2*len(text) {
		return ""
	}
	left = slices.Clone(left)
	known := o.Rules.Common(path)
	slices.SortStableFunc(left, func(a, b *model.Option) int { return rank(b, known) - rank(a, known) })
	for i, opt := range left {
		if i == namesMost || len(text)+len(opt.Names[0]) > room {
			return text + " …"
		}
		text += " " + opt.Names[0]
	}
	return text + "."
}

// rank rates how common an option is. Options of the whole program that are offered come
// first, then those that the table calls common, then options in a usage line or an
// example, then those with a letter and a long name. The others are rated by the number of
// lines that mention them, plus 2 for a one-letter spelling.
func rank(opt *model.Option, known []string) int {
	const shown, both, letter, most = 100, 30, 2, 20
	r := min(opt.Mentions, most)
	if slices.ContainsFunc(opt.Names, func(name string) bool { return len(name) == 2 && name[0] == '-' }) {
		r += letter
		if strings.HasPrefix(opt.Names[0], "--") {
			r += both
		}
	}
	if opt.Shown {
		r += shown
	}
	if slices.ContainsFunc(opt.Names,
		func(name string) bool { return slices.Contains(formats, strings.TrimLeft(name, "-")) }) {
		r += both
	}
	if slices.ContainsFunc(opt.Names, func(name string) bool { return slices.Contains(known, name) }) {
		r += 2 * shown
	}
	if opt.Inherited {
		r += 4 * shown
	}
	return r
}

// formats are names of options for the form of the output, which a model often needs.
var formats = []string{"json", "csv", "tsv", "xml", "yaml", "format", "output-format", "jsonl", "ndjson", "markdown",
	"html", "count", "summary"}

// leftOut returns the sentence about the options that a tool leaves out.
func leftOut(chosen, left []*model.Option) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf(" Offers %d of %d options.", len(chosen), len(chosen)+len(left))
}

// spellings returns the first name of each option.
func spellings(options []*model.Option) []string {
	names := []string{}
	for _, o := range options {
		names = append(names, o.Names[0])
	}
	return names
}
