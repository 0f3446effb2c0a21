package source

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// shown reports whether a token may be shown regardless of its text.
func (s *File) shown(tok hclsyntax.Token) bool { return s.snip.visible[tok.Range.Start.Byte] }

// mask reports whether token i must be masked. A snippet calls it for each token.
func (s *File) mask(i int) bool {
	switch tok := s.Tokens[i]; tok.Type {
	case hclsyntax.TokenQuotedLit:
		return !s.shown(tok) && !s.isLabel(i) && !s.isHarmless(i) || login.Match(tok.Bytes)
	case hclsyntax.TokenNumberLit:
		return !s.shown(tok) && !s.isHarmless(i)
	case hclsyntax.TokenStringLit, hclsyntax.TokenInvalid:
		return !s.shown(tok)
	case hclsyntax.TokenIdent:
		return !s.shown(tok) && !s.isName(i)
	case hclsyntax.TokenComment:
		return true
	}
	return false
}

// login matches the user name and the password in a URL.
var login = lazyregexp.New(`://[^/?#\s]*@`)

// isLabel reports whether literal i is a name that messages repeat: the label of a
// block, or the argument of env(), file() or keyring().
func (s *File) isLabel(i int) bool {
	if s.typeAt(i-1) != hclsyntax.TokenOQuote {
		return false
	}
	switch s.wordAt(i - 2) {
	case "server", "transport", "plugin", "tool", "auth", "secret_store", "variable", "module":
		return true
	}
	if s.typeAt(i-2) != hclsyntax.TokenOParen {
		return false
	}
	called := s.wordAt(i - 3)
	return called == "file" || called == "env" && s.words.EnvName.Match(s.Tokens[i].Bytes) ||
		called == "keyring" && s.words.SecretName.Match(s.Tokens[i].Bytes)
}

// isName reports whether word i is the name of an attribute, a block, a member, a
// function or a local. Any other word may be a value without its quotes.
func (s *File) isName(i int) bool {
	text := s.wordAt(i)
	before, after := s.typeAt(i-1), s.typeAt(i+1)
	first := before == hclsyntax.TokenNewline || before == hclsyntax.TokenComment || before == hclsyntax.TokenNil
	switch after {
	case hclsyntax.TokenEqual:
		return true
	case hclsyntax.TokenOBrace, hclsyntax.TokenOQuote, hclsyntax.TokenIdent:
		if first || s.words.Blocks()[text] || s.opensBlock(i-1) {
			return true
		}
	case hclsyntax.TokenColon:
		if first || before == hclsyntax.TokenOBrace || before == hclsyntax.TokenComma {
			return true
		}
	case hclsyntax.TokenOParen:
		if s.words.IsFunction(text) {
			return true
		}
	}
	return s.isMember(i) ||
		slices.Contains([]string{"local", "var", "each", "for", "in", "if", "true", "false", "null"}, text) ||
		s.snip.loops[text]
}

// opensBlock reports whether token i is the opening brace of a block. The brace of an
// object follows an operator or a bracket.
func (s *File) opensBlock(i int) bool {
	if s.typeAt(i) != hclsyntax.TokenOBrace {
		return false
	}
	header := s.typeAt(i - 1)
	return header == hclsyntax.TokenIdent || header == hclsyntax.TokenCQuote
}

// isMember reports whether token i is a member of a local, a variable, a loop variable or of
// an expression in brackets, such as both names in local.list[0].name. It looks back
// over 32 tokens at most.
func (s *File) isMember(i int) bool {
	const farthest = 32
	if s.typeAt(i-1) != hclsyntax.TokenDot {
		return false
	}
	brackets := 0
	for at := i - 1; at >= 0 && at > i-farthest; at-- {
		word, dotted := s.wordAt(at), s.typeAt(at-1) == hclsyntax.TokenDot
		switch typ := s.typeAt(at); {
		case typ == hclsyntax.TokenCBrack:
			brackets++
		case typ == hclsyntax.TokenOBrack && brackets > 0:
			brackets--
		case brackets > 0, typ == hclsyntax.TokenDot, word != "" && dotted:
		case word != "":
			return slices.Contains([]string{"local", "var", "each"}, word) || s.snip.loops[word]
		default:
			return typ == hclsyntax.TokenCBrace || typ == hclsyntax.TokenCParen
		}
	}
	return false
}

// wordAt returns the text of token i if it is a word, and "" otherwise.
func (s *File) wordAt(i int) string {
	if s.typeAt(i) != hclsyntax.TokenIdent {
		return ""
	}
	return string(s.Tokens[i].Bytes)
}

func (s *File) typeAt(i int) hclsyntax.TokenType {
	if i < 0 || i >= len(s.Tokens) {
		return hclsyntax.TokenNil
	}
	return s.Tokens[i].Type
}
