package condition

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxPattern bounds the length of a regular expression in bytes.
	maxPattern = 1000
	// maxProgram bounds the instructions that it compiles to. The time of a match is at
	// most their number times the length of the text.
	maxProgram = 4000
)

// A pattern is the compiled regular expression of a call of matches. It matches a whole
// text, and its dot matches every character.
type pattern struct {
	regexp  *regexp.Regexp
	program *syntax.Prog
	size    int // of its program
}

// compilePattern compiles the pattern of matches. why says why it cannot be compiled.
func (c *Call) compilePattern() (_ *pattern, why string) {
	constant, ok := c.Args[1].(*Constant)
	switch {
	case !ok:
		return nil, "the pattern of matches must be a constant"
	case constant.Value.kind != text:
		return nil, "the pattern of matches is " + kindNames[constant.Value.kind] + ", and must be a text"
	case constant.Value.size() > maxPattern:
		return nil, fmt.Sprintf("the pattern has %d bytes, and at most %d are allowed",
			constant.Value.size(), maxPattern)
	}
	source := constant.Value.String()
	// Parsed alone first: "a)|(b" is no pattern, though it is one in parentheses.
	if _, err := syntax.Parse(source, syntax.Perl); err != nil {
		if e := new(syntax.Error); errors.As(err, &e) {
			return nil, fmt.Sprintf("the pattern is wrong: %s: %s", e.Code, e.Expr)
		}
		return nil, "the pattern is wrong"
	}
	whole := `\A(?s:` + source + `)\z`
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		return nil, "the pattern is nested too deep"
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, "the pattern is too complex: write smaller repetitions"
	}
	compiled, err := regexp.Compile(whole)
	if err != nil {
		return nil, "the pattern is wrong"
	}
	return &pattern{compiled, program, len(program.Inst)}, ""
}

// match reports whether the pattern matches a whole text.
func (p *pattern) match(e *evaluation, v Value) Value {
	if p == nil {
		return fail("the pattern of matches is wrong")
	}
	if e.work += (v.size() + 1) * p.size; e.work > MaxWork {
		return failTooLarge()
	}
	if v.raw != nil {
		return Bool(p.regexp.Match(v.raw))
	}
	return Bool(p.regexp.MatchString(v.str))
}

// mapText returns a text in another case, in Unicode normal form C.
func (e *evaluation) mapText(v Value, to func(string) string) Value {
	if e.work += v.size(); e.work > MaxWork {
		return failTooLarge()
	}
	return Text(norm.NFC.String(to(v.String())))
}

// quoted returns a constant for a message.
func (v Value) quoted() string { return strconv.Quote(v.String()) }
