package help

import "strings"

// column returns the column in which most descriptions begin, or 0 if no two of
// them share a column.
func column(lines []line) int {
	count := map[int]int{}
	best := 0
	for _, l := range lines {
		if !l.dashed() {
			continue
		}
		if _, end := specGap(l.text, l.indent); end > 0 {
			count[end]++
			if n := count[end]; n > count[best] || n == count[best] && end < best {
				best = end
			}
		}
	}
	if count[best] < 2 {
		return 0
	}
	return best
}

// beneath returns the column of most descriptions in a man page. They begin on
// a separate line unless the option is short.
func beneath(lines []line) int {
	count := map[int]int{}
	best, dash := 0, -1
	for _, l := range lines {
		switch {
		case l.dashed():
			dash = l.indent
		case dash >= 0 && l.indent > dash:
			count[l.indent]++
			if count[l.indent] > count[best] {
				best = l.indent
			}
			dash = -1
		}
	}
	return best
}

// dashedBullets removes bullets before options.
func dashedBullets(lines []line) []line {
	var out []line
	for i, l := range lines {
		n := 0
		if !l.blank() {
			n = bulletAt(l)
		}
		if n == 0 || n >= len(l.body()) || l.body()[n] != '-' || strings.HasPrefix(l.body(), "- ") {
			continue
		}
		if out == nil {
			out = append([]line(nil), lines...)
		}
		// The description is indented like the option.
		out[i] = newLine(l.text[:l.indent] + strings.TrimSuffix(l.body()[n:], ":"))
	}
	if out == nil {
		return lines
	}
	return out
}

// lettered removes the letter without a dash from "f, --forest".
func lettered(lines []line) []line {
	var out []line
	for i, l := range lines {
		if b := l.body(); !l.blank() && len(b) > 5 && letter(b[0]) && strings.HasPrefix(b[1:], ", --") {
			if out == nil {
				out = append([]line(nil), lines...)
			}
			out[i] = newLine(l.text[:l.indent] + "   " + b[3:])
		}
	}
	if out == nil {
		return lines
	}
	return out
}

// specGap returns the gap between head and description. It skips a gap before
// another spelling, as in "-o   --output FILE".
func specGap(text string, from int) (start, end int) {
	for {
		start, end = gap(text, from)
		if start < 0 {
			return -1, -1
		}
		rest := text[end:]
		if dots := strings.TrimLeft(rest, "."); dots != rest {
			rest = strings.TrimLeft(dots, " ")
		}
		if strings.HasPrefix(rest, "or ") || strings.HasPrefix(rest, "| ") {
			rest = strings.TrimLeft(rest[2:], " \t")
		}
		if len(rest) < 2 || rest[0] != '-' || !letter(rest[1]) && rest[1] != '-' || strings.HasPrefix(rest, "---") {
			return start, end
		}
		// The value may be a plain word: "-i,  --indent uint  the indentation".
		if next, _ := gap(rest, 0); next > 0 && text[start-1] == ',' && fits(rest[:next]) {
			from = end
			continue
		}
		if sp, left, ok := readSpec(rest, false); !ok || left != "" && !leftGap(rest, left) || len(sp.names) == 0 {
			return start, end
		}
		from = end
	}
}

// leftGap reports whether a gap precedes left, the end of s.
func leftGap(s, left string) bool {
	before := s[:len(s)-len(left)]
	return strings.HasSuffix(before, "  ") || strings.HasSuffix(before, "\t")
}

// unfold splits the lines of a table with several options side by side.
func unfold(lines []line) []line {
	count := map[int]int{}
	for _, l := range lines {
		if l.dashed() {
			for at := second(l.text, l.indent); at > 0; at = second(l.text, at) {
				count[at]++
			}
		}
	}
	side := 0
	for at, n := range count {
		if n >= 3 && (n > count[side] || n == count[side] && at < side) {
			side = at
		}
	}
	if side == 0 {
		return lines
	}
	out := make([]line, 0, len(lines)+count[side])
	var right []line
	for _, l := range lines {
		if l.dashed() && (second(l.text, l.indent) == side || beside(l.text, side)) {
			out = append(out, newLine(l.text[:side]))
			right = append(right, newLine(strings.Repeat(" ", l.indent)+l.text[side:]))
			continue
		}
		out = append(append(out, right...), l)
		right = nil
	}
	return append(out, right...)
}

// beside reports whether an option begins at column at, even if only one space
// precedes it.
func beside(text string, at int) bool {
	if len(text) < at+4 || text[at] != '-' || text[at-1] != ' ' || !letter(text[at+1]) {
		return false
	}
	start, _ := gap(text, at)
	return start > 0 && start <= at+4
}

// second returns the column of an option that follows a description in the same
// line: a gap, a spelling and another gap. It returns 0 if there is none.
func second(text string, from int) int {
	_, end := specGap(text, from)
	for end > 0 {
		_, next := gap(text, end)
		if next < 0 {
			return 0
		}
		rest := text[next:]
		if len(rest) > 2 && rest[0] == '-' && letter(rest[1]) {
			if word, _, _ := strings.Cut(rest, " "); len(word) <= 3 {
				return next
			}
		}
		end = next
	}
	return 0
}
