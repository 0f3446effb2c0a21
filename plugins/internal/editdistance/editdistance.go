// Package editdistance counts the typing errors between two names.
package editdistance

import "github.com/agext/levenshtein"

// Distance returns the number of typing errors that turn a into b. An error is
// one letter that was added, left out or replaced, or two neighbouring letters
// that were swapped. If the number is above limit, Distance may return any other
// number above limit.
func Distance(a, b string, limit int) int {
	d, swaps := levenshtein.Distance(a, b, nil), 0
	if (d+1)/2 > limit {
		return d // even if every error is half of a swap
	}
	letters := []rune(a)
	// The library counts two swapped neighbours as up to two errors. A swap is undone
	// if that does not raise the total, because it may make further swaps visible.
	for i := 0; i+1 < len(letters) && d > 1; i++ {
		letters[i], letters[i+1] = letters[i+1], letters[i]
		if undone := levenshtein.Distance(string(letters), b, nil); undone+1 <= d {
			d, swaps = undone, swaps+1
			i++ // a letter takes part in one swap only
		} else {
			letters[i], letters[i+1] = letters[i+1], letters[i]
		}
	}
	return d + swaps
}
