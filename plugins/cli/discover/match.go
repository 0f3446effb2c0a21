package discover

import (
	"path"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Match reports whether a pattern selects the command of this path. Words are
// compared one by one; "*" and "?" stand for parts of a word, "**" for any
// number of words. A pattern also selects everything below what it names, so
// that "container *" and "container **" select what is below container at any
// depth, and "container" selects container too.
func Match(pattern string, path []string) bool {
	words := make([][]string, len(path))
	for i, w := range path {
		words[i] = []string{w}
	}
	return matches(strings.Fields(pattern), words)
}

// matches is Match for commands that have several spellings of each word.
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

// leads reports whether a pattern could select something below this path.
func leads(pattern []string, words [][]string) bool {
	switch {
	case len(pattern) == 0 || len(words) == 0 || pattern[0] == "**":
		return true
	}
	return wordMatches(pattern[0], words[0]) && leads(pattern[1:], words[1:])
}

func wordMatches(pattern string, spellings []string) bool {
	return slices.ContainsFunc(spellings, func(w string) bool {
		// A path separator is no part of a command's name, so that path.Match's
		// one exception does not matter.
		ok, err := path.Match(pattern, w)
		return pattern == w || err == nil && ok
	})
}

// A selection is a set of patterns for commands that are wanted and one for
// those that are not.
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

// leadsTo reports whether a command or something below it may be selected.
func (s selection) leadsTo(words [][]string) bool {
	may := func(p []string) bool { return len(p) > 0 && leads(p, words) }
	not := func(p []string) bool { return len(p) > 0 && matches(p, words) }
	return (len(s.only) == 0 || slices.ContainsFunc(s.only, may)) && !slices.ContainsFunc(s.except, not)
}

// Filter returns a copy of a tree with only what is selected: what a pattern of
// only matches, or everything where there is none, without what a pattern of
// except matches. A command that is not selected but has selected ones below it
// stays, and is not Runnable. The patterns of only that match nothing are
// warned of; when none of them matches, that is an error.
func Filter(root *model.Command, only, except []string) (filtered *model.Command, warnings []string, err error) {
	unmatched := unmatched(root, only)
	if len(only) > 0 && len(unmatched) == len(only) {
		return nil, nil, noneMatches(root, only)
	}
	for _, p := range unmatched {
		warnings = append(warnings, "only: "+quoted(p)+" matches no command"+didYouMean(nearest(root, p))+".")
	}
	filtered = newSelection(only, except).prune(root, nil)
	if filtered == nil {
		return nil, nil, noneLeft(only, except)
	}
	return filtered, warnings, nil
}

// prune returns nil where nothing is selected.
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

// below is the path of a sub-command with all spellings of each word.
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

// visit calls f for every command below root.
func visit(root *model.Command, words [][]string, f func(c *model.Command, words [][]string)) {
	for _, sub := range root.Commands {
		w := below(words, sub)
		f(sub, w)
		visit(sub, w, f)
	}
}

func unmatched(root *model.Command, only []string) []string {
	var missing []string
	for _, p := range only {
		pattern, found := strings.Fields(p), false
		visit(root, nil, func(_ *model.Command, words [][]string) {
			found = found || len(pattern) > 0 && matches(pattern, words)
		})
		if !found {
			missing = append(missing, p)
		}
	}
	return missing
}
