package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/internal/editdistance"
)

// maxSuggestions bounds the names in a suggestion.
const maxSuggestions = 3

// Suggest returns the hint for a pattern that matches no command below root.
func Suggest(root *model.Command, pattern string) string {
	if near := similarCommands(root, pattern); len(near) > 0 {
		return "did you mean " + quotedList(near) + "?"
	}
	return "check the spelling, or remove it; junctor wrap lists the commands"
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
