package config

import (
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const (
	maxNesting = 256
	maxTokens  = 200_000
	maxPieces  = 2_000 // in one string: the parser joins them in quadratic time
)

// prescan looks at text before the parser does. The parser recurses without a
// limit, and a stack that overflows ends the process (a file of 200 KB is
// enough); so what nests deeper than any sane file is refused here.
//
// The tokens come from the parser's own scanner, which keeps its stack on the
// heap: strings, heredocs and comments cannot make the two disagree about what
// is a bracket. A bracket that closes nothing, or the wrong one, is an error
// here, because counting on from it would be a guess.
func prescan(name string, text []byte) (hclsyntax.Tokens, *problem) {
	whole := hcl.Range{Filename: name}
	if len(text) > maxFile {
		return nil, &problem{at: whole, summary: fmt.Sprintf("the file is larger than %d KiB", maxFile>>10)}
	}
	if !utf8.Valid(text) {
		return nil, &problem{at: whole, summary: "the file is not valid UTF-8"}
	}
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	n := nesting{levels: []level{{ends: true}}}
	for i := range tokens {
		if wrong := n.token(tokens, i); wrong != nil {
			return tokens, wrong
		}
		if i == maxTokens {
			return tokens, &problem{at: whole, summary: fmt.Sprintf("the file has more than %d words and signs", maxTokens)}
		}
	}
	return tokens, nil
}

// nesting follows how deep the parser's tree can be at a token.
type nesting struct {
	levels []level
	depth  int // len(levels) and the weights of all of them
}

// A level is an open bracket, quote or template sequence, or the file itself.
type level struct {
	open   hclsyntax.Token
	ends   bool // a newline ends an expression here
	weight int  // operators, conditionals, indexes and template directives that nest without brackets
	pieces int  // of a string
}

var closers = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenCBrace:         hclsyntax.TokenOBrace,
	hclsyntax.TokenCBrack:         hclsyntax.TokenOBrack,
	hclsyntax.TokenCParen:         hclsyntax.TokenOParen,
	hclsyntax.TokenCQuote:         hclsyntax.TokenOQuote,
	hclsyntax.TokenCHeredoc:       hclsyntax.TokenOHeredoc,
	hclsyntax.TokenTemplateSeqEnd: hclsyntax.TokenTemplateInterp,
}

func (n *nesting) token(tokens hclsyntax.Tokens, i int) *problem {
	tok, top := tokens[i], &n.levels[len(n.levels)-1]
	switch tok.Type {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenOBrack:
		n.push(tok, tok.Type == hclsyntax.TokenOBrace && word(tokens, i) != "for")
	case hclsyntax.TokenTemplateControl:
		// A directive nests what follows the sequence, up to its end.
		switch word(tokens, i) {
		case "if", "for":
			n.add(1)
		case "endif", "endfor":
			n.add(-min(1, top.weight))
		}
		n.push(tok, false)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		if wrong := n.pop(tok); wrong != nil {
			return wrong
		}
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		// A comment up to the end of its line takes the newline with it.
		if top.ends && tok.Bytes[len(tok.Bytes)-1] == '\n' {
			n.add(-top.weight)
		}
	case hclsyntax.TokenComma:
		n.add(-top.weight)
	case hclsyntax.TokenQuotedNewline:
		return &problem{at: top.open.Range, summary: "the string does not end on its line",
			hint: `close it with ", or use a heredoc (<<EOT) for several lines`}
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		top.pieces++
		if top.pieces > maxPieces {
			return &problem{at: top.open.Range, summary: fmt.Sprintf("the string has more than %d lines or pieces", maxPieces),
				hint: "keep long text in a file of its own and read it with file()"}
		}
	default:
		if operators[tok.Type] {
			n.add(1)
		}
	}
	if n.depth > maxNesting {
		return &problem{at: tok.Range, summary: fmt.Sprintf("brackets, operators or templates nest deeper than %d", maxNesting)}
	}
	return nil
}

// operators make the tree deeper without a bracket, on either side.
var operators = map[hclsyntax.TokenType]bool{
	hclsyntax.TokenMinus: true, hclsyntax.TokenBang: true, hclsyntax.TokenQuestion: true,
	hclsyntax.TokenPlus: true, hclsyntax.TokenStar: true, hclsyntax.TokenSlash: true, hclsyntax.TokenPercent: true,
	hclsyntax.TokenEqualOp: true, hclsyntax.TokenNotEqual: true, hclsyntax.TokenAnd: true, hclsyntax.TokenOr: true,
	hclsyntax.TokenLessThan: true, hclsyntax.TokenLessThanEq: true,
	hclsyntax.TokenGreaterThan: true, hclsyntax.TokenGreaterThanEq: true,
}

func (n *nesting) add(weight int) {
	n.levels[len(n.levels)-1].weight += weight
	n.depth += weight
}

func (n *nesting) push(open hclsyntax.Token, ends bool) {
	n.levels = append(n.levels, level{open: open, ends: ends})
	n.depth++
}

func (n *nesting) pop(tok hclsyntax.Token) *problem {
	top := n.levels[len(n.levels)-1]
	opener := top.open.Type
	if opener == hclsyntax.TokenTemplateControl {
		opener = hclsyntax.TokenTemplateInterp // both end alike
	}
	if len(n.levels) == 1 || closers[tok.Type] != opener {
		p := &problem{at: tok.Range, summary: fmt.Sprintf("%q closes nothing that is open here", tok.Bytes)}
		if len(n.levels) > 1 {
			p.hint = fmt.Sprintf("%q of line %d is still open", top.open.Bytes, top.open.Range.Start.Line)
		}
		return p
	}
	n.levels = n.levels[:len(n.levels)-1]
	n.depth -= 1 + top.weight
	if opener == hclsyntax.TokenOBrack {
		n.add(1) // as an index it nests what stands before it
	}
	return nil
}

// word returns the word that follows token i, as the parser would see it.
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
