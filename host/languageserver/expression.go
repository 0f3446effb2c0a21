package languageserver

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// inString returns the string of an expression that holds a place, without its quotes. bare is
// true for a place outside of strings, also in an interpolation.
func inString(tokens hclsyntax.Tokens, offset, end int) (w sketchWord, bare bool) {
	bare = true
	depth := []bool{}
	for i, tok := range tokens {
		if from := tok.Range.Start.Byte; from > offset || from == offset && tok.Type != hclsyntax.TokenCQuote {
			break
		}
		switch tok.Type {
		case hclsyntax.TokenOQuote:
			depth = append(depth, true)
			w = sketchWord{from: tok.Range.End.Byte, to: end}
			for _, later := range tokens[i+1:] {
				if later.Type != hclsyntax.TokenQuotedLit {
					w.to = later.Range.Start.Byte
					break
				}
			}
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth = append(depth, false)
		case hclsyntax.TokenCQuote:
			if tok.Range.Start.Byte < offset {
				depth = depth[:max(0, len(depth)-1)]
			}
		case hclsyntax.TokenTemplateSeqEnd:
			depth = depth[:max(0, len(depth)-1)]
		}
	}
	if len(depth) > 0 {
		bare = !depth[len(depth)-1]
	}
	return w, bare
}

// identifierAt returns the index of the identifier that holds a place or ends there, or -1.
func identifierAt(tokens hclsyntax.Tokens, offset int) int {
	return slices.IndexFunc(tokens, func(tok hclsyntax.Token) bool {
		return tok.Type == hclsyntax.TokenIdent && wordOf(tok).holds(offset)
	})
}

// referenceAt returns the root and the member of local.NAME, var.NAME or each.NAME, of which
// token i is a part.
func referenceAt(tokens hclsyntax.Tokens, i int) (root string, name sketchWord, ok bool) {
	isRoot := func(j int) bool {
		return j >= 0 && j+2 < len(tokens) &&
			slices.Contains([]string{"local", "var", "each"}, string(tokens[j].Bytes)) &&
			tokens[j+1].Type == hclsyntax.TokenDot && tokens[j+2].Type == hclsyntax.TokenIdent &&
			tokens[j].Range.End.Byte+1 == tokens[j+2].Range.Start.Byte &&
			(j == 0 || tokens[j-1].Type != hclsyntax.TokenDot)
	}
	switch {
	case isRoot(i):
	case isRoot(i - 2):
		i -= 2
	default:
		return "", name, false
	}
	return string(tokens[i].Bytes), wordOf(tokens[i+2]), true
}

// A sketchMember is a member of an object.
type sketchMember struct {
	key    sketchWord
	tokens hclsyntax.Tokens
}

// membersIn returns the members of an object expression.
func membersIn(tokens hclsyntax.Tokens) (all []sketchMember) {
	depth := 0
	for i := 0; i < len(tokens); i++ {
		depth += nesting(tokens[i].Type)
		if depth != 1 || tokens[i].Type != hclsyntax.TokenIdent && tokens[i].Type != hclsyntax.TokenQuotedLit {
			continue
		}
		after := i + 1
		if after < len(tokens) && tokens[after].Type == hclsyntax.TokenCQuote {
			after++
		}
		if after < len(tokens) &&
			(tokens[after].Type == hclsyntax.TokenEqual || tokens[after].Type == hclsyntax.TokenColon) {
			end := memberEnd(tokens, after+1)
			all = append(all, sketchMember{wordOf(tokens[i]), tokens[after+1 : end]})
			i = end - 1
		}
	}
	return all
}

// memberEnd returns the index of the token that ends the value beginning with token i.
func memberEnd(tokens hclsyntax.Tokens, i int) int {
	for depth := 0; i < len(tokens); i++ {
		change, kind := nesting(tokens[i].Type), tokens[i].Type
		ends := change < 0 || kind == hclsyntax.TokenComma || kind == hclsyntax.TokenNewline
		if ends && depth == 0 {
			return i
		}
		depth += change
	}
	return i
}

// nesting returns 1 for a bracket that opens, -1 for one that closes, and 0 for other tokens.
func nesting(kind hclsyntax.TokenType) int {
	switch kind {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return 1
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		return -1
	}
	return 0
}

// literalIn returns the text of an expression that is one string without interpolation.
func literalIn(tokens hclsyntax.Tokens) string {
	for len(tokens) > 0 && tokens[len(tokens)-1].Type == hclsyntax.TokenComment {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) != 3 || tokens[0].Type != hclsyntax.TokenOQuote || tokens[1].Type != hclsyntax.TokenQuotedLit {
		return ""
	}
	return string(tokens[1].Bytes)
}
