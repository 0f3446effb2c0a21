package hcltext

import (
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Limits of a text.
const (
	MaxBytes  = 1 << 20 // of one file of a configuration
	MaxTokens = 200_000 // of one file of a configuration
	// MaxNesting is the maximum depth of brackets, operators and templates.
	MaxNesting = 256
	maxPieces  = 2_000 // of one string: the parser joins them in quadratic time
)

// Limits bound the text of a file.
type Limits struct{ Bytes, Tokens int }

// Configuration are the limits of one file of a configuration.
var Configuration = Limits{MaxBytes, MaxTokens}

// Scan checks the size and the nesting of a text. The tokens come from the parser's own
// scanner, which does not recurse. Both therefore agree on strings, heredocs and comments.
// A bracket that does not match its opening bracket is an error, because the depth behind
// it is not known.
func Scan(name string, text []byte, limits Limits) *Scanned {
	s := &Scanned{name: name, text: text}
	whole := hcl.Range{Filename: name}
	switch {
	case len(text) > limits.Bytes:
		s.Problem = &Problem{At: whole, Summary: fmt.Sprintf("the file is larger than %d KiB", limits.Bytes>>10)}
		return s
	case !utf8.Valid(text):
		s.Problem = &Problem{At: whole, Summary: "the file is not valid UTF-8"}
		return s
	}
	s.Tokens, _ = hclsyntax.LexConfig(text, name, hcl.InitialPos)
	n := nesting{levels: []level{{ends: true}}}
	for i := range s.Tokens {
		if s.Problem = n.token(s.Tokens, i); s.Problem != nil {
			return s
		}
		if i == limits.Tokens {
			s.Problem = &Problem{At: whole,
				Summary: fmt.Sprintf("the file has more than %d words and signs", limits.Tokens)}
			return s
		}
	}
	return s
}

// nesting computes a bound on the depth of the parser's tree at a token.
type nesting struct {
	levels []level
	depth  int  // len(levels) plus all weights and the blocks that the parser may not see end
	begun  bool // the line has a token
}

// A level is an open bracket, quote or template sequence, or the file itself.
type level struct {
	open   hclsyntax.Token
	block  bool // the bracket begins a block
	ends   bool // a newline ends an expression here
	weight int  // operators, conditionals, indexes and template directives that nest without brackets
	pieces int  // lines and parts of a string
}

var closers = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenCBrace:         hclsyntax.TokenOBrace,
	hclsyntax.TokenCBrack:         hclsyntax.TokenOBrack,
	hclsyntax.TokenCParen:         hclsyntax.TokenOParen,
	hclsyntax.TokenCQuote:         hclsyntax.TokenOQuote,
	hclsyntax.TokenCHeredoc:       hclsyntax.TokenOHeredoc,
	hclsyntax.TokenTemplateSeqEnd: hclsyntax.TokenTemplateInterp,
}

// token adds token i, and returns a problem if the text must not be parsed.
func (n *nesting) token(tokens hclsyntax.Tokens, i int) *Problem {
	tok, top := tokens[i], &n.levels[len(n.levels)-1]
	first := !n.begun
	switch {
	case tok.Type == hclsyntax.TokenNewline, tok.Type == hclsyntax.TokenComment && tok.Bytes[len(tok.Bytes)-1] == '\n':
		n.begun = false
	case tok.Type != hclsyntax.TokenComment:
		n.begun = true
	}
	switch tok.Type {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenOBrack:
		block := tok.Type == hclsyntax.TokenOBrace && n.beginsBlock(tokens, i)
		n.push(tok, tok.Type == hclsyntax.TokenOBrace && word(tokens, i) != "for")
		n.levels[len(n.levels)-1].block = block
	case hclsyntax.TokenTemplateControl:
		// A directive nests the text up to its end directive.
		switch word(tokens, i) {
		case "if", "for":
			n.add(1)
		case "endif", "endfor":
			n.add(-min(1, top.weight))
		}
		n.push(tok, false)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		unseen := top.block && !first && tok.Range.Start.Line > top.open.Range.Start.Line
		if wrong := n.pop(tok); wrong != nil {
			return wrong
		}
		if unseen {
			n.depth++ // the parser skips a line with a mistake, and the end of a block in it
		}
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		// The token of a comment to the end of the line includes the newline.
		if top.ends && tok.Bytes[len(tok.Bytes)-1] == '\n' {
			n.add(-top.weight)
		}
	case hclsyntax.TokenComma:
		n.add(-top.weight)
	case hclsyntax.TokenQuotedNewline:
		return &Problem{At: top.open.Range, Summary: "the string does not end on its line",
			Hint: `close it with ", or use a heredoc (<<EOT) for several lines`}
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		top.pieces++
		if top.pieces > maxPieces {
			return &Problem{At: top.open.Range, Hint: "keep long text in a file of its own and read it with file()",
				Summary: fmt.Sprintf("the string has more than %d lines or pieces", maxPieces)}
		}
	default:
		if operators[tok.Type] {
			n.add(1)
		}
	}
	if n.depth > MaxNesting {
		return &Problem{At: tok.Range,
			Summary: fmt.Sprintf("brackets, operators or templates nest deeper than %d", MaxNesting)}
	}
	return nil
}

// operators are the tokens that deepen the tree without a bracket.
var operators = map[hclsyntax.TokenType]bool{
	hclsyntax.TokenMinus: true, hclsyntax.TokenBang: true, hclsyntax.TokenQuestion: true,
	hclsyntax.TokenPlus: true, hclsyntax.TokenStar: true, hclsyntax.TokenSlash: true, hclsyntax.TokenPercent: true,
	hclsyntax.TokenEqualOp: true, hclsyntax.TokenNotEqual: true, hclsyntax.TokenAnd: true, hclsyntax.TokenOr: true,
	hclsyntax.TokenLessThan: true, hclsyntax.TokenLessThanEq: true,
	hclsyntax.TokenGreaterThan: true, hclsyntax.TokenGreaterThanEq: true,
}

// add adds a weight to the innermost level.
func (n *nesting) add(weight int) {
	n.levels[len(n.levels)-1].weight += weight
	n.depth += weight
}

// push opens a level.
func (n *nesting) push(open hclsyntax.Token, ends bool) {
	n.levels = append(n.levels, level{open: open, ends: ends})
	n.depth++
}

// pop closes the innermost level. It returns a problem if tok does not match it.
func (n *nesting) pop(tok hclsyntax.Token) *Problem {
	top := n.levels[len(n.levels)-1]
	opener := top.open.Type
	if opener == hclsyntax.TokenTemplateControl {
		opener = hclsyntax.TokenTemplateInterp // both have the same closing token
	}
	if len(n.levels) == 1 || closers[tok.Type] != opener {
		p := &Problem{At: tok.Range, Summary: fmt.Sprintf("%q closes nothing that is open here", tok.Bytes)}
		if len(n.levels) > 1 {
			p.Hint = fmt.Sprintf("%q of line %d is still open", top.open.Bytes, top.open.Range.Start.Line)
		}
		return p
	}
	n.levels = n.levels[:len(n.levels)-1]
	n.depth -= 1 + top.weight
	if opener == hclsyntax.TokenOBrack {
		n.add(1) // an index nests the expression before it
	}
	return nil
}

// beginsBlock reports whether the brace at token i may begin a block and not an object.
func (n *nesting) beginsBlock(tokens hclsyntax.Tokens, i int) bool {
	if top := n.levels[len(n.levels)-1]; len(n.levels) > 1 && !top.block {
		return false
	}
	if i == 0 {
		return true
	}
	switch tokens[i-1].Type {
	case hclsyntax.TokenIdent, hclsyntax.TokenCQuote, hclsyntax.TokenNewline, hclsyntax.TokenComment:
		return true
	}
	return false
}

// word returns the identifier after token i, without newlines and comments between.
func word(tokens hclsyntax.Tokens, i int) string {
	for _, tok := range tokens[i+1:] {
		switch tok.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			continue
		case hclsyntax.TokenIdent:
			return string(tok.Bytes)
		}
		return ""
	}
	return ""
}
