package source

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/redact"
)

// A Severity says whether a diagnostic prevents the use of the configuration.
type Severity int

// The severities.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Code returns the code of a diagnostic without a specific one.
func (s Severity) Code() fault.Code {
	if s == Warning {
		return ""
	}
	return fault.ConfigInvalid
}

// A Diagnostic is one problem of a configuration. It contains no value that could be
// secret, but it contains names of the configuration. It is a value; the verbs, the host and the
// language server print it.
type Diagnostic struct {
	Severity Severity
	Summary  string   // one lower-case sentence without a full stop
	Detail   string   // an explanation; may be empty
	Hint     string   // the correction; may be empty
	Output   []string // the last lines that a plugin printed; may be empty
	In       string   // the outermost block, such as `server "github"`; may be empty
	At, End  Position
	Start    int        // the byte offset of At in the text of its file
	Stop     int        // that of End
	Snippet  []string   // the source line, with *** in place of possible secrets
	Code     fault.Code // empty for most warnings

	Address  bool // about the address to listen at; HTTP.WithAddress removes it
	from, to int  // the marked characters of the snippet; equal: none
}

// Diagnostics are sorted by file and place; errors and warnings are mixed. They
// describe at most [MaxDiagnostics] problems. One more diagnostic counts the rest.
type Diagnostics []Diagnostic

// MaxDiagnostics is the number of problems that one load describes.
const MaxDiagnostics = 50

// HasErrors reports whether the configuration cannot be used.
func (ds Diagnostics) HasErrors() bool {
	for _, d := range ds {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Err returns nil without an error, else a [*fault.Error] with the number of errors
// and the first one.
func (ds Diagnostics) Err() error {
	var first *Diagnostic
	count := 0
	for i := range ds {
		if ds[i].Severity != Error {
			continue
		}
		if first == nil {
			first = &ds[i]
		}
		count++
	}
	if first == nil {
		return nil
	}
	message := first.Summary
	switch {
	case len(ds) > MaxDiagnostics:
		message = fmt.Sprintf("the configuration has more than %d problems; the first error: %s",
			MaxDiagnostics, first.Summary)
	case count > 1:
		message = fmt.Sprintf("the configuration has %d errors; the first: %s", count, first.Summary)
	}
	return &fault.Error{Code: fault.ConfigInvalid, Message: message, At: first.At.String(), Hint: first.Hint}
}

// Diagnostics converts the problems to at most MaxDiagnostics diagnostics, sorted,
// without duplicates, and with snippets.
func (s *Set) Diagnostics() Diagnostics {
	order := s.Order()
	slices.SortStableFunc(s.problems, func(a, b language.Problem) int {
		return cmp.Or(cmp.Compare(order[a.At.Filename], order[b.At.Filename]),
			cmp.Compare(a.At.Start.Line, b.At.Start.Line), cmp.Compare(a.At.Start.Column, b.At.Start.Column))
	})
	problems := slices.CompactFunc(s.problems,
		func(a, b language.Problem) bool { return a.At == b.At && a.Summary == b.Summary })
	var ds Diagnostics
	for _, p := range problems[:min(len(problems), MaxDiagnostics)] {
		ds = append(ds, s.diagnostic(p))
	}
	if rest := problems[len(ds):]; len(rest) > 0 {
		ds = append(ds,
			MoreProblems(len(rest), slices.ContainsFunc(rest, func(p language.Problem) bool { return !p.Warning })))
	}
	return ds
}

// MoreProblems returns the diagnostic that counts the problems beyond MaxDiagnostics.
func MoreProblems(count int, errors bool) Diagnostic {
	d := Diagnostic{Severity: Warning, Summary: fmt.Sprintf("and %d more problems", count),
		Hint: "correct these first; some of the others may follow from them"}
	if errors {
		d.Severity = Error
	}
	d.Code = d.Severity.Code()
	return d
}

func (s *Set) diagnostic(p language.Problem) Diagnostic {
	severity := Error
	if p.Warning {
		severity = Warning
	}
	d := Diagnostic{
		Severity: severity, Summary: p.Summary, Detail: p.Detail, Hint: p.Hint, In: p.In,
		At: StartOf(p.At), End: EndOf(p.At), Start: p.At.Start.Byte, Stop: p.At.End.Byte,
		Code: cmp.Or(p.Code, severity.Code()), Address: p.Address,
	}
	f := s.byName[p.At.Filename]
	if p.Quoted {
		d.Summary, d.Detail, d.Hint = s.redactQuotes(f, d.Summary), s.redactQuotes(f, d.Detail), s.redactQuotes(f,
			d.Hint)
	}
	for _, line := range p.Output {
		d.Output = append(d.Output, redact.Scrub(line, s.secrets))
	}
	d.AddSnippet(f, p.At)
	return d
}

// AddSnippet adds the source line of a range, if there is one.
func (d *Diagnostic) AddSnippet(s *File, at hcl.Range) {
	if s == nil || at.Start.Line == 0 {
		return
	}
	line, from, to := s.snippet(at)
	d.Snippet, d.from, d.to = []string{line}, from, to
}
