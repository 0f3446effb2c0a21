package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// portablePattern reports whether a regular expression is one of ECMAScript with the
// flag u and of Python, whose clients compile it. It knows what both have: anything else
// is refused, such as named groups, lookbehind, \p{L} and inline flags.
func portablePattern(text string) bool {
	p := patternParser{rest: text}
	return p.alternatives(0) && p.rest == ""
}

// A patternParser recognises a regular expression. Its methods skip a part and report
// whether it is allowed. One call of portablePattern has it.
type patternParser struct {
	rest   string
	closed int // groups that have ended
	opened int
}

// Bounds of a regular expression.
const (
	maxGroups = 50     // nesting
	maxRepeat = 100000 // of a quantifier
)

func (p *patternParser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// alternatives recognises terms up to the end of the group.
func (p *patternParser) alternatives(depth int) bool {
	for p.rest != "" && p.rest[0] != ')' {
		if p.take("|") {
			continue
		}
		repeatable, ok := p.term(depth)
		if !ok {
			return false
		}
		if found, ok := p.quantifier(); !ok || found && !repeatable {
			return false
		}
	}
	return true
}

// term recognises a character, a class, an assertion or a group.
func (p *patternParser) term(depth int) (repeatable, ok bool) {
	switch c := p.rest[0]; c {
	case '^', '$':
		p.rest = p.rest[1:]
		return false, true
	case '(':
		return p.group(depth)
	case '[':
		p.rest = p.rest[1:]
		return true, p.class()
	case '\\':
		return p.escape()
	case '*', '+', '?', '{', '}', ']':
		return false, false
	}
	_, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return true, true
}

// group recognises a group or a lookahead.
func (p *patternParser) group(depth int) (repeatable, ok bool) {
	look := p.take("(?=") || p.take("(?!")
	counted := !look && !p.take("(?:") && p.take("(")
	if depth == maxGroups || !look && strings.HasPrefix(p.rest, "?") {
		return false, false
	}
	if counted {
		p.opened++
	}
	if !p.alternatives(depth+1) || !p.take(")") {
		return false, false
	}
	if counted {
		p.closed++
	}
	return !look, true
}

// quantifier recognises a quantifier, if there is one.
func (p *patternParser) quantifier() (found, ok bool) {
	switch {
	case p.take("*"), p.take("+"), p.take("?"):
	case p.take("{"):
		counts, rest, closed := strings.Cut(p.rest, "}")
		least, most, ranged := strings.Cut(counts, ",")
		from, ok := countOf(least)
		to, upTo := countOf(most)
		if !closed || !ok || ranged && most != "" && (!upTo || to < from) {
			return true, false
		}
		p.rest = rest
	default:
		return false, true
	}
	p.take("?")
	return true, true
}

func countOf(digits string) (n int, ok bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n <= maxRepeat
}

// The escapes outside of classes, after the backslash.
const (
	syntaxCharacters = `^$\.*+?()[]{}|/`
	controlEscapes   = "fnrtv"
	classEscapes     = "dDsSwW"
)

// escape recognises an escape outside of a class.
func (p *patternParser) escape() (repeatable, ok bool) {
	if len(p.rest) < 2 {
		return false, false
	}
	switch c := p.rest[1]; {
	case c == 'b' || c == 'B':
		p.rest = p.rest[2:]
		return false, true
	case c >= '1' && c <= '9':
		p.rest = p.rest[2:]
		// A group is referred to only after its end, and by one digit.
		return true, p.opened == p.closed && int(c-'0') <= p.closed && !startsWithDigit(p.rest)
	case strings.IndexByte(classEscapes, c) >= 0:
		p.rest = p.rest[2:]
		return true, true
	}
	_, ok = p.character()
	return true, ok
}

func startsWithDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }

// character recognises an escape of one character, in a class or outside.
func (p *patternParser) character() (r rune, ok bool) {
	c := p.rest[1]
	after := p.rest[2:]
	p.rest = after
	switch {
	case strings.IndexByte(syntaxCharacters, c) >= 0:
		return rune(c), true
	case strings.IndexByte(controlEscapes, c) >= 0:
		return map[byte]rune{'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}[c], true
	case c == '0':
		return 0, !startsWithDigit(after)
	case c == 'x':
		return p.hex(2)
	case c == 'u':
		r, ok = p.hex(4)
		return r, ok && (r < 0xd800 || r > 0xdfff) // surrogates differ
	}
	return 0, false
}

func (p *patternParser) hex(digits int) (r rune, ok bool) {
	if len(p.rest) < digits {
		return 0, false
	}
	v, err := strconv.ParseUint(p.rest[:digits], 16, 32)
	p.rest = p.rest[digits:]
	return rune(v), err == nil
}

// class recognises a class behind its bracket. Python takes a bracket that is first as a
// character, and warns of two brackets, hyphens or other signs in a row.
func (p *patternParser) class() bool {
	p.take("^")
	if p.rest == "" || p.rest[0] == ']' || p.rest[0] == '[' {
		return false
	}
	for p.rest != "" && p.rest[0] != ']' {
		from, single, ok := p.classAtom()
		if !ok {
			return false
		}
		if len(p.rest) < 2 || p.rest[0] != '-' || p.rest[1] == ']' {
			continue
		}
		p.rest = p.rest[1:]
		to, alsoSingle, ok := p.classAtom()
		if !ok || !single || !alsoSingle || to < from {
			return false
		}
	}
	return p.take("]")
}

// classAtom recognises a character of a class, or an escape for several.
func (p *patternParser) classAtom() (r rune, single, ok bool) {
	if p.rest[0] != '\\' {
		for _, twice := range []string{"--", "&&", "~~", "||", "[["} {
			if strings.HasPrefix(p.rest, twice) {
				return 0, false, false
			}
		}
		r, size := utf8.DecodeRuneInString(p.rest)
		p.rest = p.rest[size:]
		return r, true, true
	}
	if len(p.rest) < 2 {
		return 0, false, false
	}
	switch c := p.rest[1]; {
	case c == '-':
		p.rest = p.rest[2:]
		return '-', true, true
	case c == 'b':
		p.rest = p.rest[2:]
		return '\b', true, true
	case strings.IndexByte(classEscapes, c) >= 0:
		p.rest = p.rest[2:]
		return 0, false, true
	}
	r, ok = p.character()
	return r, true, ok
}
