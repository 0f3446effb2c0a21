package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A pattern is a regular expression of a schema. JSON Schema means those of
// ECMA-262; RE2 has most of them and runs in linear time, but linear is the
// text times the program, and {1000} makes a long program of a short pattern.
type pattern struct {
	text string // as the schema has it
	re   string // as RE2 takes it
	size int    // of the program, roughly
	err  error  // why RE2 does not take it

	compiled *regexp.Regexp // by the engine
}

// readPattern parses a pattern without compiling it, which is where the memory
// would go, and charges what it would cost.
func (d *document) readPattern(text, at string) error {
	if _, ok := d.patterns[text]; ok {
		return nil
	}
	if len(text) > maxPattern {
		return &VetError{Reason: "pattern", Path: at, Message: fmt.Sprintf("has a pattern longer than %d bytes", maxPattern)}
	}
	p := &pattern{text: text, re: translate(text)}
	tree, err := syntax.Parse(p.re, syntax.Perl)
	if err != nil {
		p.err = err
		p.size = 8 * len(text) // parsing it was not free either
	} else {
		p.size = programSize(tree)
	}
	d.patterns[text] = p
	if d.program += p.size; d.program > maxProgram {
		return &VetError{Reason: "pattern", Path: at, Message: "has patterns that are too large together"}
	}
	return nil
}

// programSize estimates the instructions that an expression becomes. The
// parser has bounded its nesting and its repetitions.
func programSize(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/2
	}
	size := 1
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min+1, re.Max)
	}
	return min(size, maxProgram+1)
}

// translate turns escapes that ECMA-262 has and RE2 has not (\u00e9, \u{1F600},
// \cJ) into some that it has.
func translate(text string) string {
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\c`) {
		return text
	}
	var b strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		r, n := ecmaEscape(text[i:])
		if n == 0 {
			b.WriteString(text[i : i+2])
			n = 2
		} else {
			fmt.Fprintf(&b, `\x{%x}`, r)
		}
		text = text[i+n:]
	}
	return b.String()
}

// ecmaEscape reads an escape at the beginning of text and returns its length,
// or 0 when it is none of those that need translation.
func ecmaEscape(text string) (r rune, n int) {
	switch {
	case strings.HasPrefix(text, `\c`) && len(text) > 2:
		if c := text[2] | 0x20; 'a' <= c && c <= 'z' {
			return rune(c & 0x1f), 3
		}
	case strings.HasPrefix(text, `\u{`):
		if end := strings.IndexByte(text, '}'); end > 0 {
			if v, err := strconv.ParseUint(text[3:end], 16, 21); err == nil {
				return rune(v), end + 1
			}
		}
	case strings.HasPrefix(text, `\u`):
		high, ok := fourHex(text)
		if !ok {
			return 0, 0
		}
		if utf16.IsSurrogate(high) {
			if low, ok := fourHex(text[6:]); ok {
				if r := utf16.DecodeRune(high, low); r != '\uFFFD' {
					return r, 12
				}
			}
		}
		return high, 6
	}
	return 0, 0
}

func fourHex(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	v, err := strconv.ParseUint(text[2:6], 16, 32)
	return rune(v), err == nil
}

// engine compiles each pattern once. The library asks for the same one several
// times: to check it as a "regex" format and to use it.
func (d *document) engine(text string) (jsonschema.Regexp, error) {
	p := d.patterns[text]
	if p == nil {
		return nil, fmt.Errorf("pattern %q was not vetted", cut(text))
	}
	if p.err != nil {
		return nil, p.err
	}
	if p.compiled == nil {
		if p.compiled, p.err = regexp.Compile(p.re); p.err != nil {
			return nil, p.err
		}
	}
	return p, nil
}

// MatchString and String make a pattern the library's Regexp.
func (p *pattern) MatchString(s string) bool { return p.compiled.MatchString(s) }

func (p *pattern) String() string { return p.text }
