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

// A pattern is a regular expression of a schema. JSON Schema uses the syntax of
// ECMA-262. RE2 supports most of it in linear time: the text length times the program
// size. A short pattern with {1000} has a long program. It is part of a document; compiled is
// set while the schema is compiled, and the pattern is read-only then.
type pattern struct {
	text string // text in the schema
	re   string // text for RE2
	size int    // approximate size of the program
	err  error  // error of RE2

	compiled *regexp.Regexp // set by engine
}

// readPattern parses a pattern and adds its program size. It does not compile it,
// because compiling uses the memory.
func (d *document) readPattern(text, at string) error {
	if _, ok := d.patterns[text]; ok {
		return nil
	}
	if len(text) > maxPattern {
		return &VetError{Reason: "pattern", Path: at,
			Message: fmt.Sprintf("has a pattern longer than %d bytes", maxPattern)}
	}
	p := &pattern{text: text, re: translate(text)}
	tree, err := syntax.Parse(p.re, syntax.Perl)
	if err != nil {
		p.err = err
		p.size = 8 * len(text) // parsing has a cost, too
	} else {
		p.size = programSize(tree)
	}
	d.patterns[text] = p
	if d.program += p.size; d.program > maxProgram {
		return &VetError{Reason: "pattern", Path: at, Message: "has patterns that are too large together"}
	}
	return nil
}

// programSize estimates the number of instructions of an expression. The parser limits
// nesting and repetition.
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

// translate converts escapes of ECMA-262 that RE2 lacks (\u00e9, \u{1F600}, \cJ).
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

// ecmaEscape parses an escape at the beginning of text. It returns the length of the
// escape, or 0 if the escape needs no translation.
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

// engine compiles each pattern once. The library requests a pattern several times: to
// validate it and to use it.
func (d *document) engine(text string) (jsonschema.Regexp, error) {
	p := d.patterns[text]
	if p == nil {
		return nil, fmt.Errorf("pattern %q has not been vetted", shortenText(text))
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

// MatchString and String implement jsonschema.Regexp.
func (p *pattern) MatchString(s string) bool { return p.compiled.MatchString(s) }

func (p *pattern) String() string { return p.text }
