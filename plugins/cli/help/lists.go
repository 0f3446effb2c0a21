package help

import "strings"

// bulleted reads a list with a bullet before each name.
func (l *lister) bulleted() []*listedCommand {
	var all []*listedCommand
	l.column = l.descriptions()
	l.strict = false
	for i, ln := range l.lines {
		if l.at[i] {
			if c := l.entry(i); c != nil && l.usable(c) {
				all = append(all, c)
			} else {
				l.odd = append(l.odd, ln.body())
			}
		}
	}
	return all
}

// tagged reads the commands of a man page: a name and its arguments on a
// separate line above an indented description.
func (l *lister) tagged() []*listedCommand {
	base := -1
	var all []*listedCommand
	var cur *listedCommand
	for i, ln := range l.lines {
		if ln.blank() {
			continue
		}
		if base < 0 {
			base = ln.indent
		}
		switch {
		case ln.indent > base && cur != nil && len(cur.desc) == 0:
			cur.desc = []string{ln.body()}
		case ln.indent == base && !ln.dashed():
			cur = nil
			free := i == 0 || l.lines[i-1].blank() || len(all) > 0 && l.lines[i-1].indent == base
			if i+1 == len(l.lines) || l.lines[i+1].blank() || l.lines[i+1].indent < base || !free {
				continue
			}
			if next := l.entry(i); next != nil && len(next.words) == 1 && lowerForm.MatchString(next.words[0]) &&
				len(next.desc) == 0 {
				all, cur = append(all, next), next
			}
		}
	}
	return all
}

// unbullet removes the bullets of a list.
func (l *lister) unbullet() {
	bullets, all := 0, 0
	for _, ln := range l.lines {
		if !ln.blank() {
			all++
			if bulletAt(ln) > 0 {
				bullets++
			}
		}
	}
	if bullets*2 < all || bullets == 0 {
		return
	}
	out := make([]line, len(l.lines))
	l.at = make([]bool, len(l.lines))
	for i, ln := range l.lines {
		if n := bulletAt(ln); n > 0 {
			l.bullets, l.at[i] = true, true
			ln = newLine(ln.text[:ln.indent] + strings.Repeat(" ", n) + ln.body()[n:])
		}
		out[i] = ln
	}
	l.lines = out
}

// bulletAt returns the length of the bullet at the start of a line: "* name".
func bulletAt(ln line) int {
	b := ln.body()
	if len(b) > 2 && strings.IndexByte("*o+-", b[0]) >= 0 && b[1] == ' ' {
		return len(b) - len(strings.TrimLeft(b[1:], " "))
	}
	return 0
}

// commas reads names that are separated by commas, on one or more lines.
func (l *lister) commas() []*listedCommand {
	var text []string
	with, n := 0, 0
	for _, ln := range l.lines {
		if ln.blank() {
			if n > 0 {
				break
			}
			continue
		}
		n++
		if strings.Contains(ln.text, ",") {
			with++
		}
		text = append(text, ln.body())
	}
	if n == 0 || with*2 <= n-1 || with == 0 || n == 1 && strings.Count(text[0], ",") < 2 {
		return nil
	}
	var all []*listedCommand
	for part := range strings.SplitSeq(strings.Join(text, " "), ",") {
		if part = strings.Trim(part, " \t."); part == "" {
			continue
		}
		if strings.ContainsAny(part, " \t") {
			return nil
		}
		if nameForm.MatchString(part) {
			all = append(all, &listedCommand{words: []string{part}})
		}
	}
	return all
}

// grid reads names in columns without descriptions.
func (l *lister) grid() []*listedCommand {
	var all []*listedCommand
	wide := 0
	for _, ln := range l.lines {
		if ln.blank() {
			continue
		}
		cells := 0
		for at, rest := 0, ln.body(); rest != ""; cells++ {
			cell := rest
			if at, rest = cellEnd(rest); at >= 0 {
				cell = cell[:at]
			}
			if !nameForm.MatchString(cell) {
				return nil
			}
			all = append(all, &listedCommand{words: []string{cell}})
		}
		if cells > 2 {
			wide++
		}
	}
	if wide == 0 {
		return nil
	}
	return all
}

// cellEnd returns the end of the first cell of a row, or -1 for the last one,
// and the rest of the row.
func cellEnd(row string) (int, string) {
	start, end := gap(row, 0)
	if start < 0 {
		return -1, ""
	}
	return start, row[end:]
}
