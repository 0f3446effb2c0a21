package languageserver

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/hcltext"
)

// A sketch is the structure of a text that may be incomplete: its blocks and attributes, by
// their tokens. An editor asks about places in a text that the parser refuses.
type sketch struct {
	path   string
	text   []byte
	tokens hclsyntax.Tokens
	root   *sketchBlock
}

// A sketchBlock is a block, or the whole text.
type sketchBlock struct {
	kind       sketchWord
	labels     []sketchWord
	parent     *sketchBlock // nil: the whole text
	blocks     []*sketchBlock
	attributes []*sketchAttribute
	from, to   int // byte offsets of the body; from is -1 for a header without a body
}

// A sketchWord is a name or a label with its place. The quotes of a label are outside.
type sketchWord struct {
	text     string
	from, to int // byte offsets
}

// A sketchAttribute is an attribute with the tokens of its expression.
type sketchAttribute struct {
	name     sketchWord
	tokens   hclsyntax.Tokens
	from, to int // byte offsets between the equals sign and the end of the expression
}

// holds reports whether a place is in the word or at its end.
func (w sketchWord) holds(offset int) bool { return w.from <= offset && offset <= w.to }

// label returns the first label, or "".
func (b *sketchBlock) label() string {
	if len(b.labels) == 0 {
		return ""
	}
	return b.labels[0].text
}

// attribute returns the attribute with a name, or nil.
func (b *sketchBlock) attribute(name string) *sketchAttribute {
	if i := slices.IndexFunc(b.attributes, func(a *sketchAttribute) bool { return a.name.text == name }); i >= 0 {
		return b.attributes[i]
	}
	return nil
}

// sketchOf sketches a text. Of a text that is too large or nests too deep, it sketches the
// beginning.
func sketchOf(path string, text []byte) *sketch {
	text = text[:min(len(text), hcltext.MaxBytes)]
	s := &sketch{path: path, text: text, tokens: lexLoosely(path, text)}
	s.tokens = s.tokens[:min(len(s.tokens), hcltext.MaxTokens)]
	s.root = &sketchBlock{to: len(text)}
	at, depth := s.root, 0
	for i := 0; i < len(s.tokens) && depth <= hcltext.MaxNesting; {
		switch tok := s.tokens[i]; tok.Type {
		case hclsyntax.TokenCBrace:
			if at.parent != nil {
				at.to = tok.Range.Start.Byte
				at, depth = at.parent, depth-1
			}
			i++
		case hclsyntax.TokenIdent:
			if tok.Range.Start.Column == 1 && s.beginsTopLevel(i) {
				for ; at.parent != nil; at = at.parent { // a brace is missing before
					at.to = max(at.from, tok.Range.Start.Byte-1)
				}
				depth = 0
			}
			var opened *sketchBlock
			if i, opened = s.item(at, i); opened != nil {
				at, depth = opened, depth+1
			}
		default:
			i++
		}
	}
	return s
}

// beginsTopLevel reports whether a block that is only known at the top level begins with token
// i.
func (s *sketch) beginsTopLevel(i int) bool {
	if _, known := config.Language().Blocks[string(s.tokens[i].Bytes)]; !known || i+1 == len(s.tokens) {
		return false
	}
	next := s.tokens[i+1].Type
	return next == hclsyntax.TokenOBrace || next == hclsyntax.TokenOQuote
}

// maxUnclosed bounds the strings without an end that lexLoosely repairs.
const maxUnclosed = 32

// lexLoosely returns the tokens of a text. A string without an end ends with its line.
func lexLoosely(path string, text []byte) (all hclsyntax.Tokens) {
	pos := hcl.InitialPos
	for range maxUnclosed {
		tokens, _ := hclsyntax.LexConfig(text[pos.Byte:], path, pos)
		cut := slices.IndexFunc(tokens,
			func(tok hclsyntax.Token) bool { return tok.Type == hclsyntax.TokenQuotedNewline })
		if cut < 0 {
			return append(all, tokens...)
		}
		pos = tokens[cut].Range.Start
		all = append(append(all, tokens[:cut]...),
			hclsyntax.Token{Type: hclsyntax.TokenCQuote, Range: hcl.Range{Filename: path, Start: pos, End: pos}})
	}
	return all
}

// item adds the attribute or the block that begins with token i. It returns the index of the
// next token, and the block if its body begins there.
func (s *sketch) item(in *sketchBlock, i int) (next int, opened *sketchBlock) {
	b := &sketchBlock{kind: wordOf(s.tokens[i]), parent: in, from: -1, to: len(s.text)}
	next = i + 1
	for next < len(s.tokens) {
		switch s.tokens[next].Type {
		case hclsyntax.TokenIdent:
			b.labels = append(b.labels, wordOf(s.tokens[next]))
			next++
			continue
		case hclsyntax.TokenOQuote:
			var label sketchWord
			label, next = s.quoted(next)
			b.labels = append(b.labels, label)
			continue
		}
		break
	}
	if next == len(s.tokens) {
		return next, nil
	}
	tok := s.tokens[next]
	switch {
	case tok.Type == hclsyntax.TokenEqual && len(b.labels) == 0:
		end := s.expressionEnd(next + 1)
		a := &sketchAttribute{name: b.kind, tokens: s.tokens[next+1 : end], from: tok.Range.End.Byte, to: len(s.text)}
		if end < len(s.tokens) {
			a.to = s.tokens[end].Range.Start.Byte
		}
		in.attributes = append(in.attributes, a)
		return end, nil
	case tok.Type == hclsyntax.TokenOBrace:
		b.from = tok.Range.End.Byte
		in.blocks = append(in.blocks, b)
		return next + 1, b
	}
	b.to = b.kind.to
	if len(b.labels) > 0 {
		b.to = b.labels[len(b.labels)-1].to
	}
	in.blocks = append(in.blocks, b)
	return next, nil
}

// wordOf returns a token as a word.
func wordOf(tok hclsyntax.Token) sketchWord {
	return sketchWord{string(tok.Bytes), tok.Range.Start.Byte, tok.Range.End.Byte}
}

// quoted returns the string that begins with token i, and the index behind it.
func (s *sketch) quoted(i int) (w sketchWord, next int) {
	w.from = s.tokens[i].Range.End.Byte
	w.to = w.from
	for next = i + 1; next < len(s.tokens); next++ {
		tok := s.tokens[next]
		if tok.Type == hclsyntax.TokenCQuote {
			w.to = tok.Range.Start.Byte
			next++
			break
		}
		if tok.Type != hclsyntax.TokenQuotedLit {
			break
		}
		w.to = tok.Range.End.Byte
	}
	w.text = string(s.text[w.from:w.to])
	return w, next
}

// expressionEnd returns the index of the token that ends the expression beginning with token
// i: the end of its line, the brace of its block, or what can only begin an attribute or a
// block while a bracket is still open.
func (s *sketch) expressionEnd(i int) int {
	var open []hclsyntax.TokenType
	for ; i < len(s.tokens); i++ {
		tok := s.tokens[i]
		switch tok.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			open = append(open, tok.Type)
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if len(open) == 0 && tok.Type == hclsyntax.TokenCBrace {
				return i
			}
			open = open[:max(0, len(open)-1)]
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			if tok.Type == hclsyntax.TokenComment && tok.Bytes[len(tok.Bytes)-1] != '\n' {
				continue
			}
			if len(open) == 0 || s.beginsItem(i+1, open[len(open)-1]) ||
				i+1 < len(s.tokens) && s.tokens[i+1].Range.Start.Column == 1 && s.beginsTopLevel(i+1) {
				return i
			}
		case hclsyntax.TokenEOF:
			return i
		}
	}
	return i
}

// beginsItem reports whether an attribute or a block begins with token i, although the given
// bracket is open.
func (s *sketch) beginsItem(i int, open hclsyntax.TokenType) bool {
	if i+1 >= len(s.tokens) || s.tokens[i].Type != hclsyntax.TokenIdent {
		return false
	}
	switch open {
	case hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
		next := s.tokens[i+1].Type
		return next == hclsyntax.TokenEqual || next == hclsyntax.TokenOBrace || next == hclsyntax.TokenOQuote
	case hclsyntax.TokenOBrace:
		return s.tokens[i+1].Type == hclsyntax.TokenOQuote
	}
	return false
}

// A sketchPlace is what is at a place of a text.
type sketchPlace struct {
	block     *sketchBlock     // whose body has the place
	attribute *sketchAttribute // whose expression has it, or nil
	header    *sketchBlock     // whose kind or label has it, or nil
	label     int              // the index of that label; -1: the kind
}

// at returns what is at a byte offset.
func (s *sketch) at(offset int) sketchPlace {
	p := sketchPlace{block: s.root}
	for inner := s.root; inner != nil; {
		p.block, inner = inner, nil
		for _, b := range p.block.blocks {
			if b.from >= 0 && b.from <= offset && offset <= b.to {
				inner = b
			}
		}
	}
	for _, b := range p.block.blocks {
		if b.kind.holds(offset) {
			p.header, p.label = b, -1
		}
		for i, label := range b.labels {
			if label.holds(offset) {
				p.header, p.label = b, i
			}
		}
	}
	for _, a := range p.block.attributes {
		if a.from <= offset && offset <= a.to {
			p.attribute = a
		}
	}
	return p
}
