package help

import (
	"regexp"
	"strings"
)

const maxCommands = 2000

var (
	// Two dots in a row are an ellipsis and not part of a name.
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9](?:\.?[A-Za-z0-9_:+@-])*\.?$`)
	lowerForm = regexp.MustCompile(`^[a-z0-9](?:\.?[a-z0-9_:+@-])*\.?$`)
	pageForm  = regexp.MustCompile(`^([a-z][a-z0-9-]*)\([1-9]\)(:?(?:[ \t,/|].*)?)$`)
	aliasNote = regexp.MustCompile(`[\[(]alias(?:es)?: ([^\])]*)[\])]`)
	aliasLine = regexp.MustCompile(`^(?i:alias(?:es)?): ([a-z][a-z0-9_:-]*(?:, *[a-z][a-z0-9_:-]*)*)$`)
	aliasOf   = regexp.MustCompile(`(?i)^(?:an )?alias(?:es)?(?: of| for|:) ['"` + "`" + `]?([a-z][a-z0-9-]*)['"` +
		"`" + `]?\.?$`)
)

// A listedCommand is one entry of a list of commands.
type listedCommand struct {
	words   []string // several words if the list shows the full path
	aliases []string
	desc    []string
	indent  int
	named   bool   // a description or arguments are on the same line
	below   bool   // the description is on the following lines
	usage   string // the name and its arguments
}

// A lister reads one section as a list of commands.
type lister struct {
	program string
	path    []string
	strict  bool // the heading does not say that these are commands
	man     bool // the text is a man page: names are on separate lines above their descriptions
	lines   []line
	bullets bool   // bullets precede the names
	at      []bool // for each line, whether it had a bullet
	column  int
	odd     []string
}

// read returns the commands of the section, or nil if it is not a list.
func (l *lister) read() []*listedCommand {
	l.lines = block(l.lines)
	l.unbullet()
	if all := l.commas(); all != nil {
		return all
	}
	if all := l.grid(); all != nil {
		return all
	}
	switch {
	case l.bullets:
		return l.bulleted()
	case l.man && l.strict:
		return nil
	case l.man:
		return l.tagged()
	}
	return l.rows()
}

// rows reads a list with one command per line and its description beside or
// below it.
func (l *lister) rows() []*listedCommand {
	l.column = l.descriptions()
	var all []*listedCommand
	var cur *listedCommand
	bad, broken, dash := 0, false, -1
	for i, ln := range l.lines {
		if ln.blank() {
			broken = true
			continue
		}
		if ln.dashed() {
			cur, broken, dash = nil, false, ln.indent
			if ruledGroup(ln) {
				dash = -1
			}
			continue
		}
		if dash >= 0 && ln.indent > dash {
			continue // the description of an option
		}
		dash = -1
		if l.label(i) {
			cur, broken = nil, false
			continue
		}
		deeper := cur != nil && ln.indent > cur.indent
		next := l.entry(i)
		if next != nil && deeper && (!next.named || cur.below || l.column > 0 && ln.indent >= l.column) {
			next = nil
		}
		switch {
		case next != nil && l.usable(next):
			all, cur = append(all, next), next
		case deeper:
			if !broken || len(cur.desc) == 0 {
				cur.below = cur.below || len(cur.desc) == 0
				cur.desc = append(cur.desc, ln.body())
			}
			continue
		default:
			cur = nil
			if bad++; ln.body()[0] != '{' {
				l.odd = append(l.odd, ln.body())
			}
		}
		broken = false
	}
	if l.strict && (bad > 0 || len(all) < 2 && l.column == 0) || bad > 2*len(all) {
		return nil
	}
	return all
}

// block cuts off a section where a line is indented less than the first one.
// The rest is text about the list.
func block(lines []line) []line {
	base := -1
	for i, ln := range lines {
		switch {
		case ln.blank():
		case base < 0:
			base = ln.indent
		case ln.indent < base && (ln.indent == 0 || ln.indent < base-2):
			return lines[:i]
		}
	}
	return lines
}

// ruledGroup reports whether a line names a group of commands after two dashes:
// "-- Indexing".
func ruledGroup(ln line) bool {
	name, ok := strings.CutPrefix(ln.body(), "-- ")
	return ok && name != "" && longestRun(name) <= 3
}

// label reports whether line i is a heading within the list: a word with a
// colon above indented names with descriptions.
func (l *lister) label(i int) bool {
	ln := l.lines[i]
	if !strings.HasSuffix(ln.text, ":") || i+1 == len(l.lines) || l.lines[i+1].indent <= ln.indent {
		return false
	}
	start, _ := gap(l.lines[i+1].body(), 0)
	return start > 0
}

// usable reports whether an entry has a valid command name.
func (l *lister) usable(c *listedCommand) bool {
	form := nameForm
	if l.strict {
		form = lowerForm
	}
	for _, w := range c.words {
		if hasWord(strings.ToLower(w), []string{"example", "examples", "note"}) && w[0] <= 'Z' ||
			!form.MatchString(w) || len(w) > 48 || integer(w) || strings.HasSuffix(w, ".") {
			return false
		}
	}
	if l.strict {
		return c.named && len(c.desc) > 0
	}
	return c.named || len(c.words) == 1 && lowerForm.MatchString(c.words[0])
}

// descriptions returns the column in which most descriptions begin, or 0.
func (l *lister) descriptions() int {
	count := map[int]int{}
	best := 0
	for _, ln := range l.lines {
		if ln.blank() || ln.dashed() {
			continue
		}
		if _, end := gap(ln.text, ln.indent); end > 0 {
			count[end]++
			if count[end] > count[best] || count[end] == count[best] && end < best {
				best = end
			}
		}
	}
	return best
}

// entry parses line i as "NAME, ALIAS ARGS  DESC". It returns nil if the line
// is something else.
func (l *lister) entry(i int) *listedCommand {
	ln := l.lines[i]
	body := strings.TrimSpace(l.unprefixed(ln.body()))
	called := len(body) < len(ln.body())
	shift := len(ln.body()) - len(body)
	head, desc, beside := body, "", false
	if !l.man {
		head, desc, beside = l.parts(body, ln.indent+shift)
	}
	c := &listedCommand{indent: ln.indent, named: desc != ""}
	if desc != "" {
		c.desc = []string{desc}
	}
	words := strings.Fields(head)
	// In "run (r)" the parentheses hold an alias.
	if len(words) > 1 && strings.HasPrefix(words[1], "(") && strings.HasSuffix(head, ")") && desc+head != "" {
		for _, a := range strings.Fields(strings.Trim(strings.Join(words[1:], " "), "()")) {
			if a = strings.Trim(a, ","); lowerForm.MatchString(a) {
				c.aliases = append(c.aliases, a)
			}
		}
		words = words[:1]
	}
	for len(words) > 0 {
		w := words[0]
		more := strings.HasSuffix(w, ",")
		names := strings.FieldsFunc(strings.TrimSuffix(strings.TrimRight(w, ",:"), "*"),
			func(r rune) bool { return r == '|' || r == ',' || r == '/' })
		if len(names) == 0 || !nameForm.MatchString(names[0]) {
			break
		}
		if len(c.words) == 0 {
			c.words, c.aliases = names[:1], append(c.aliases, names[1:]...)
		} else {
			c.aliases = append(c.aliases, names...)
		}
		words = words[1:]
		if len(words) > 1 && words[0] == "|" {
			words, more = words[1:], true
		}
		if !more {
			break
		}
	}
	if len(c.words) == 0 || called && desc == "" && !l.man && !l.explainedBelow(i) {
		return nil // an example call of the program
	}
	c.usage = head
	below := plainWords(words) < 4 && l.explainedBelow(i)
	c.named = c.named || below
	return l.operands(c, words, desc, beside || below)
}

// plainWords returns the number of words that are neither options nor
// placeholders.
func plainWords(words []string) int {
	n := 0
	for _, w := range words {
		if letter(w[0]) {
			n++
		}
	}
	return n
}

// explainedBelow reports whether the lines below line i are its description, perhaps
// behind other names at the same indentation.
func (l *lister) explainedBelow(i int) bool {
	if l.man || l.strict {
		return false
	}
	for next := i + 1; next < len(l.lines) && next < i+4 && !l.lines[next].blank(); next++ {
		if l.lines[next].indent != l.lines[i].indent {
			return l.lines[next].indent > l.lines[i].indent
		}
	}
	return false
}

// operands checks the words between a name and its description. It returns nil
// if they are a sentence.
func (l *lister) operands(c *listedCommand, words []string, desc string, beside bool) *listedCommand {
	for i, w := range words {
		switch {
		case strings.IndexByte("<[{(|.-", w[0]) >= 0, shouted(w), strings.HasSuffix(w, "..."),
			strings.ContainsAny(w, "<|=>]})"):
			c.named = true
		case !beside:
			return nil // a sentence
		case lowerForm.MatchString(strings.TrimSuffix(w, ",")) && i == len(c.words)-1 && i < 2:
			c.words = append(c.words, w)
		case len(words) > 4:
			return nil
		}
	}
	return c
}

// unprefixed removes the program and its path from the start of an entry.
func (l *lister) unprefixed(body string) string {
	if rest, ok := strings.CutPrefix(body, strings.Join(l.path, " ")+" "); ok && len(l.path) > 0 && rest != "" &&
		letter(rest[0]) {
		body = rest // kingpin: "check config FILE"
	}
	for _, prefix := range append([]string{l.program}, l.path...) {
		rest, ok := strings.CutPrefix(body, prefix+" ")
		if !ok || prefix == "" {
			break
		}
		body = strings.TrimLeft(rest, " ")
	}
	// "git-add(1)" is the man page of "git add".
	if page := pageForm.FindStringSubmatch(body); page != nil {
		for _, prefix := range append([]string{l.program}, l.path...) {
			page[1] = strings.TrimPrefix(page[1], prefix+"-")
		}
		return page[1] + page[2]
	}
	return body
}

// parts splits a line into the name with its arguments and the description.
// beside reports whether a gap separates them.
func (l *lister) parts(body string, indent int) (head, desc string, beside bool) {
	if start, end := gap(body, 0); start >= 0 {
		// "list UNIT...  List units" may have a gap before its arguments.
		for start >= 0 && end < len(body) && strings.IndexByte("<[", body[end]) >= 0 && indent+end != l.column {
			next, stop := gap(body, end)
			if next < 0 {
				break
			}
			start, end = next, stop
		}
		return strings.TrimSuffix(body[:start], " -"), strings.TrimPrefix(strings.TrimPrefix(body[end:], "- "),
			": "), true
	}
	for _, sep := range []string{" - ", ": ", " -- ", " : "} {
		if head, desc, ok := strings.Cut(body, sep); ok && len(strings.Fields(head)) <= 4 {
			return head, strings.TrimSpace(desc), false
		}
	}
	// After a name that is longer than its column, a single space precedes the
	// description.
	if c := l.column - indent; c > 0 && len(body) >= c {
		for at := c - 1; at < len(body); at++ {
			if body[at] == ' ' {
				if strings.IndexByte("<[{(", body[at+1]) >= 0 ||
					strings.Count(body[:at], "[") != strings.Count(body[:at], "]") {
					continue
				}
				return body[:at], strings.TrimSpace(body[at:]), false
			}
		}
	}
	return body, "", false
}
