package schema

import "strings"

// didYouMean is "; did you mean …?" when one of the candidates is near.
func didYouMean(name string, candidates []string) string {
	if best := nearest(name, candidates); best != "" {
		return "; did you mean " + quoteName(best) + "?"
	}
	return ""
}

// nearest returns the candidate that differs least, the first of equals, or ""
// when none is near. Case and separators do not count: perPage is per_page.
func nearest(name string, candidates []string) string {
	const longest, most = 64, 1000
	if len(name) > longest || len(candidates) > most {
		return ""
	}
	name = fold(name)
	best, least := "", len(name)/3+1
	for _, c := range candidates {
		if len(c) > longest {
			continue
		}
		if d := distance(name, fold(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

var folder = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

func fold(s string) string { return folder.Replace(strings.ToLower(s)) }

// distance counts the bytes to insert, remove, replace or swap (neighbours).
func distance(a, b string) int {
	two, before, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		two, before, row = before, row, two
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
