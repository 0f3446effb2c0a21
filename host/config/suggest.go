package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// nearest returns the candidate that name was most likely meant to be, or "".
func nearest(name string, candidates []string) string {
	const longest = 64 // the distance costs time in the product of the lengths
	if len(name) > longest {
		return ""
	}
	best, found := 2+len(name)/3, ""
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(c), nil)
		if d < best && d < len(c) {
			best, found = d, c
		}
	}
	return found
}

// nearHint is the hint for a name that is close to a known one.
func nearHint(name string, candidates []string) string {
	if near := nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// didYouMean is nearHint or, where nothing is near, all that is known, unless
// that is too much to read.
func didYouMean(name string, candidates []string) string {
	if hint := nearHint(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 || len(candidates) > 16 {
		return ""
	}
	return "known here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}
