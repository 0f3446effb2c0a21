package help

import "strings"

// An entry is a head, such as "-o, --output FILE", and its description. It is not changed once
// read.
type entry struct {
	head   string
	desc   []string // its lines
	indent int
	column int  // where the description begins; 0 if unknown
	at     int  // index of its line in the section
	whole  bool // head contains nothing but the head; see reader.whole
	broken bool // the description contains a blank line
}

func (e *entry) text() string { return strings.TrimSpace(strings.Join(e.desc, "\n")) }

// optionEntries returns the entries that begin with a dash, and the lines that
// look like such entries but cannot be parsed.
func optionEntries(lines []line, man bool) (found []*entry, odd []string) {
	lines = unfold(lettered(dashedBullets(lines)))
	common := column(lines)
	if man {
		common = beneath(lines)
	}
	var cur *entry
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l.blank():
			if cur != nil {
				cur.broken = true
			}
		case l.dashed() && (!cur.holds(l, common) || man && nested(lines, i)):
			next, used := begin(lines, i, common, man)
			if next == nil || prose(lines, i, cur, next) {
				if cur == nil || l.indent <= cur.indent {
					odd = append(odd, l.body())
				}
				continue
			}
			i += used
			found, cur = append(found, next.row()...), next
		case cur != nil && (cur.continues(l) || man && cur.level(l)):
			if cur.column == 0 && l.indent > cur.indent || len(cur.desc) == 0 {
				cur.column = l.indent
			}
			if cur.broken && len(cur.desc) > 0 {
				cur.desc = append(cur.desc, "")
			}
			cur.broken = false
			cur.desc = append(cur.desc, l.body())
		default:
			cur = nil
		}
	}
	return found, odd
}

// holds reports whether a line that begins with a dash is part of the
// description.
func (e *entry) holds(l line, common int) bool {
	if e == nil || l.indent <= e.indent || e.column == 0 || len(e.desc) == 0 || l.indent < e.column {
		return false
	}
	// In a table whose long spellings are indented, their descriptions share
	// the column of the other ones.
	_, end := specGap(l.text, l.indent)
	return end < 0 || end != common || l.indent >= common
}

// nested reports whether line i of a man page is the head of an option within
// the description of another option.
func nested(lines []line, i int) bool {
	return lines[i-1].blank() && i+1 < len(lines) && lines[i+1].indent > lines[i].indent && fits(lines[i].body())
}

// continues reports whether a line belongs to the description.
func (e *entry) continues(l line) bool {
	if l.indent == e.indent && e.column <= l.indent && !e.broken && !l.dashed() && l.indent == 0 {
		return true // name and description are both at the margin
	}
	if l.indent <= e.indent {
		return false
	}
	if len(e.desc) == 0 || l.indent >= e.column {
		return true
	}
	return !e.broken && l.indent > e.indent+1
}

// level reports whether a line with the same indentation as the head is its
// description, as in some man pages.
func (e *entry) level(l line) bool {
	return l.indent == e.indent && (len(e.desc) == 0 || e.column == e.indent)
}

// begin parses the entry at line i. It also returns how many further lines its
// head has: a head that ends with a comma continues on the next line.
func begin(lines []line, i, common int, man bool) (*entry, int) {
	l := lines[i]
	e := &entry{indent: l.indent, at: i, whole: true}
	text, used := l.text, 0
	for strings.HasSuffix(text, ",") && i+used+1 < len(lines) && lines[i+used+1].dashed() && used < 4 {
		if _, end := specGap(text, l.indent); end >= 0 {
			break
		}
		used++
		text += " " + lines[i+used].body()
	}
	start, end := specGap(text, l.indent)
	if man && end != common {
		end = -1 // justified text contains gaps
	}
	switch {
	case end >= 0:
		e.head, e.column = text[l.indent:start], end
		e.desc = []string{strings.TrimPrefix(text[end:], ": ")}
		e.typeColumn()
		if used > 0 {
			e.column = 0
		}
	case reaches(text, common, man) && i+1 < len(lines) && lines[i+1].indent == common:
		e.head = text[l.indent:]
	case several(text[l.indent:], man):
		e.head = text[l.indent:] // several spellings fill the line
	case common > 0 && len(text) > common && common > l.indent+1 && text[common-1] == ' ' &&
		strings.IndexByte("-<[{(", text[common]) < 0 && fits(text[l.indent:common-1]):
		e.head, e.column = text[l.indent:common-1], common
		e.desc = []string{text[common:]}
	default:
		e.head = text[l.indent:]
		if !e.split(common) {
			return nil, 0
		}
	}
	if _, _, ok := readSpec(e.head, e.whole); !ok {
		return nil, 0
	}
	return e, used
}

// typeColumn moves the placeholder of the value to the head if it is in a
// separate column between the spellings and the description.
func (e *entry) typeColumn() {
	start, end := gap(e.desc[0], 0)
	if start <= 0 {
		return
	}
	t := e.desc[0][:start]
	if bracketed := wrapped(t, '<', '>') || wrapped(t, '[', ']') && strings.Contains(t, "|"); !bracketed &&
		(!shouted(t) || len(strings.Fields(t)) > 2) {
		return
	}
	if sp, left, ok := readSpec(e.head+" "+t, true); !ok || left != "" || !sp.taken {
		return
	}
	e.head += " " + t
	e.column += end
	e.desc[0] = e.desc[0][end:]
}

// row splits an entry that lists several options without descriptions.
func (e *entry) row() []*entry {
	all := []*entry{e}
	for len(e.desc) == 0 && len(all) < 64 {
		last := all[len(all)-1]
		_, left, _ := readSpec(last.head, true)
		if len(left) < 2 || left[0] != '-' {
			break
		}
		if _, _, ok := readSpec(left, true); !ok {
			break
		}
		last.head = strings.TrimSpace(strings.TrimSuffix(last.head, left))
		all = append(all, &entry{head: left, indent: e.indent, at: e.at, whole: true})
	}
	return all
}

// reaches reports whether the text in the column of descriptions is the value
// of a spelling that fills the space before it.
func reaches(text string, common int, man bool) bool {
	if len(text) <= common || common == 0 || text[common-1] != ' ' {
		return false
	}
	rest := strings.Fields(text[common:])
	if len(rest) == 1 && typeWord(rest[0]) {
		return true // "-skip string" above its description
	}
	return man && len(rest) < 3 || len(rest) == 1 && (shouted(rest[0]) || strings.IndexByte("<[{", rest[0][0]) >= 0)
}

// typeWord reports whether w is a type as packages of Go print it behind a flag.
func typeWord(w string) bool {
	switch w {
	case "string", "int", "uint", "float", "duration", "value":
		return true
	}
	return false
}

// several reports whether a line consists of two spellings and their values. In
// a man page a value may be a plain word.
func several(text string, man bool) bool {
	if !strings.Contains(text, ", -") && !strings.Contains(text, " / -") {
		return false
	}
	if twins(text) {
		return true
	}
	_, left, ok := readSpec(text, man)
	return ok && left == ""
}

// twins reports whether a line consists of two spellings with the same value: "-o name,
// --output name".
func twins(text string) bool {
	short, long, _ := strings.Cut(text, ", ")
	a, b := strings.FieldsFunc(short, valueBegins), strings.FieldsFunc(long, valueBegins)
	return len(a) == 2 && len(b) == 2 && a[1] == b[1] && len(a[0]) == 2 && a[0][0] == '-' &&
		strings.HasPrefix(b[0], "--")
}

func valueBegins(r rune) bool { return r == ' ' || r == '=' }

// fits reports whether head is a complete head.
func fits(head string) bool {
	_, left, ok := readSpec(head, true)
	return ok && left == ""
}

// split separates the head from a description that follows a single space, a
// colon or a dash. It returns false if the line continues a sentence.
func (e *entry) split(common int) bool {
	for _, sep := range []string{" : ", " - ", ": ", " -- ", " => ", " = "} {
		if head, desc, ok := strings.Cut(e.head, sep); ok && fits(head) {
			e.head, e.desc, e.column = head, []string{desc}, common
			return true
		}
	}
	_, left, ok := readSpec(e.head, false)
	if !ok || left == "" {
		return true
	}
	if _, _, ok := readSpec(left, true); ok {
		return true // several in a row
	}
	words := len(strings.Fields(e.head))
	if words <= 3 && fits(e.head) && !description(left) {
		return true
	}
	if common == 0 && !description(left) {
		return false
	}
	e.head = strings.TrimSpace(strings.TrimSuffix(e.head, left))
	e.desc, e.column, e.whole = []string{strings.TrimLeft(left, ":,;.- ")}, common, false
	return true
}

// description reports whether s is a sentence and not a placeholder.
func description(s string) bool {
	w := strings.Fields(s)
	return len(w) > 1 && w[0][0] >= 'A' && w[0][0] <= 'Z' && !shouted(w[0])
}

// prose reports whether line i, which begins with a dash, continues a sentence.
func prose(lines []line, i int, cur, e *entry) bool {
	if i == 0 || lines[i-1].blank() || cur != nil || len(e.desc) > 0 && e.whole {
		return false
	}
	above := lines[i-1]
	if above.dashed() || strings.HasSuffix(above.text, ":") {
		return false
	}
	// The words above do not end a sentence, and there is no description below.
	below := i+1 < len(lines) && !lines[i+1].blank() && lines[i+1].indent > lines[i].indent
	return len(strings.Fields(above.body())) > 3 && !below
}
