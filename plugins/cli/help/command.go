package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const maxCommands = 2000

var (
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:+@-]*$`)
	lowerForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.:+@-]*$`)
	pageForm  = regexp.MustCompile(`^([a-z][a-z0-9-]*)\([1-9]\)(.*)$`)
	aliasNote = regexp.MustCompile(`[\[(]alias(?:es)?: ([^\])]*)[\])]`)
	aliasLine = regexp.MustCompile(`^(?i:alias(?:es)?): ([a-z][a-z0-9_:-]*(?:, *[a-z][a-z0-9_:-]*)*)$`)
	aliasOf   = regexp.MustCompile(`(?i)^(?:an )?alias(?:es)?(?: of| for|:) ['"` + "`" + `]?([a-z][a-z0-9-]*)['"` + "`" + `]?\.?$`)
)

// A listed is one command of a list.
type listedCommand struct {
	words   []string // several where the list names the whole path
	aliases []string
	desc    []string
	indent  int
	named   bool // a description or arguments were beside it
}

// A lister reads one section as a list of commands.
type lister struct {
	program string
	path    []string
	strict  bool // the heading does not say that these are commands
	man     bool // a man page: names stand alone above their descriptions
	lines   []line
	bullets bool   // names have bullets before them
	at      []bool // the lines that had one
	column  int
	odd     []string
}

// read gives the commands of the section; none where it rather is no list.
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
		if next != nil && deeper && (!next.named || l.column > 0 && ln.indent >= l.column) {
			next = nil
		}
		switch {
		case next != nil && l.usable(next):
			all, cur = append(all, next), next
		case deeper:
			if !broken || len(cur.desc) == 0 {
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

// bulleted reads a list in which a bullet stands before each name.
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

// tagged reads the commands of a man page: a name and its arguments, alone in
// a line, above a description that stands further in.
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
			if next := l.entry(i); next != nil && len(next.words) == 1 && lowerForm.MatchString(next.words[0]) && len(next.desc) == 0 {
				all, cur = append(all, next), next
			}
		}
	}
	return all
}

// block cuts a section where it goes back to the left of its first line: what
// follows is said about the list.
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

// label says whether line i is the heading of a part of the list: a word with a
// colon, and names with descriptions further in.
func (l *lister) label(i int) bool {
	ln := l.lines[i]
	if !strings.HasSuffix(ln.text, ":") || i+1 == len(l.lines) || l.lines[i+1].indent <= ln.indent {
		return false
	}
	start, _ := gap(l.lines[i+1].body(), 0)
	return start > 0
}

// usable says whether an entry's name is one that a command has.
func (l *lister) usable(c *listedCommand) bool {
	form := nameForm
	if l.strict {
		form = lowerForm
	}
	for _, w := range c.words {
		if !form.MatchString(w) || len(w) > 48 || integer(w) || strings.HasSuffix(w, ".") {
			return false
		}
	}
	if l.strict {
		return c.named && len(c.desc) > 0
	}
	return c.named || len(c.words) == 1 && lowerForm.MatchString(c.words[0])
}

// unbullet takes off the bullets of a list that has them.
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

// bulletAt is the length of the bullet that begins a line: "* name".
func bulletAt(ln line) int {
	b := ln.body()
	if len(b) > 2 && strings.IndexByte("*o+-", b[0]) >= 0 && b[1] == ' ' {
		return len(b) - len(strings.TrimLeft(b[1:], " "))
	}
	return 0
}

// commas reads names with commas between them, over several lines.
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

// cellEnd cuts the first cell of a row and gives where it ends, -1 for the
// last one, and what follows.
func cellEnd(row string) (int, string) {
	start, end := gap(row, 0)
	if start < 0 {
		return -1, ""
	}
	return start, row[end:]
}

// descriptions is the column in which most descriptions begin.
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

// entry reads line i as "NAME, ALIAS ARGS  DESC"; nil where it is not that.
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
	// "run (r)" has another spelling in parentheses.
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
		names := strings.FieldsFunc(strings.TrimSuffix(strings.TrimRight(w, ",:"), "*"), func(r rune) bool { return r == '|' || r == ',' || r == '/' })
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
	if len(c.words) == 0 || called && desc == "" && !l.man {
		return nil // a call of the program stands as an example
	}
	return l.operands(c, words, desc, beside)
}

// operands judges what stands between a name and its description.
func (l *lister) operands(c *listedCommand, words []string, desc string, beside bool) *listedCommand {
	for i, w := range words {
		switch {
		case strings.IndexByte("<[{(|.-", w[0]) >= 0, shouted(w), strings.HasSuffix(w, "..."), strings.ContainsAny(w, "<|=>]})"):
			c.named = true
		case desc == "" || !beside:
			return nil // a sentence
		case lowerForm.MatchString(strings.TrimSuffix(w, ",")) && i == len(c.words)-1 && i < 2:
			c.words = append(c.words, w)
		case len(words) > 4:
			return nil
		}
	}
	return c
}

// unprefixed takes off the program and its path where a list repeats them.
func (l *lister) unprefixed(body string) string {
	for _, prefix := range append([]string{l.program}, l.path...) {
		rest, ok := strings.CutPrefix(body, prefix+" ")
		if !ok || prefix == "" {
			break
		}
		body = strings.TrimLeft(rest, " ")
	}
	// "git-add(1)" is the page of "git add".
	if page := pageForm.FindStringSubmatch(body); page != nil {
		for _, prefix := range append([]string{l.program}, l.path...) {
			page[1] = strings.TrimPrefix(page[1], prefix+"-")
		}
		return page[1] + page[2]
	}
	return body
}

// parts cuts a line into what is called and what is said about it, and says
// whether the two stand in columns beside each other.
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
		return strings.TrimSuffix(body[:start], " -"), strings.TrimPrefix(strings.TrimPrefix(body[end:], "- "), ": "), true
	}
	for _, sep := range []string{" - ", ": ", " -- ", " : "} {
		if head, desc, ok := strings.Cut(body, sep); ok && len(strings.Fields(head)) <= 4 {
			return head, strings.TrimSpace(desc), false
		}
	}
	// A name that is longer than its column pushes the description by one space.
	if c := l.column - indent; c > 0 && len(body) >= c {
		for at := c - 1; at < len(body); at++ {
			if body[at] == ' ' {
				if strings.IndexByte("<[{(", body[at+1]) >= 0 || strings.Count(body[:at], "[") != strings.Count(body[:at], "]") {
					continue
				}
				return body[:at], strings.TrimSpace(body[at:]), false
			}
		}
	}
	return body, "", false
}

// A commandTree collects commands, each once.
type commandTree struct {
	path   []string
	all    []*model.Command
	byName map[string]*model.Command
}

func (t *commandTree) add(c *listedCommand, group bool) {
	name := c.words[0]
	path := append(slices.Clone(t.path), name)
	summary, aliases := summarise(c)
	have := t.byName[name]
	if have == nil {
		if len(t.all) == maxCommands {
			return
		}
		have = &model.Command{Path: path, Runnable: true}
		t.all, t.byName[name] = append(t.all, have), have
	}
	if group && len(c.words) > 1 {
		t.nest(have, c, summary, aliases)
		return
	}
	if have.Summary == "" {
		have.Summary = summary
	}
	for _, a := range aliases {
		if a != name && !slices.Contains(have.Aliases, a) {
			have.Aliases = append(have.Aliases, a)
		}
	}
}

// nest puts a command that was listed with its whole path below its group.
func (t *commandTree) nest(parent *model.Command, c *listedCommand, summary string, aliases []string) {
	name := c.words[1]
	for _, k := range parent.Commands {
		if k.Path[len(k.Path)-1] == name {
			return
		}
	}
	if parent.Summary == "" {
		parent.Runnable = false
	}
	parent.Commands = append(parent.Commands, &model.Command{Path: append(slices.Clone(parent.Path), name), Summary: summary, Aliases: aliases, Runnable: true})
}

// summarise makes one line of a description, and reads the aliases in it.
func summarise(c *listedCommand) (string, []string) {
	s := strings.Join(strings.Fields(strings.Join(c.desc, " ")), " ")
	aliases := slices.Clone(c.aliases)
	if m := aliasNote.FindStringSubmatchIndex(s); m != nil {
		for a := range strings.FieldsFuncSeq(s[m[2]:m[3]], func(r rune) bool { return r == ',' || r == ' ' }) {
			if nameForm.MatchString(a) {
				aliases = append(aliases, a)
			}
		}
		s = strings.TrimSpace(s[:m[0]] + s[m[1]:])
	}
	if len(s) > 300 {
		s = strings.TrimSpace(s[:300])
	}
	return strings.ToValidUTF8(s, ""), aliases
}

// alias says whether a command has name as another spelling.
func (t *commandTree) alias(name string) bool {
	return slices.ContainsFunc(t.all, func(c *model.Command) bool { return slices.Contains(c.Aliases, name) })
}

// adopt makes "b  alias: build" another spelling of build.
func (t *commandTree) adopt() {
	t.all = slices.DeleteFunc(t.all, func(c *model.Command) bool {
		m := aliasOf.FindStringSubmatch(c.Summary)
		if m == nil {
			return false
		}
		name := c.Path[len(c.Path)-1]
		of := t.byName[m[1]]
		if of == nil || of == c || aliasOf.MatchString(of.Summary) {
			return false
		}
		of.Aliases = append(of.Aliases, name)
		return true
	})
}
