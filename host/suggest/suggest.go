// Package suggest finds the name that a mistyped one was probably meant to be.
// It is the only place of the host that compares names by their likeness, so
// that every "did you mean" follows one rule.
package suggest

import (
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

const (
	// maxName bounds the names that are compared, in bytes: the comparison takes
	// time in the product of the lengths.
	maxName = 128
	// maxCandidates bounds how many names one is compared with.
	maxCandidates = 10_000
	// lettersPerTypo says how far a suggestion may be: one typo for each so many
	// letters of the longer name, and none between shorter ones.
	lettersPerTypo = 3
)

// Nearest returns the candidate that differs from name by the fewest typos, the
// first of equals, or "" if none is near enough. A typo is a letter too many, a
// missing one, another one, or two neighbours swapped. Case and separators do
// not count: perPage is per_page.
func Nearest(name string, candidates []string) string {
	folded := fold(name)
	if folded == "" || len(name) > maxName {
		return ""
	}
	best, least := "", maxName
	for _, c := range candidates[:min(len(candidates), maxCandidates)] {
		if c == "" || len(c) > maxName {
			continue
		}
		other := fold(c)
		limit := max(utf8.RuneCountInString(folded), utf8.RuneCountInString(other)) / lettersPerTypo
		if d := typos(folded, other, min(limit, least-1)); d <= limit && d < least {
			best, least = c, d
		}
		if least == 0 {
			break
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// fold leaves of a name what has to agree.
func fold(s string) string { return separators.Replace(strings.ToLower(s)) }

// typos counts the typos between two names. Above limit it returns any number
// that is larger.
func typos(a, b string, limit int) int {
	letters := []rune(a)
	if longer := len(letters) - utf8.RuneCountInString(b); longer > limit || -longer > limit {
		return limit + 1
	}
	d := levenshtein.Distance(a, b, nil)
	if d < 2 || d > limit+1 {
		return d
	}
	// The library counts two neighbours that changed places as two typos, so one
	// such pair makes it count one too many.
	for i := range len(letters) - 1 {
		letters[i], letters[i+1] = letters[i+1], letters[i]
		d = min(d, 1+levenshtein.Distance(string(letters), b, nil))
		letters[i], letters[i+1] = letters[i+1], letters[i]
	}
	return d
}
