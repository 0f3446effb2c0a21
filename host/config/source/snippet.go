package source

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/redact"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// A snippet shows a literal only if decoding revealed it: in a known attribute that
// is not sensitive and whose name does not sound like a secret. Literals are masked
// in unknown attributes and blocks, and in files with a syntax error: they may be
// passwords. See isHarmless for exceptions. Numbers and comments are masked too, and words in
// place of a value, because the quotes may be missing. Names of attributes and blocks are never masked.

// A snippetState is what a source needs to make snippets.
type snippetState struct {
	revealed, hidden []hcl.Range // added while decoding

	// prepare computes the other fields for the first snippet.
	once     sync.Once
	visible  []bool          // for each byte
	loops    map[string]bool // the variables of all "for"
	literals []string        // the masked literals
	readable map[string]bool // the words and literals that are not masked
}

// reveal marks the literals of an attribute as shown; see [Set.reveal].
func (s *snippetState) reveal(a *hclsyntax.Attribute) {
	if secretname.Sounds(a.Name) {
		return
	}
	s.revealed = append(s.revealed, a.SrcRange)
	_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if object, ok := node.(*hclsyntax.ObjectConsExpr); ok {
			for _, item := range object.Items {
				if key, ok := language.Literal(item.KeyExpr); ok && secretname.Sounds(key) {
					s.hidden = append(s.hidden, item.ValueExpr.Range())
				}
			}
		}
		return nil
	})
}

// prepare computes the state for snippets once. Call it only after decoding.
func (s *File) prepare() *snippetState {
	s.snip.once.Do(func() {
		s.computeVisible()
		s.findLoops()
		s.readLiterals()
	})
	return &s.snip
}

// computeVisible computes for each byte whether a literal there may be shown.
func (s *File) computeVisible() {
	s.snip.visible = make([]bool, len(s.Text)+1)
	for _, r := range s.snip.revealed {
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

// findLoops collects the variables of all "for" expressions.
func (s *File) findLoops() {
	s.snip.loops = map[string]bool{}
	for i := range s.Tokens {
		if s.wordAt(i) == "for" {
			s.snip.loops[s.wordAt(i+1)] = true
			if s.typeAt(i+2) == hclsyntax.TokenComma {
				s.snip.loops[s.wordAt(i+3)] = true
			}
		}
	}
}

// readLiterals divides the texts of the file into those that a message may repeat and
// those that it must mask.
func (s *File) readLiterals() {
	s.snip.readable = map[string]bool{}
	for i, tok := range s.Tokens {
		literal := tok.Type == hclsyntax.TokenQuotedLit || tok.Type == hclsyntax.TokenStringLit
		switch {
		case literal && s.mask(i):
			s.snip.literals = append(s.snip.literals, redact.Unescaped(strings.TrimSpace(string(tok.Bytes))))
		case literal && s.isHarmless(i): // it may be secret elsewhere
		case literal, tok.Type == hclsyntax.TokenIdent && !s.mask(i):
			s.snip.readable[redact.Unescaped(string(tok.Bytes))] = true
		}
	}
}

// snippet returns the first line of r, and the characters of it that r covers.
func (s *File) snippet(r hcl.Range) (line string, from, to int) {
	start := bytes.LastIndexByte(s.Text[:min(r.Start.Byte, len(s.Text))], '\n') + 1
	end := len(s.Text)
	if n := bytes.IndexByte(s.Text[start:], '\n'); n >= 0 {
		end = start + n
	}
	if end > start && s.Text[end-1] == '\r' {
		end--
	}
	s.prepare()
	var w lineWriter
	w.mark = [2]int{r.Start.Byte, max(r.Start.Byte+1, min(r.End.Byte, end))}
	at := start
	for i, tok := range s.Tokens {
		a, b := max(tok.Range.Start.Byte, start), min(tok.Range.End.Byte, end)
		if a >= b {
			continue
		}
		w.text(at, s.Text[at:a])
		if s.mask(i) {
			w.mask(a, tok.Type == hclsyntax.TokenComment)
		} else {
			w.text(a, s.Text[a:b])
		}
		at = b
	}
	w.text(at, s.Text[at:end])
	return w.window()
}

// A lineWriter builds a line with masked parts. It tracks where two offsets of the
// source are in the line.
type lineWriter struct {
	out      []rune
	mark     [2]int // offsets in the source
	from, to int    // the same in out
	last     bool   // the line ends with a mask
}

// text appends bytes of the source.
func (w *lineWriter) text(offset int, b []byte) {
	for i, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\t' {
			r = unicode.ReplacementChar // a terminal may interpret it
		}
		w.out = append(w.out, r)
		w.reached(offset + i)
		w.last = false
	}
}

// mask appends a mask for the token at offset. Adjacent masks become one.
func (w *lineWriter) mask(offset int, comment bool) {
	if comment {
		w.out = append(w.out, '#', ' ')
	}
	if !w.last {
		w.out = append(w.out, []rune(redact.Mask)...)
	}
	w.last = true
	w.reached(offset)
}

// reached records that the line now ends with the character at offset.
func (w *lineWriter) reached(offset int) {
	if offset <= w.mark[0] {
		w.from = len(w.out) - 1
		if w.last {
			w.from = len(w.out) - len(redact.Mask)
		}
	}
	if offset < w.mark[1] {
		w.to = len(w.out)
	}
}

// window returns the line, cut to 160 characters around the mark.
func (w *lineWriter) window() (line string, from, to int) {
	const before, width = 40, 160
	out, from, to := w.out, w.from, max(w.to, w.from+1)
	if from > width-before && len(out) > width {
		cut := from - before
		out, from, to = append([]rune("..."), out[cut:]...), from-cut+3, to-cut+3
	}
	if len(out) > width {
		out = append(slices.Clone(out[:width]), '.', '.', '.')
	}
	return string(out), from, min(to, len(out))
}
