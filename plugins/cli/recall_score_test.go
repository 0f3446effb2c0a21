package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// unjudged are options and commands that do not affect the score.
var unjudged = []string{"--help", "--version", "-help", "-version", "help"}

// A share counts parts of a whole.
type share struct{ of, all float64 }

func (s *share) count(ok bool) {
	s.all++
	if ok {
		s.of++
	}
}

// percent returns the share in percent. It returns false for an empty whole.
func (s share) percent() (float64, bool) { return 100 * s.of / s.all, s.all > 0 }

func (s share) String() string {
	percent, ok := s.percent()
	if !ok {
		return fmt.Sprintf("%16s", "-")
	}
	return fmt.Sprintf("%4.0f/%-5.0f %5.1f", s.of, s.all, percent)
}

// A score measures recall (how much was found) and precision (how much of it
// exists).
type score struct{ commands, options, kinds, precision share }

var scoreNames = [4]string{"sub-commands found", "long options found", "kinds of values right",
	"of what is found, right"}

const scoreHeads = "        commands     long options            kinds        precision"

func (s score) shares() [4]share { return [4]share{s.commands, s.options, s.kinds, s.precision} }

func (s score) String() string {
	return fmt.Sprintf("%s %s %s %s", s.commands, s.options, s.kinds, s.precision)
}

func (s *score) add(o score) {
	for i, to := range []*share{&s.commands, &s.options, &s.kinds, &s.precision} {
		to.of += o.shares()[i].of
		to.all += o.shares()[i].all
	}
}

// means are the average shares of programs, all with the same weight.
type means [4]share

func meanOf(scores []score) means {
	var sum [4]float64
	var n [4]float64
	for _, s := range scores {
		for i, share := range s.shares() {
			if share.all > 0 {
				sum[i] += share.of / share.all
				n[i]++
			}
		}
	}
	var m means
	for i := range m {
		if n[i] > 0 {
			m[i] = share{sum[i] / n[i], 1}
		}
	}
	return m
}

func (m means) String() string {
	var columns []string
	for _, s := range m {
		column := "-"
		if percent, ok := s.percent(); ok {
			column = fmt.Sprintf("%.1f", percent)
		}
		columns = append(columns, fmt.Sprintf("%16s", column))
	}
	return strings.Join(columns, " ")
}

// compareRoot compares the program itself and its commands.
func (s *score) compareRoot(t *testing.T, c *corpusProgram, root *model.Command) {
	page := *c.Pages[0]
	page.Commands, page.AlsoCommands = c.Commands, c.AlsoCommands
	s.compare(t, c, &page, root)
}

// compare compares one command; found is nil if discovery did not find it.
func (s *score) compare(t *testing.T, c *corpusProgram, p *corpusPage, found *model.Command) {
	name := strings.Join(append([]string{c.Program}, p.Path...), " ")
	if found == nil {
		t.Logf("%s: is not found", name)
		found = &model.Command{}
	}
	s.compareCommands(t, name, p, found)
	s.compareOptions(t, name, c, p, found)
}

func (s *score) compareCommands(t *testing.T, name string, p *corpusPage, found *model.Command) {
	var names, missed, invented []string
	for _, sub := range found.Commands {
		names = append(names, spellings(sub)...)
	}
	for _, want := range p.Commands {
		ok := slices.Contains(names, want)
		s.commands.count(ok)
		if !ok {
			missed = append(missed, want)
		}
	}
	for _, got := range names {
		if slices.Contains(unjudged, got) {
			continue
		}
		ok := slices.Contains(p.Commands, got) || matchesAny(p.AlsoCommands, got)
		s.precision.count(ok)
		if !ok {
			invented = append(invented, got)
		}
	}
	logList(t, name, "commands missed", missed)
	logList(t, name, "commands invented", invented)
}

func (s *score) compareOptions(t *testing.T, name string, c *corpusProgram, p *corpusPage, found *model.Command) {
	single := p.single()
	claimed := map[string]bool{} // by spelling; whether the option takes a value
	for _, o := range found.Options {
		for _, n := range o.Names {
			claimed[n] = o.Value.Kind.TakesValue()
		}
		if o.Negation != "" {
			claimed[o.Negation] = false
		}
	}
	var missed, invented, wrong []string
	for _, want := range sortedKeys(p.Long) {
		if slices.Contains(unjudged, want) {
			continue
		}
		got, ok := lookUp(claimed, want)
		s.options.count(ok)
		if !ok {
			missed = append(missed, want)
			continue
		}
		if kind := p.Long[want]; kind != "either" {
			right := got == (kind != "flag")
			s.kinds.count(right)
			if !right {
				wrong = append(wrong, want+" ("+kind+")")
			}
		}
	}
	for _, got := range sortedKeys(claimed) {
		if p.Partial || !isLong(got, single) || slices.Contains(unjudged, got) {
			continue
		}
		ok := c.has(p, got)
		s.precision.count(ok)
		if !ok {
			invented = append(invented, got)
		}
	}
	logList(t, name, "options missed", missed)
	logList(t, name, "options invented", invented)
	logList(t, name, "kinds of values wrong", wrong)
}

// has reports whether a command or one of its parents has an option.
func (c *corpusProgram) has(p *corpusPage, option string) bool {
	for n := len(p.Path); n >= 0; n-- {
		above := c.page(p.Path[:n])
		if above == nil {
			continue
		}
		if slices.ContainsFunc(sortedKeys(above.Long), func(want string) bool { return sameOption(option, want) }) ||
			matchesAny(above.Also, option) {
			return true
		}
	}
	return false
}

// lookUp returns the discovered option with a spelling.
func lookUp(claimed map[string]bool, want string) (takesValue, ok bool) {
	if takesValue, ok = claimed[want]; ok {
		return takesValue, true
	}
	for _, got := range sortedKeys(claimed) {
		if sameOption(got, want) {
			return true, true // -Xshare:auto is -Xshare with its value
		}
	}
	return false, false
}

// sameOption reports whether an option is the wanted one, perhaps with a part
// of its value: -agentlib:, -Wl, and -Xshare:auto.
func sameOption(got, want string) bool {
	rest, ok := strings.CutPrefix(got, want)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ":=,"))
}

// single reports whether the page's long options have a single dash.
func (p *corpusPage) single() bool {
	for name := range p.Long {
		if !strings.HasPrefix(name, "--") {
			return true
		}
	}
	return false
}

func isLong(name string, single bool) bool {
	return strings.HasPrefix(name, "--") && len(name) > 3 || single && strings.HasPrefix(name, "-") && len(name) > 2
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return name == p || err == nil && ok
	})
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func logList(t *testing.T, name, what string, list []string) {
	if len(list) > 0 {
		t.Logf("%s: %d %s: %s", name, len(list), what, strings.Join(list, " "))
	}
}

// TestScore checks that missing, invented and wrong options lower the score.
func TestScore(t *testing.T) {
	c := &corpusProgram{Program: "p", Pages: []*corpusPage{
		{Long: map[string]string{"--root": "value"}, Also: []string{"--also-*"}},
		{
			Path: []string{"sub"}, Commands: []string{"one", "two"}, AlsoCommands: []string{"un"},
			Long: map[string]string{"--all": "flag", "--depth": "value", "--color": "optional",
				"--run": "either", "--lost": "flag", "--no-all": "flag"},
		},
	}}
	option := func(name string, kind model.Kind) model.Option {
		return model.Option{Names: []string{name}, Value: model.Value{Kind: kind}}
	}
	found := &model.Command{
		Options: []model.Option{
			{Names: []string{"--all"}, Negation: "--no-all", Value: model.Value{Kind: model.Bool}},
			option("--depth", model.Bool), option("--color=WHEN", model.String), option("--run", model.String),
			option("--root", model.String), option("--also-this", model.Bool), option("--invented", model.Bool),
			option("--help", model.Bool), option("-x", model.Bool),
		},
		Commands: []*model.Command{{Path: []string{"sub", "one"}, Aliases: []string{"un"}},
			{Path: []string{"sub", "three"}}, {Path: []string{"sub", "help"}}},
	}
	var got score
	got.compare(t, c, c.Pages[1], found)
	want := score{commands: share{1, 2}, options: share{5, 6}, kinds: share{3, 4}, precision: share{9, 11}}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = score{}
	got.compare(t, c, c.Pages[1], nil)
	if want := (score{commands: share{0, 2}, options: share{0, 6}}); got != want {
		t.Errorf("without programs: %+v, want %+v", got, want)
	}
}
