// Package suggest finds the known name that is nearest to a mistyped one. All
// "did you mean" hints of the host use it, so they follow one rule.
package suggest

import (
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

const (
	// maxName is the longest name that is compared, in bytes. The time of a
	// comparison grows with the product of both lengths.
	maxName = 128
	// maxCandidates is the number of candidates that are compared with a name.
	maxCandidates = 10_000
	// lettersPerTypo limits the distance of a suggestion: one typo per three
	// letters of the longer name.
	lettersPerTypo = 3
)

// Nearest returns the candidate with the fewest typos relative to name, or "" if
// no candidate is near enough. The first of several equal candidates wins. A typo
// is an extra letter, a missing letter, a wrong letter, or two adjacent letters
// swapped. Case and separators are ignored: perPage equals per_page.
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

// fold returns s in lower case and without separators.
func fold(s string) string { return separators.Replace(strings.ToLower(s)) }

// typos returns the number of typos between a and b. If it exceeds limit, the
// result is any number greater than limit.
func typos(a, b string, limit int) int {
	letters := []rune(a)
	if longer := len(letters) - utf8.RuneCountInString(b); longer > limit || -longer > limit {
		return limit + 1
	}
	d := levenshtein.Distance(a, b, nil)
	if d < 2 || d > limit+1 {
		return d
	}
	// The library counts a swap of adjacent letters as two typos. Undo each
	// possible swap in turn and count it as one.
	for i := range len(letters) - 1 {
		letters[i], letters[i+1] = letters[i+1], letters[i]
		d = min(d, 1+levenshtein.Distance(string(letters), b, nil))
		letters[i], letters[i+1] = letters[i+1], letters[i]
	}
	return d
}
