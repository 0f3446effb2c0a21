package help

import "strings"

// words parses the value after a space.
func (r *reader) words() {
	var taken []string
	f := form{}
	for len(taken) < 6 {
		mark := r.pos
		r.spaces()
		if len(taken) > 0 && r.at("| ") && r.after(2) != '-' { // "USER | TOKEN"
			r.pos += 2
			taken[len(taken)-1] += "|" + r.token()
			continue
		}
		if r.pos == len(r.s) || r.at("-") || r.at("or ") || r.at("| ") || r.at("|-") || r.at("/ ") || r.at(",") ||
			r.at("..") || r.at(". ") {
			r.pos = mark
			break
		}
		t := r.token()
		// After "<addresses>" a word is the description, even in capitals.
		if angled := len(taken) > 0 && taken[0][0] == '<'; !r.placeholder(t) ||
			angled && !r.whole && t[0] != '<' && t[0] != '[' && t != "..." {
			r.pos = mark
			break
		}
		if len(taken) == 0 && wrapped(t, '[', ']') && !strings.Contains(t, "|") {
			f.optional = true
		}
		taken = append(taken, t)
		if r.at(",") {
			break
		}
	}
	if len(taken) == 0 {
		return
	}
	if len(taken) == 1 && remark(taken[0]) {
		return
	}
	if last := taken[len(taken)-1]; len(taken) > 1 && strings.Contains(last, "...") {
		r.spec.dots = true
		taken = taken[:len(taken)-1]
		if f.optional = false; len(taken) == 1 && wrapped(taken[0], '[', ']') {
			f.optional = true
		}
	}
	r.take(strings.Join(taken, " "), f)
}

// placeholder reports whether t can be the placeholder of a value.
func (r *reader) placeholder(t string) bool {
	if t == "" || t == "(default)" {
		return false
	}
	if t == "arg" && (r.pos == len(r.s) || strings.HasPrefix(r.s[r.pos:], " (=")) || boostDefault.MatchString(" "+t) {
		return true // as Boost prints a value and its default
	}
	if strings.IndexByte("<[{('\"", t[0]) >= 0 || t == "..." {
		return true
	}
	if t[0] == '=' || t[0] == '#' && len(t) == 1 {
		return false
	}
	if shouted(t) || r.whole {
		return true
	}
	return strings.ContainsAny(t, "=<|") && !strings.HasSuffix(t, ".")
}

// remark reports whether t is a remark in parentheses about the option and not
// its value.
func remark(t string) bool {
	if !wrapped(t, '(', ')') || strings.Contains(t, "|") {
		return false
	}
	_, known := kinds[strings.ToLower(bare(t))]
	return !known && !shouted(t) && (strings.ContainsAny(t, " \"'"))
}

// token parses up to white space, a comma before another spelling, or a bar
// before one. Text in brackets or quotes stays together.
func (r *reader) token() string {
	begin, depth := r.pos, 0
	var quote byte
	for ; r.pos < len(r.s); r.pos++ {
		c := r.s[r.pos]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '\'' || c == '"') && (r.pos == begin || !letter(r.s[r.pos-1])) &&
			strings.IndexByte(r.s[r.pos+1:], c) >= 0:
			quote = c
		case strings.IndexByte("[<{(", c) >= 0:
			depth++
		case strings.IndexByte("]>})", c) >= 0:
			depth--
		case depth > 0:
		case c == ' ' || c == '\t':
			return r.s[begin:r.pos]
		case c == ',' && (r.after(1) == ' ' || r.after(1) == 0 || r.after(1) == '-'):
			return r.s[begin:r.pos]
		case c == '|' && r.after(1) == '-', c == '/' && r.after(1) == '-':
			return r.s[begin:r.pos]
		}
	}
	return r.s[begin:]
}

// separator skips the characters between two spellings and reports whether
// another spelling follows.
func (r *reader) separator() bool {
	r.spaces()
	for mark := r.pos; r.peek() == '.' || r.peek() == ' ' && r.pos > mark; {
		// dots that fill the space before a description
		r.pos++
	}
	said := true
	switch {
	case r.peek() == ',' || r.peek() == '|' || r.peek() == ';':
		r.pos++
		if r.s[r.pos-1] == '|' && letter(r.peek()) { // "-v|vv|vvv, --verbose"
			rest := strings.TrimLeft(r.s[r.pos:], "|abcdefghijklmnopqrstuvwxyz")
			r.pos = len(r.s) - len(rest)
			r.spec.dots = true
			return r.separator()
		}
	case r.peek() == '/':
		r.pos++
		r.spaces()
		long := strings.HasPrefix(r.s[r.pos:], "--")
		short := len(r.spec.names) > 0 && !strings.HasPrefix(r.spec.names[len(r.spec.names)-1], "--")
		// "-h/--help" are two spellings of one option, "--on / --off" are not.
		if long && !short || len(r.spec.names) > 1 {
			r.negated = true
		}
	case r.at("or "):
		r.pos += 3
	case r.at("and -"):
		r.pos += 4
		r.another = true
	default:
		said = false
	}
	r.spaces()
	if r.at("or -") {
		r.pos += 3
	}
	// In "-p, p, --pid" the letter alone is another form of the first spelling.
	if letter(r.peek()) && (strings.HasPrefix(r.s[r.pos+1:], ", -") || strings.HasPrefix(r.s[r.pos+1:], " -") && said) {
		r.pos += strings.IndexByte(r.s[r.pos:], '-')
	}
	return r.at("-") && r.after(1) > ' ' && (said || r.pair())
}

// pair reports whether two spellings with only space between them belong to one
// option: one is short and the other long.
func (r *reader) pair() bool {
	short := len(r.spec.names) == 1 && !strings.HasPrefix(r.spec.names[0], "--")
	return short == r.at("--") && len(r.spec.names) == 1
}

// wrapped reports whether one pair of brackets encloses all of s.
func wrapped(s string, open, shut byte) bool {
	if len(s) < 2 || s[0] != open || s[len(s)-1] != shut {
		return false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case open:
			depth++
		case shut:
			depth--
			if depth == 0 && i < len(s)-1 {
				return false
			}
		}
	}
	return true
}
