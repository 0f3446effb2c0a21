package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A node is one part of a usage: a word or a group in brackets. It is not changed once parsed.
type node struct {
	text   string   // of a word
	open   byte     // of a group: its opening bracket
	alts   [][]node // of a group: the alternatives between its bars
	repeat bool     // "..." follows
	glued  bool     // no white space precedes
	bare   bool     // of a group: it has no brackets in the usage; see joinBars
	loose  bool     // of a group: white space separates the brackets from the content
}

const maxDepth = 16

// flagGroup matches options that angle brackets group: "<--build|--clear>".
var flagGroup = regexp.MustCompile(`<(--?[A-Za-z][^<>]*)>`)

// A usageParser parses a usage line into nodes.
type usageParser struct {
	s   string
	pos int
}

// anyOption is how AutoOpts writes "[options]"; initial matches a command that
// its first letter stands for, as in "c(reate)".
var (
	anyOption = regexp.MustCompile(`\[ *-<flag> \[<val>\] \| --<name>\[[^\[\]]*\] *\](?:\.\.\.)?`)
	initial   = regexp.MustCompile(`(^| )([a-z])\(([a-z]+)\)`)
)

func parseUsage(s string) []node {
	s = initial.ReplaceAllString(anyOption.ReplaceAllString(s, "[options]"), "$1$2$3")
	s = flagGroup.ReplaceAllStringFunc(s, func(group string) string {
		if inner := group[1 : len(group)-1]; balanced(inner) {
			return "(" + inner + ")"
		}
		return group
	})
	p := &usageParser{s: strings.ReplaceAll(s, "\u2026", "...")}
	return joinBars(p.group(0, 0))
}

// balanced reports whether every bracket in s is closed by its own kind.
func balanced(s string) bool {
	var open []byte
	for _, c := range []byte(s) {
		switch {
		case strings.IndexByte("[({", c) >= 0:
			open = append(open, closing(c))
		case strings.IndexByte("])}", c) >= 0:
			if len(open) == 0 || open[len(open)-1] != c {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

// group parses up to the closing bracket shut, or to the end.
func (p *usageParser) group(shut byte, depth int) [][]node {
	alts := [][]node{nil}
	add := func(n node) {
		last := len(alts) - 1
		alts[last] = append(alts[last], n)
	}
	apart := true // white space or the opening bracket of the group precedes
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		glued := !apart && p.s[p.pos-1] != '|'
		apart = false
		switch {
		case c == ' ' || c == '\t':
			apart = true
			p.pos++
		case c == shut:
			p.pos++
			return alts
		case c == '|':
			p.pos++
			alts = append(alts, nil)
		case strings.IndexByte("[({", c) >= 0 && depth < maxDepth:
			begin := p.pos + 1
			p.pos++
			n := node{open: c, alts: p.group(closing(c), depth+1), glued: glued}
			inner := strings.TrimSuffix(p.s[begin:p.pos], string(closing(c)))
			n.loose = strings.Trim(inner, " \t") != inner
			add(n)
		case strings.IndexByte("[({])}", c) >= 0:
			apart = !glued
			p.pos++
		default:
			n := node{text: p.word(), glued: glued}
			if last := len(alts) - 1; strings.Trim(n.text, ".") == "" && len(alts[last]) > 0 {
				alts[last][len(alts[last])-1].repeat = true
				continue
			}
			if t := strings.TrimSuffix(n.text, "..."); t != n.text && t != "" && !strings.HasSuffix(t, "=") {
				n.text, n.repeat = strings.TrimSuffix(t, ","), true
			}
			add(n)
		}
	}
	return alts
}

func closing(open byte) byte {
	switch open {
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return ')'
}

// word parses up to white space, a bracket or a bar. Text between angle
// brackets or quotes stays together.
func (p *usageParser) word() string {
	begin := p.pos
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		if c == '<' {
			if n := strings.IndexByte(p.s[p.pos:min(len(p.s), p.pos+200)], '>'); n > 0 {
				p.pos += n + 1
				continue
			}
		}
		if c == '\'' && (p.pos == begin || p.s[p.pos-1] == '=') {
			if n := strings.IndexByte(p.s[p.pos+1:min(len(p.s), p.pos+200)], '\''); n > 0 {
				p.pos += n + 2
				continue
			}
		}
		if no := negating(p.s[p.pos:]); no > 0 && strings.Trim(p.s[begin:p.pos], "-") == "" && p.pos > begin {
			p.pos += no
			continue
		}
		if c == '(' && p.pos > begin && strings.HasPrefix(p.s[p.pos:], "(s)") {
			p.pos += 3
			continue
		}
		if strings.IndexByte(" \t[](){}|", c) >= 0 {
			break
		}
		p.pos++
	}
	if p.pos == begin {
		p.pos++
	}
	return p.s[begin:p.pos]
}

// negating returns the length of a "[no-]" or "[disable-]" at the start of s,
// or 0.
func negating(s string) int {
	if s == "" || strings.IndexByte("[({", s[0]) < 0 {
		return 0
	}
	end := strings.IndexByte(s, closing(s[0]))
	if end < 3 || end > 12 || end+1 == len(s) || !letter(s[end+1]) {
		return 0
	}
	if inner := s[1:end]; inner == "no" || allLower(inner) && inner[len(inner)-1] == '-' && inner[0] != '-' {
		return end + 1
	}
	return 0
}

// plain reports whether n is a word and not an option.
func (n node) plain() bool { return n.open == 0 && !n.option() && n.text != "--" }

// option reports whether n is the spelling of an option.
func (n node) option() bool {
	return n.open == 0 && len(n.text) > 1 && n.text[0] == '-' && n.text != "--"
}

// string formats n as text.
func (n node) string() string {
	if n.open == 0 {
		return n.text
	}
	var b strings.Builder
	b.WriteByte(n.open)
	if n.loose { // "-c[ o ]" differs from "-c[o]", which may be the shortened "-co"
		b.WriteByte(' ')
	}
	for i, a := range n.alts {
		if i > 0 {
			b.WriteByte('|')
		}
		for j, k := range a {
			if j > 0 && !k.glued {
				b.WriteByte(' ')
			}
			b.WriteString(k.string())
			if k.repeat {
				b.WriteString("...")
			}
		}
	}
	b.WriteByte(closing(n.open))
	return b.String()
}

// A definition explains a word of the usage: "OBJECT := { link | route }".
type definition struct {
	name string
	is   node
}

const maxDefinitions = 64

var (
	defined = regexp.MustCompile(`^(?:where +)?([A-Z][A-Z_-]*) +:= *(.*)$`)
	// shortened matches a spelling whose end may be left out.
	shortened = regexp.MustCompile(`^(--?[A-Za-z]+)\[([a-z-]+)\](.*)$`)
)

// definitions returns the definitions in a text and blanks their lines.
func definitions(lines []line) []definition {
	var all []definition
	name, text := "", ""
	flush := func() {
		if nodes := parseUsage(text); name != "" && len(nodes) == 1 && len(all) < maxDefinitions {
			all = append(all, definition{name, nodes[0]})
		}
		name, text = "", ""
	}
	for i, l := range lines {
		if l.blank() {
			flush()
			continue
		}
		if m := defined.FindStringSubmatch(l.body()); m != nil {
			flush()
			name, text = m[1], m[2]
		} else if name == "" {
			continue
		} else if len(text) < maxUsageLen {
			text += " " + l.body()
		}
		lines[i] = line{}
	}
	flush()
	return all
}

// define adds the options and the commands of the definitions. If the first
// word of a usage is defined as a list of words, these are commands.
func (p *parser) define(all []definition) {
	for _, d := range all {
		words := literals(d.is)
		for _, c := range p.calls {
			at := slices.IndexFunc(c.positionals,
				func(a model.Positional) bool { return a.Value.Placeholder == d.name })
			if at < 0 || len(words) < 2 {
				continue
			}
			if at > 0 || len(c.positionals) == 1 {
				c.positionals[at].Value = shape(strings.Join(words, "|"))
				continue
			}
			c.command, c.needed = c.positionals[0].Name, c.positionals[0].Required
			for _, w := range words {
				p.tree.add(&listedCommand{words: []string{w}}, false)
			}
		}
		for _, alt := range d.is.alts {
			p.defineOption(alt)
		}
	}
}

// defineOption adds one option of a definition: "-f[amily] { inet | link }".
func (p *parser) defineOption(alt []node) {
	if len(alt) == 0 || !alt[0].option() {
		return
	}
	head := node{open: '(', alts: [][]node{alt}}.string()
	head = head[1 : len(head)-1]
	if m := shortened.FindStringSubmatch(head); m != nil {
		head = m[1] + ", " + m[1] + m[2] + m[3]
	}
	if sp, left, ok := readSpec(head, true); ok && left == "" {
		p.table.fill(build(sp, ""))
		p.read++
	}
}
