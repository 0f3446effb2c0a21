package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/internal/editdistance"
	"github.com/junctor-mcp/junctor/sdk"
)

// maxSuggestions bounds the names in a suggestion.
const maxSuggestions = 3

// misspelled returns the error for a pattern that matches none of all commands. Without its
// command fewer tools would be offered, or more.
func misspelled(root *model.Command, o *Options) error {
	for _, list := range []struct {
		name     string
		patterns []string
	}{{"only", o.Only}, {"except", o.Except}} {
		wrong := missing(root, list.patterns)
		if len(wrong) == 0 || list.name == "only" && len(wrong) == len(list.patterns) { // which Filter names
			continue
		}
		e := sdk.AttrErrorf(fmt.Sprintf("%s[%d]", list.name, slices.Index(list.patterns, wrong[0])), "no command matches %s", quoted(wrong[0]))
		e.Hint = Suggest(root, wrong[0])
		return e
	}
	return nil
}

// Suggest returns the hint for a pattern that matches no command below root.
func Suggest(root *model.Command, pattern string) string {
	if near := similarCommands(root, pattern); len(near) > 0 {
		return "did you mean " + quotedList(near) + "?"
	}
	return "check the spelling, or remove it; junctor wrap lists the commands"
}

// noMatch returns the error for an only that selects nothing.
func noMatch(root *model.Command, only []string) error {
	if len(root.Commands) == 0 {
		e := sdk.AttrErrorf("only", "%s cannot match: the program has no sub-commands", quotedList(only))
		e.Hint = "remove only"
		return e
	}
	e := sdk.AttrErrorf("only", "no command matches %s", quotedList(only))
	var near []string
	for _, p := range only {
		for _, n := range similarCommands(root, p) {
			if !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	if len(near) > 0 {
		e.Hint = "did you mean " + quotedList(near) + "?"
		return e
	}
	var names []string
	for _, c := range root.Commands {
		names = append(names, lastWord(c))
	}
	e.Hint = "the commands are " + listed(names, 12)
	return e
}

// nothingLeft returns the error for an except that leaves no command.
func nothingLeft(only, except []string) error {
	e := sdk.AttrErrorf("except", "%s leaves no command", quotedList(except))
	if len(only) > 0 {
		e.Message += " of those that only selects"
	}
	return e
}

// similarCommands returns the commands whose names are most similar to a pattern.
func similarCommands(root *model.Command, pattern string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	wanted := strings.ToLower(strings.Trim(strings.Join(strings.Fields(pattern), " "), "* "))
	if wanted == "" {
		return nil
	}
	limit := max(min(2, len(wanted)-1), len(wanted)/3) // a short name has few typing errors
	eachCommand(root, nil, func(c *model.Command, _ [][]string) {
		name := strings.Join(c.Path, " ")
		d := editdistance.Distance(wanted, strings.ToLower(name), limit)
		// "ls" is also similar to "container ls", but less so.
		if own := editdistance.Distance(wanted, strings.ToLower(lastWord(c)), limit); len(c.Path) > 1 && own+1 < d {
			d = own + 1
		}
		if d <= limit {
			found = append(found, candidate{name, d})
		}
	})
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(len(found), maxSuggestions)] {
		names = append(names, c.name)
	}
	return names
}

func quoted(s string) string { return strconv.Quote(s) }

// quotedList joins quoted names with "or".
func quotedList(names []string) string {
	var q []string
	for _, n := range names {
		q = append(q, quoted(n))
	}
	return joined(q, "or")
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + quotedList(names) + "?"
}

// listed joins the first most names of a list.
func listed(names []string, most int) string {
	if len(names) <= most {
		return joined(names, "and")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// joined joins words with commas, and the last one with a word such as "and".
func joined(words []string, last string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
