package help

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxText  = 4 << 20 // bytes of a text that are read
	maxLines = 100_000
	maxLine  = 16 << 10 // bytes of a line that are read
	tabStop  = 8
)

// A line is one line of the text without control sequences. A TAB is kept and
// followed by spaces up to its stop, so that columns can be counted and TABs
// recognised.
type line struct {
	text   string // without trailing white space; empty for a blank line
	indent int    // the column of the first character
}

func (l line) blank() bool  { return l.text == "" }
func (l line) body() string { return l.text[l.indent:] }

// dashed reports whether the line begins like an option.
func (l line) dashed() bool {
	b := l.body()
	return len(b) > 1 && b[0] == '-' && b[1] != ' ' && b[1] != '\t' && strings.Trim(b, "-= ") != ""
}

// clean splits a text into lines and removes everything that a terminal would
// not show. Parse calls it first.
func clean(text string) []line {
	if len(text) > maxText {
		text = text[:maxText]
	}
	var lines []line
	for raw := range strings.SplitSeq(text, "\n") {
		if len(lines) == maxLines {
			break
		}
		if len(raw) > maxLine {
			raw = raw[:maxLine]
		}
		lines = append(lines, newLine(undotted(expand(unframed(printed(raw))))))
	}
	return lines
}

func newLine(text string) line {
	text = strings.TrimRight(text, " \t")
	return line{text: text, indent: len(text) - len(strings.TrimLeft(text, " \t"))}
}

// undotted replaces the dots between a name and its description by spaces.
func undotted(s string) string {
	const leader = " ...."
	at := strings.Index(s, leader)
	if at < 0 {
		return s
	}
	end := at + 1
	for end < len(s) && s[end] == '.' {
		end++
	}
	if end == len(s) || s[end] != ' ' {
		return s
	}
	return s[:at] + strings.Repeat(" ", end-at) + s[end:]
}

// unframed removes a box that is isBoxDrawing around a section. The upper edge becomes
// a heading, the lower edge a blank line. So does a title between two rules.
func unframed(s string) string {
	t := strings.TrimSpace(s)
	first, n := utf8.DecodeRuneInString(t)
	if title := betweenRules(t); title != "" {
		return title + ":"
	}
	if first < 0x2500 || first > 0x257f {
		return s
	}
	inner := strings.TrimRightFunc(t[n:], isBoxDrawing)
	if first == '│' || first == '┃' || first == '║' {
		return " " + inner
	}
	if title := strings.TrimSpace(strings.TrimFunc(inner, isBoxDrawing)); title != "" {
		return title + ":"
	}
	return ""
}

// betweenRules returns the title of a heading such as "---- Options ----".
func betweenRules(t string) string {
	first := firstWord(t)
	if !ruled(t) || len(first) == len(t) || !strings.HasSuffix(t, " "+first) {
		return ""
	}
	title := strings.TrimSpace(strings.Trim(t, t[:1]))
	if title == "" || !letter(title[0]) || strings.Contains(title, "  ") || strings.HasSuffix(title, ":") {
		return ""
	}
	return title
}

// isBoxDrawing reports whether r is part of a box or a space.
func isBoxDrawing(r rune) bool { return r >= 0x2500 && r <= 0x257f || r == ' ' }

// printed returns the visible characters. It removes escape sequences, keeps
// the last character of overstriking (man pages for printers), and replaces
// typographic characters.
func printed(s string) string {
	if !strings.ContainsFunc(s, special) {
		return s
	}
	s = strings.ToValidUTF8(s, "?")
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == 0x1b:
			i += escape(s[i:])
		case c == '\b':
			_, n := utf8.DecodeLastRune(out)
			if n > 0 && len(out) > 0 {
				out = out[:len(out)-n]
			}
			i++
		case c == '\t' || c >= ' ' && c < utf8.RuneSelf && c != 0x7f:
			out = append(out, c)
			i++
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			out = append(out, plain(r)...)
			i += n
		}
	}
	return string(out)
}

func special(r rune) bool { return r < ' ' && r != '\t' || r > '~' }

// plain returns the ASCII equivalent of a typographic character. It never
// changes the number of characters, except for invisible ones, so that columns
// stay aligned.
func plain(r rune) string {
	switch r {
	case '\u2010', '\u2011', '\u2212': // the hyphens of rendered man pages
		return "-"
	case '\u2018', '\u2019', '\u201b', '\u00b4':
		return "'"
	case '\u201c', '\u201d':
		return `"`
	case '\u2022', '\u00b7', '\u25cf', '\u25e6', '\u25cb':
		return "*"
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\ufeff':
		return ""
	}
	if unicode.IsSpace(r) {
		return " "
	}
	return string(r)
}

// escape returns the length of the escape sequence at the start of s.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // parameters, then one final byte
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^': // a string up to BEL or ST
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	case '(', ')', '#', ' ':
		return min(3, len(s))
	}
	return 2
}

// expand adds spaces after each TAB up to its stop.
func expand(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	col := 0
	for _, r := range s {
		b.WriteRune(r)
		col++
		for r == '\t' && col%tabStop != 0 {
			b.WriteByte(' ')
			col++
		}
	}
	return b.String()
}

// gap returns the first gap in s at or after from, which is a TAB or two
// spaces: its start, and where the text continues. It returns -1, -1 if there
// is none.
func gap(s string, from int) (start, end int) {
	for i := from; i < len(s); i++ {
		if s[i] != '\t' && !(s[i] == ' ' && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t')) {
			continue
		}
		end = i
		for end < len(s) && (s[end] == ' ' || s[end] == '\t') {
			end++
		}
		if end < len(s) {
			return i, end
		}
	}
	return -1, -1
}
