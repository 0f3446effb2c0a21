package help

import (
	"regexp"
	"slices"
	"strings"
)

// A spec is the parsed head of an option's entry: its spellings and its value. It belongs to one
// call of Parse.
type spec struct {
	names    []string
	negation string
	value    string // as printed, without surrounding brackets
	taken    bool   // the option has a value
	optional bool
	equals   bool // the value is joined with "="
	glued    bool // the value follows directly
	dots     bool // "..." follows the option
	// flags are long spellings without a value in a head where others have
	// "=VALUE". They are options of their own.
	flags []string
}

// A reader parses a head from left to right.
type reader struct {
	s    string
	pos  int
	spec spec
	// whole is true if the head is known to end where s ends. Plain words after
	// a name are then its value; otherwise they may be the description.
	whole    bool
	negated  bool // after a "/", which precedes the negation
	another  bool // after "and", which precedes another option
	current  int  // index of the last spelling in spec.names, or -1
	repeated bool // the last spelling occurred before and has a value
}

// readSpec parses the head of an option. left is the text that was not parsed.
// ok is false if s does not begin with an option.
func readSpec(s string, whole bool) (sp spec, left string, ok bool) {
	r := &reader{s: s, whole: whole}
	for {
		if !r.name() {
			break
		}
		ok = true
		short := r.spec.taken && r.spec.optional && r.spec.glued && len(r.spec.names) == 2
		was := r.spec
		if r.spec.taken = false; !r.bracketed() {
			r.value()
		}
		if !r.spec.taken {
			// In "-c[columns], --count" only the short spelling has the value.
			last := len(r.spec.names) - 1
			if was.taken && was.equals && r.current == last && last > 0 &&
				strings.HasPrefix(r.spec.names[last], "--") && strings.HasPrefix(r.spec.names[last-1], "--") {
				r.spec.flags = append(r.spec.flags, r.spec.names[last])
				r.spec.names = r.spec.names[:last]
			}
			if r.spec.taken = was.taken; short && !r.negated && len(r.spec.names) > 1 &&
				strings.HasPrefix(r.spec.names[1], "--") {
				r.spec.taken = false
			}
		}
		mark := r.pos
		if !r.separator() {
			r.pos = mark
			break
		}
	}
	return r.spec, strings.TrimSpace(r.s[r.pos:]), ok && len(r.spec.names) > 0
}

func (r *reader) peek() byte {
	if r.pos < len(r.s) {
		return r.s[r.pos]
	}
	return 0
}

func (r *reader) at(text string) bool { return strings.HasPrefix(r.s[r.pos:], text) }

func (r *reader) spaces() {
	for r.peek() == ' ' || r.peek() == '\t' {
		r.pos++
	}
}

// longForm matches the long spelling behind a short one as Boost and Subversion
// print it: "-f [ --file ] arg", "-r [--revision] ARG".
var longForm = regexp.MustCompile(`^ \[ ?(--[A-Za-z][\w-]*) ?\]`)

// bracketed parses a long spelling in brackets, and a value that may be left
// out. It reports whether there was such a value.
func (r *reader) bracketed() bool {
	m := longForm.FindStringSubmatch(r.s[r.pos:])
	if m == nil || r.current < 0 || len(r.spec.names[r.current]) != 2 {
		return false
	}
	r.add(m[1], "", "--")
	r.pos += len(m[0])
	if r.at(" [=") { // "[=arg(=1)]"
		r.pos++
		t := r.token()
		r.take(strings.TrimSuffix(t[2:], "]"), form{optional: true, equals: true})
	}
	return r.spec.taken
}

// name parses one spelling: "-o", "--output", "--[no-]color", "-fPIC".
func (r *reader) name() bool {
	begin := r.pos
	for r.peek() == '-' {
		r.pos++
	}
	dashes := r.s[begin:r.pos]
	if dashes == "" || len(dashes) > 2 {
		r.pos = begin
		return false
	}
	no := ""
	if n := negating(r.s[r.pos:]); n > 0 {
		no = r.s[r.pos+1 : r.pos+n-1]
		r.pos += n
	}
	if r.at("<") && dashes == "-" { // "-<signal>" is not a spelling
		r.token()
		return r.separator() && r.name()
	}
	word := r.word()
	if word == "" {
		r.pos = begin
		return false
	}
	if dashes == "-" && number(word) { // "-NUM" and "-123" are not spellings
		return r.separator() && r.name()
	}
	r.add(dashes+word, no, dashes)
	return true
}

// number reports whether the text after a dash is a number or a placeholder for
// one.
func number(word string) bool {
	return word == "NUM" || word == "NUMBER" || len(word) > 1 && word[0] >= '0' && word[0] <= '9'
}

// add records a spelling.
func (r *reader) add(name, no, dashes string) {
	r.current, r.repeated = -1, false
	switch {
	case r.another:
		if strings.HasPrefix(name, "--") {
			r.spec.flags = append(r.spec.flags, name)
		}
		return
	case r.negated:
		if r.spec.negation == "" || strings.HasPrefix(name, "--") {
			r.spec.negation = name
		}
		return
	case no != "":
		r.spec.negation = dashes + no + strings.TrimPrefix(name, dashes)
	}
	if r.current = slices.Index(r.spec.names, name); r.current >= 0 {
		r.repeated = r.spec.taken
		return
	}
	r.current = len(r.spec.names)
	r.spec.names = append(r.spec.names, name)
}

// word parses the letters of a spelling. It includes optional letters, as in
// "colo[u]r".
func (r *reader) word() string {
	var b strings.Builder
	for r.pos < len(r.s) {
		c := r.s[r.pos]
		switch {
		case letter(c) || c >= 0x80:
			b.WriteByte(c)
		case b.Len() == 0 && (strings.IndexByte("?@#%$!^~+&:", c) >= 0 || r.after(1) == ',' && c > ' '):
			b.WriteByte(c)
		case b.Len() > 0 && strings.IndexByte("-_+#?", c) >= 0:
			b.WriteByte(c)
		case b.Len() > 0 && c == '/' && letter(r.after(1)) && r.after(2) == ':':
			b.WriteByte(c)
		case b.Len() > 0 && c == ':' && r.after(1) >= 'A' && r.after(1) <= 'Z':
			return b.String()
		case b.Len() > 0 && (c == '.' || c == ':' || c == '@') && r.pos+1 < len(r.s) && letter(r.s[r.pos+1]):
			b.WriteByte(c)
		case b.Len() > 0 && c == '[':
			n := strings.IndexByte(r.s[r.pos:], ']')
			if n < 2 || r.pos+n+1 >= len(r.s) || !letter(r.s[r.pos+n+1]) || !allLower(r.s[r.pos+1:r.pos+n]) {
				return b.String()
			}
			b.WriteString(r.s[r.pos+1 : r.pos+n])
			r.pos += n
		default:
			return b.String()
		}
		r.pos++
	}
	return b.String()
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func allLower(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// value parses the value after a spelling.
func (r *reader) value() {
	dots := r.at("...") && !letter(r.after(3))
	if dots {
		r.spec.dots = true
		r.pos += 3
	}
	c := r.peek()
	switch {
	case c == '=':
		r.pos++
		r.take(r.token(), form{equals: true})
	case c == '[':
		t := r.token()
		inner := strings.TrimPrefix(t, "[")
		if len(t) > 1 && t[len(t)-1] == ']' && (inner[0] == '=' || inner[0] == ' ' || inner[0] == ':') {
			r.join(inner[0])
			r.take(strings.TrimRight(inner[1:], "]"),
				form{optional: true, equals: inner[0] == '=', glued: inner[0] == ':'})
			return
		}
		r.take(t, form{optional: true, glued: true})
	case c == '<' || c == '{' || c == '(':
		r.take(r.token(), form{glued: true})
	case dots && c != ' ' && c != '\t': // "-d...:" joins nothing to the name
	case (c == ':' || c == ',' || c == '+') && (r.after(1) == '<' || r.after(1) == '['):
		r.join(c)
		r.pos++
		r.take(r.token(), form{glued: true})
	case c == ':' && r.after(1) > ' ':
		r.join(c)
		r.pos++
		r.take(r.token(), form{glued: true})
	case c == ' ' || c == '\t':
		r.words()
	}
}

// join appends the character between name and value to the name, so that both
// together are one argument: "-Wl,", "-agentlib:". If the name also occurs
// without the character, as in "-L<start>:<file>, -L:<name>:<file>", the
// character belongs to the value.
func (r *reader) join(c byte) {
	if c == '=' || c == ' ' || r.current < 0 || r.repeated {
		return
	}
	if name := &r.spec.names[r.current]; !strings.HasSuffix(*name, string(c)) {
		*name += string(c)
	}
}

func (r *reader) after(n int) byte {
	if r.pos+n < len(r.s) {
		return r.s[r.pos+n]
	}
	return 0
}

// A form describes how a value is joined to its option.
type form struct{ optional, equals, glued bool }

// take records a value. Its form replaces that of an earlier spelling.
func (r *reader) take(value string, f form) {
	sp := &r.spec
	if strings.HasSuffix(value, "...") {
		sp.dots = true
		value = strings.TrimSpace(strings.TrimSuffix(value, "..."))
		if value == "" {
			value = "..."
		}
	}
	sp.taken, sp.optional, sp.equals, sp.glued = true, f.optional, f.equals, f.glued
	if value != "" {
		sp.value = value
	}
}
