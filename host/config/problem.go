package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A problem is a diagnostic in the making. Its snippet waits until everything
// is decoded: only then is it known which literals are no secrets.
type problem struct {
	severity Severity
	summary  string
	detail   string
	hint     string
	in       string
	at       hcl.Range
	code     fault.Code // empty: config.invalid
	scrub    bool       // the words are not all ours and may hold values
}

func (l *loader) problem(p problem) { l.problems = append(l.problems, p) }

// foreign makes a problem of what HCL says. Its summaries are fixed texts; its
// details may quote what an expression worked with.
func foreign(in string, d *hcl.Diagnostic) problem {
	p := problem{in: in, summary: lowerFirst(d.Summary), detail: d.Detail, scrub: true}
	if d.Severity == hcl.DiagWarning {
		p.severity = Warning
	}
	if d.Subject != nil {
		p.at = *d.Subject
	}
	if d.Summary == "Duplicate object key" {
		p.detail, p.hint = "", `write "..." after the value to collect what has the same key` // it quotes the key
	}
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok || call.FunctionCallError() == nil {
		return p
	}
	if d.Context != nil {
		p.at = *d.Context // the whole call
	}
	p.detail = ""
	p.summary = fmt.Sprintf("%s(): %v", call.CalledFunctionName(), call.FunctionCallError())
	if e, ok := call.FunctionCallError().(*callError); ok {
		p.summary, p.hint = e.message, e.hint
	}
	return p
}

// lowerFirst makes "Missing expression" fit after "error: ".
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// diagnostics turns the problems into what people see: in order, each once,
// with a snippet, at most MaxDiagnostics of them.
func (l *loader) diagnostics() Diagnostics {
	order := map[string]int{}
	for i, s := range l.sources {
		order[s.name] = i
	}
	slices.SortStableFunc(l.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(order[a.at.Filename], order[b.at.Filename]),
			cmp.Compare(a.at.Start.Line, b.at.Start.Line), cmp.Compare(a.at.Start.Column, b.at.Start.Column))
	})
	problems := slices.CompactFunc(l.problems, func(a, b problem) bool { return a.at == b.at && a.summary == b.summary })
	var ds Diagnostics
	for _, p := range problems[:min(len(problems), MaxDiagnostics)] {
		ds = append(ds, l.diagnostic(p))
	}
	if rest := problems[len(ds):]; len(rest) > 0 {
		note := Diagnostic{Severity: Warning, Summary: fmt.Sprintf("and %d more problems", len(rest)),
			Hint: "mend these first; some of the rest may go with them", Code: fault.ConfigInvalid}
		if slices.ContainsFunc(rest, func(p problem) bool { return p.severity == Error }) {
			note.Severity = Error
		}
		ds = append(ds, note)
	}
	return ds
}

func (l *loader) diagnostic(p problem) Diagnostic {
	d := Diagnostic{
		Severity: p.severity, Summary: p.summary, Detail: p.detail, Hint: p.hint, In: p.in,
		At: startOf(p.at), End: endOf(p.at), Code: cmp.Or(p.code, fault.ConfigInvalid),
	}
	s := l.byName[p.at.Filename]
	if s != nil {
		s.prepare()
	}
	if p.scrub {
		words := l.secrets
		if s != nil {
			words = slices.Concat(words, s.snip.words)
		}
		d.Summary, d.Detail, d.Hint = scrubbed(d.Summary, words), scrubbed(d.Detail, words), scrubbed(d.Hint, words)
	}
	if s != nil && p.at.Start.Line > 0 {
		line, from, to := s.snippet(p.at)
		d.Snippet, d.from, d.to = []string{line}, from, to
	}
	return d
}

// scrubbed replaces every one of the words in text. Shorter ones than four
// bytes are no secrets and would tear ordinary words apart.
func scrubbed(text string, words []string) string {
	for _, w := range words {
		if len(w) >= 4 {
			text = strings.ReplaceAll(text, w, masked)
		}
	}
	return text
}
