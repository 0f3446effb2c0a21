package help

import (
	"slices"
	"strings"
	"unicode"
)

// A topic is the subject of a section.
type topic int

const (
	neutral topic = iota // the heading does not say
	usage
	options
	arguments
	commands
	remarks   // formats or notes: no commands, but perhaps options
	elsewhere // examples or the environment: neither options nor commands
)

// A section is a heading and the lines below it. It is not changed once read.
type section struct {
	title     string
	topic     topic
	indent    int
	lines     []line
	inherited bool // its options belong to a parent command
	doubtful  bool // its names may be something else than commands
}

// sections splits the text at its headings. The first section has no heading.
func sections(lines []line) []*section {
	all := []*section{{indent: -1}}
	base := -1 // the column of the first line below the heading
	for i, l := range lines {
		at := all[len(all)-1]
		if heading(lines, i, base, at) {
			s := &section{title: title(lines, i), indent: l.indent}
			s.classify(all)
			all, base = append(all, s), -1
			continue
		}
		// An option at the indentation of an example's heading is not part of
		// the example.
		if at.topic == elsewhere && at.indent > 0 && l.dashed() && l.indent == at.indent {
			back := &section{indent: at.indent - 1}
			back.inherit(all[:len(all)-1])
			all, base, at = append(all, back), l.indent, back
		}
		if base < 0 && !l.blank() {
			base = l.indent
		}
		at.lines = append(at.lines, l)
	}
	return all
}

// title returns the heading at line i, together with the lines of the sentence
// that it ends.
func title(lines []line, i int) string {
	words := strings.TrimSpace(strings.TrimRight(lines[i].body(), ": "))
	for n := 1; n < 4 && i-n >= 0; n++ {
		above := lines[i-n]
		if above.blank() || above.indent != lines[i].indent || above.dashed() ||
			strings.ContainsAny(above.text[len(above.text)-1:], ".:!?)") {
			break
		}
		words = above.body() + " " + words
	}
	return words
}

// heading reports whether line i begins a section. A line that is indented
// deeper than the first line of its section is not a heading. Within a list of
// names, a single word is a name with its description below.
func heading(lines []line, i, base int, at *section) bool {
	l := lines[i]
	if l.blank() || l.dashed() || len(l.text) > 140 || base >= 0 && l.indent > base {
		return false
	}
	body := l.body()
	if _, ok := usageLine(body); ok {
		return bareUsage(body)
	}
	next := i + 1
	for next < len(lines) && next < i+4 && lines[next].blank() {
		next++
	}
	if next == len(lines) || lines[next].blank() {
		return false
	}
	if start, _ := gap(body, 0); start >= 0 {
		return false
	}
	colon := strings.HasSuffix(body, ":")
	deeper := lines[next].indent > l.indent
	free := i == 0 || base < 0 || lines[i-1].blank() || lines[i-1].indent > l.indent
	words := len(strings.Fields(body))
	switch {
	case colon && deeper:
		if base == l.indent && l.indent > at.indent && at.indent >= 0 && l.indent > 0 {
			return at.topic != commands && free && words <= 8
		}
		return free || words <= 6
	case colon:
		return free && words <= 5 && l.indent <= 2 && (lines[next].indent == l.indent)
	case at.topic == arguments && l.indent > at.indent:
		return false
	case at.topic == commands && deeper && base == l.indent && l.indent == at.indent && body[0] >= 'a' &&
		body[0] <= 'z':
		return false // a list at the margin of its heading
	case strings.ContainsAny(body[len(body)-1:], ".,;!?)") && !strings.HasSuffix(body, ")"):
		return false
	case deeper && shouted(body):
		return free && words <= 10
	case deeper && l.indent <= 3 && (base < 0 || l.indent < base || l.indent == 0):
		return free && words <= 12 && titled(body, l.indent)
	case lines[next].indent == l.indent:
		start, _ := gap(lines[next].body(), 0)
		return free && next == i+1 && start >= 0 && words <= 12 && hasWord(strings.ToLower(body), commandWords)
	}
	return false
}

// shouted reports whether s is in capitals.
func shouted(s string) bool {
	return strings.ContainsFunc(s, unicode.IsUpper) && !strings.ContainsFunc(s, unicode.IsLower)
}

// titled reports whether s may be a heading without a colon: it is neither a
// sentence nor an example call.
func titled(s string, indent int) bool {
	if strings.ContainsAny(s, "$<>[]=|\\") || strings.Contains(s, " - ") && s[0] >= 'a' && s[0] <= 'z' {
		// "prog - does this"
		return false
	}
	return indent > 0 || !strings.HasSuffix(s, ",")
}

var (
	commandWords = []string{"commands", "subcommands", "sub-commands", "subcommand", "verbs"}
	// Below these headings there may be commands or something else.
	otherCommandWords = []string{"actions", "applets", "functions", "services", "operations", "tasks", "namespaces"}
	optionWords       = []string{"option", "options", "flag", "flags", "switches", "modifiers"}
	argumentWords     = []string{"positional", "positionals", "argument", "arguments", "args", "operands", "parameters"}
	otherWords        = []string{"example", "examples", "environment", "variable", "variables", "topics", "guides",
		"concepts", "files", "notes", "bugs", "author", "authors",
		"formats", "interfaces", "see", "exit", "status", "aliases", "alias", "history", "copyright", "diagnostics",
		"availability", "name", "documentation", "resources", "learn"}
	outerWords = []string{"global", "inherited", "common", "parent", "persistent"}
)

// classify sets the topic of the section from its heading and from the headings
// above.
func (s *section) classify(before []*section) {
	title := strings.ToLower(s.title)
	// Text in parentheses is a remark: "(use these before the command)".
	if i := strings.IndexByte(title, '('); i > 0 {
		title = title[:i]
	}
	switch {
	case bareUsage(s.title) || title == "synopsis":
		s.topic = usage
	case hasWord(title, optionWords):
		s.topic = options
		s.inherited = hasWord(title, outerWords)
	case slices.Contains(commandWords, lastWord(title)):
		s.topic = commands
	case hasWord(title, []string{"example", "examples", "environment"}):
		s.topic = elsewhere
	case hasWord(title, []string{"topics", "topic", "formats", "interfaces", "aliases", "guides", "concepts"}):
		s.topic = remarks
	case hasWord(title, commandWords) || lastWord(title) == "command":
		s.topic = commands
	case hasWord(title, otherCommandWords):
		s.topic, s.doubtful = commands, true
	case hasWord(title, argumentWords):
		s.topic = arguments
	default:
		if s.inherit(before); s.topic == neutral && len(strings.Fields(title)) <= 2 && hasWord(title, otherWords) {
			s.topic = remarks
		}
	}
}

// maxLookback bounds how many headings inherit looks at.
const maxLookback = 200

// inherit takes the topic of the parent heading, or of the heading that
// introduces a series of headings.
func (s *section) inherit(before []*section) {
	for i := len(before) - 1; i >= 0 && i > len(before)-maxLookback; i-- {
		b := before[i]
		introduces := b.indent == s.indent && b.topic == commands && b.empty()
		if b.indent < s.indent || introduces {
			if b.topic == commands || b.topic == options || b.topic == elsewhere && s.indent > b.indent+1 {
				s.topic, s.inherited = b.topic, b.inherited
			}
			return
		}
		if b.indent == s.indent && b.topic != neutral && b.topic != commands {
			return
		}
	}
}

func (s *section) empty() bool {
	for _, l := range s.lines {
		if !l.blank() {
			return false
		}
	}
	return true
}

// hasWord reports whether s, which is in lower case, contains one of the words.
func hasWord(s string, words []string) bool {
	for _, w := range strings.FieldsFunc(s, notWord) {
		for _, want := range words {
			if w == want {
				return true
			}
		}
	}
	return false
}

func lastWord(s string) string {
	w := strings.FieldsFunc(s, notWord)
	if len(w) == 0 {
		return ""
	}
	return w[len(w)-1]
}

func notWord(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
