package config

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// masked stands for what is not shown.
const masked = "***"

// A snippet shows a literal only where decoding found that it is no secret:
// in an attribute that is known and not sensitive and whose name does not
// sound like a secret. A typo in a name, a block nobody knows, a file that
// does not parse: there a literal might be a password, and is masked. So are
// numbers, comments, and words that stand where a value does, because somebody
// may have forgotten the quotes. The names of things are never masked.

// snipping is what a source knows about its snippets.
type snipping struct {
	clear, hidden []hcl.Range // noted while decoding

	// The rest is computed when the first snippet is made.
	once     sync.Once
	visible  []bool          // for each byte
	loops    map[string]bool // the variables of all "for"
	literals []string        // those that are masked
	readable map[string]bool // words and literals that are not
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

// revealLabel says that a block with this label is known: the name of a thing.
func (l *loader) revealLabel(at hcl.Range) {
	if s := l.byName[at.Filename]; s != nil {
		s.snip.clear = append(s.snip.clear, at)
	}
}

// prepare computes what all snippets of the source need. Decoding has ended.
func (s *source) prepare() *snipping {
	s.snip.once.Do(func() {
		s.paint()
		s.findLoops()
		s.readLiterals()
	})
	return &s.snip
}

// paint says for each byte whether a literal there may be seen.
func (s *source) paint() {
	s.snip.visible = make([]bool, len(s.text)+1)
	for _, r := range s.snip.clear {
		for i := r.Start.Byte; i < r.End.Byte; i++ {
			s.snip.visible[i] = true
		}
	}
	for _, r := range s.snip.hidden {
		for i := r.Start.Byte; i < r.End.Byte; i++ {
			s.snip.visible[i] = false
		}
	}
}

func (s *source) findLoops() {
	s.snip.loops = map[string]bool{}
	for i := range s.tokens {
		if s.wordAt(i) == "for" {
			s.snip.loops[s.wordAt(i+1)] = true
			if s.typeAt(i+2) == hclsyntax.TokenComma {
				s.snip.loops[s.wordAt(i+3)] = true
			}
		}
	}
}

// readLiterals sorts the texts of the file by whether a message may repeat them.
func (s *source) readLiterals() {
	s.snip.readable = map[string]bool{}
	for i, tok := range s.tokens {
		literal := tok.Type == hclsyntax.TokenQuotedLit || tok.Type == hclsyntax.TokenStringLit
		switch {
		case literal && s.mask(i):
			s.snip.literals = append(s.snip.literals, unescaped(strings.TrimSpace(string(tok.Bytes))))
		case literal, tok.Type == hclsyntax.TokenIdent && !s.mask(i):
			s.snip.readable[unescaped(string(tok.Bytes))] = true
		}
	}
}

// snippet returns the first line of r and which characters of it r covers.
func (s *source) snippet(r hcl.Range) (line string, from, to int) {
	start := bytes.LastIndexByte(s.text[:min(r.Start.Byte, len(s.text))], '\n') + 1
	end := len(s.text)
	if n := bytes.IndexByte(s.text[start:], '\n'); n >= 0 {
		end = start + n
	}
	if end > start && s.text[end-1] == '\r' {
		end--
	}
	s.prepare()
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
