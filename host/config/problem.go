package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

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
	output   []string // what a plugin printed last
	at       hcl.Range
	code     fault.Code // empty: config.invalid for an error, none for a warning
	address  bool       // about where to listen
	quoted   bool       // what stands in quotes may be a value: see hushed
}

func (l *loader) problem(p problem) { l.problems = append(l.problems, p) }

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
		ds = append(ds, more(len(rest), slices.ContainsFunc(rest, func(p problem) bool { return p.severity == Error })))
	}
	return ds
}

// more counts the problems that nobody describes.
func more(count int, errors bool) Diagnostic {
	d := Diagnostic{Severity: Warning, Summary: fmt.Sprintf("and %d more problems", count),
		Hint: "mend these first; some of the rest may go with them"}
	if errors {
		d.Severity = Error
	}
	d.Code = d.Severity.code()
	return d
}

func (l *loader) diagnostic(p problem) Diagnostic {
	d := Diagnostic{
		Severity: p.severity, Summary: p.summary, Detail: p.detail, Hint: p.hint, In: p.in,
		At: startOf(p.at), End: endOf(p.at), Code: cmp.Or(p.code, p.severity.code()), address: p.address,
	}
	s := l.byName[p.at.Filename]
	if p.quoted {
		d.Summary, d.Detail, d.Hint = l.redactQuotes(s, d.Summary), l.redactQuotes(s, d.Detail), l.redactQuotes(s, d.Hint)
	}
	for _, line := range p.output {
		d.Output = append(d.Output, scrubbed(line, l.secrets))
	}
	d.quote(s, p.at)
	return d
}

// quote adds the source line, where there is one.
func (d *Diagnostic) quote(s *source, at hcl.Range) {
	if s == nil || at.Start.Line == 0 {
		return
	}
	line, from, to := s.snippet(at)
	d.Snippet, d.from, d.to = []string{line}, from, to
}
