package help

import "strings"

// A node is one part of a usage: a word, or a group in brackets.
type node struct {
	text   string   // of a word
	open   byte     // of a group: its bracket
	alts   [][]node // of a group: what stands between its bars
	repeat bool     // "..." stands behind it
	glued  bool     // nothing stands before it
	loose  bool     // of a group: white space stands next to its brackets
}

const maxDepth = 16

// A usageParser reads a usage line into nodes.
type usageParser struct {
	s   string
	pos int
}

func parseUsage(s string) []node {
	p := &usageParser{s: strings.ReplaceAll(s, "\u2026", "...")}
	alts := p.group(0, 0)
	var all []node
	for _, a := range alts {
		all = append(all, a...)
	}
	return all
}

// group reads up to the bracket that shuts it, or to the end.
func (p *usageParser) group(shut byte, depth int) [][]node {
	alts := [][]node{nil}
	add := func(n node) {
		last := len(alts) - 1
		alts[last] = append(alts[last], n)
	}
	apart := true // white space, or the bracket that opened the group, is before it
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

// word reads up to white space, a bracket or a bar. What stands between angle
// brackets or quotes is kept together.
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

// negating is the length of the "[no-]" or "[disable-]" at the start of s.
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

// word says whether n is a word that is no option.
func (n node) plain() bool { return n.open == 0 && !n.option() && n.text != "--" }

// option says whether n is the spelling of an option.
func (n node) option() bool {
	return n.open == 0 && len(n.text) > 1 && n.text[0] == '-' && n.text != "--"
}

// string prints n again.
func (n node) string() string {
	if n.open == 0 {
		return n.text
	}
	var b strings.Builder
	b.WriteByte(n.open)
	if n.loose { // "-c[ o ]" is not "-c[o]", which may be the shortened "-co"
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
