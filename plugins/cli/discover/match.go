package discover

import (
	"path"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Match reports whether a pattern selects the command at path. The pattern is
// compared word by word: "*" and "?" match parts of a word, "**" matches any
// number of words. A pattern also selects everything below the command it
// matches. So "container *" and "container **" select everything below
// container, and "container" also selects container itself.
func Match(pattern string, path []string) bool {
	words := make([][]string, len(path))
	for i, w := range path {
		words[i] = []string{w}
	}
	return matches(strings.Fields(pattern), words)
}

// matches is Match for a path whose words have several spellings.
func matches(pattern []string, words [][]string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**":
		if len(pattern) == 1 {
			return len(words) > 0
		}
		return matches(pattern[1:], words) || len(words) > 0 && matches(pattern, words[1:])
	case len(words) == 0:
		return false
	}
	return wordMatches(pattern[0], words[0]) && matches(pattern[1:], words[1:])
}

// leads reports whether a pattern could select a command below this path.
func leads(pattern []string, words [][]string) bool {
	switch {
	case len(pattern) == 0 || len(words) == 0 || pattern[0] == "**":
		return true
	}
	return wordMatches(pattern[0], words[0]) && leads(pattern[1:], words[1:])
}

func wordMatches(pattern string, spellings []string) bool {
	return slices.ContainsFunc(spellings, func(w string) bool {
		// Names of commands contain no path separator, so path.Match's special
		// treatment of separators does not matter.
		ok, err := path.Match(pattern, w)
		return pattern == w || err == nil && ok
	})
}

// A selection holds the patterns of Only and Except, split into words.
type selection struct{ only, except [][]string }

func newSelection(only, except []string) selection {
	split := func(patterns []string) (words [][]string) {
		for _, p := range patterns {
			words = append(words, strings.Fields(p))
		}
		return words
	}
	return selection{only: split(only), except: split(except)}
}

// wants reports whether a command is selected.
func (s selection) wants(words [][]string) bool {
	selects := func(p []string) bool { return len(p) > 0 && matches(p, words) }
	return (len(s.only) == 0 || slices.ContainsFunc(s.only, selects)) && !slices.ContainsFunc(s.except, selects)
}

// leadsTo reports whether a command or a command below it may be selected.
func (s selection) leadsTo(words [][]string) bool {
	may := func(p []string) bool { return len(p) > 0 && leads(p, words) }
	not := func(p []string) bool { return len(p) > 0 && matches(p, words) }
	return (len(s.only) == 0 || slices.ContainsFunc(s.only, may)) && !slices.ContainsFunc(s.except, not)
}

// prune returns the selected part of a tree, or nil if nothing is selected.
func (s selection) prune(c *model.Command, words [][]string) *model.Command {
	kept := *c
	kept.Commands = nil
	for _, sub := range c.Commands {
		if k := s.prune(sub, below(words, sub)); k != nil {
			kept.Commands = append(kept.Commands, k)
		}
	}
	if s.wants(words) {
		return &kept
	}
	if len(kept.Commands) == 0 {
		return nil
	}
	kept.Runnable = false
	return &kept
}

// below returns the path of a sub-command; each word with its aliases.
func below(words [][]string, sub *model.Command) [][]string {
	last := append([]string{lastWord(sub)}, sub.Aliases...)
	return append(slices.Clip(words), last)
}

func lastWord(c *model.Command) string {
	if len(c.Path) == 0 {
		return ""
	}
	return c.Path[len(c.Path)-1]
}

// eachCommand calls f for every command below root.
func eachCommand(root *model.Command, words [][]string, f func(c *model.Command, words [][]string)) {
	for _, sub := range root.Commands {
		w := below(words, sub)
		f(sub, w)
		eachCommand(sub, w, f)
	}
}

func spell(path []string) string { return strings.Join(path, " ") }
