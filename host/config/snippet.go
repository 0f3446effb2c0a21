package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// masked stands for what is not shown.
const masked = "***"

// A snippet shows a literal only where decoding found that it is no secret:
// in an attribute that is known and not sensitive and whose name does not
// sound like a secret. A typo in a name, a block nobody knows, a file that
// does not parse: there a literal might be a password, and is masked. So are
// numbers, comments, and words without quotes, which somebody may have
// forgotten.

// snipping is what a source knows about its snippets.
type snipping struct {
	clear, hidden []hcl.Range // noted while decoding

	// The rest is computed when the first snippet is made.
	visible []bool          // for each byte
	loops   map[string]bool // the variables of all "for"
	words   []string        // the literals that are masked
}

// suspicious are parts of names that are likely to hold secrets.
var suspicious = []string{"token", "secret", "password", "passwd", "key", "auth", "credential", "cookie", "bearer"}

func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(suspicious, func(part string) bool { return strings.Contains(name, part) })
}

// reveal says that an attribute is no secret, apart from the members of its
// objects whose names sound like one.
func (l *loader) reveal(a *hclsyntax.Attribute) {
	s := l.byName[a.SrcRange.Filename]
	if s == nil || soundsSecret(a.Name) {
		return
	}
	s.snip.clear = append(s.snip.clear, a.SrcRange)
	_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if object, ok := node.(*hclsyntax.ObjectConsExpr); ok {
			for _, item := range object.Items {
				if key, ok := literal(item.KeyExpr); ok && soundsSecret(key) {
					s.snip.hidden = append(s.snip.hidden, item.ValueExpr.Range())
				}
			}
		}
		return nil
	})
}

// prepare computes what all snippets of the source need. Decoding has ended.
func (s *source) prepare() {
	if s.snip.visible != nil {
		return
	}
	s.snip.visible = make([]bool, len(s.text)+1)
	paint := func(ranges []hcl.Range, to bool) {
		for _, r := range ranges {
			for i := r.Start.Byte; i < r.End.Byte; i++ {
				s.snip.visible[i] = to
			}
		}
	}
	paint(s.snip.clear, true)
	paint(s.snip.hidden, false)
	s.snip.loops = map[string]bool{}
	for i, tok := range s.tokens {
		if s.wordAt(i) == "for" {
			s.snip.loops[s.wordAt(i+1)] = true
			if s.typeAt(i+2) == hclsyntax.TokenComma {
				s.snip.loops[s.wordAt(i+3)] = true
			}
		}
		if (tok.Type == hclsyntax.TokenQuotedLit || tok.Type == hclsyntax.TokenStringLit) && s.mask(i) {
			s.snip.words = append(s.snip.words, strings.TrimSpace(string(tok.Bytes)))
		}
	}
}

// shown reports whether a token may be seen whatever it says.
func (s *source) shown(tok hclsyntax.Token) bool { return s.snip.visible[tok.Range.Start.Byte] }

// mask reports whether token i is to be replaced.
func (s *source) mask(i int) bool {
	switch tok := s.tokens[i]; tok.Type {
	case hclsyntax.TokenQuotedLit:
		return !s.shown(tok) && !s.isLabel(i)
	case hclsyntax.TokenStringLit, hclsyntax.TokenNumberLit, hclsyntax.TokenInvalid:
		return !s.shown(tok)
	case hclsyntax.TokenIdent:
		return !s.shown(tok) && !s.isName(i)
	case hclsyntax.TokenComment:
		return true
	}
	return false
}

// isLabel: a literal that names something in every message: the label of a
// block, a variable of the environment, a file.
func (s *source) isLabel(i int) bool {
	if s.typeAt(i-1) != hclsyntax.TokenOQuote {
		return false
	}
	switch s.wordAt(i - 2) {
	case "server", "transport", "plugin", "tool":
		return true
	}
	if s.typeAt(i-2) != hclsyntax.TokenOParen {
		return false
	}
	called := s.wordAt(i - 3)
	return called == "file" || called == "env" && envRule.Match(s.tokens[i].Bytes)
}

// isName: a word that is the name of an attribute, a block, a member, a
// function or a local, and no value whose quotes were forgotten.
func (s *source) isName(i int) bool {
	text := s.wordAt(i)
	before, after := s.typeAt(i-1), s.typeAt(i+1)
	first := before == hclsyntax.TokenNewline || before == hclsyntax.TokenComment || before == hclsyntax.TokenNil
	switch after {
	case hclsyntax.TokenEqual:
		return true
	case hclsyntax.TokenOBrace, hclsyntax.TokenOQuote, hclsyntax.TokenIdent:
		if first {
			return true
		}
	case hclsyntax.TokenColon:
		if first || before == hclsyntax.TokenOBrace || before == hclsyntax.TokenComma {
			return true
		}
	case hclsyntax.TokenOParen:
		if _, known := functions[text]; known {
			return true
		}
	}
	if before == hclsyntax.TokenDot && s.wordAt(i-2) == "local" {
		return true
	}
	return slices.Contains([]string{"local", "for", "in", "if", "true", "false", "null"}, text) || s.snip.loops[text]
}

// wordAt is token i, if it is a word.
func (s *source) wordAt(i int) string {
	if s.typeAt(i) != hclsyntax.TokenIdent {
		return ""
	}
	return string(s.tokens[i].Bytes)
}

func (s *source) typeAt(i int) hclsyntax.TokenType {
	if i < 0 || i >= len(s.tokens) {
		return hclsyntax.TokenNil
	}
	return s.tokens[i].Type
}

// snippet returns the first line of r and which characters of it r covers.
func (s *source) snippet(r hcl.Range) (line string, from, to int) {
	start := bytes.LastIndexByte(s.text[:min(r.Start.Byte, len(s.text))], '\n') + 1
	end := len(s.text)
	if n := bytes.IndexByte(s.text[start:], '\n'); n >= 0 {
		end = start + n
	}
	var w lineWriter
	w.mark = [2]int{r.Start.Byte, max(r.Start.Byte+1, min(r.End.Byte, end))}
	at := start
	for i, tok := range s.tokens {
		a, b := max(tok.Range.Start.Byte, start), min(tok.Range.End.Byte, end)
		if a >= b {
			continue
		}
		w.text(at, s.text[at:a])
		if s.mask(i) {
			w.mask(a, tok.Type == hclsyntax.TokenComment)
		} else {
			w.text(a, s.text[a:b])
		}
		at = b
	}
	w.text(at, s.text[at:end])
	return w.window()
}
