package hcltext

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A Problem is the reason why a text is not parsed.
type Problem struct {
	At      hcl.Range
	Summary string // one lower-case sentence without a full stop
	Hint    string // the correction; may be empty
}

// Error returns the place and the summary.
func (p *Problem) Error() string {
	if p.At.Start.Line == 0 { // the whole file
		return p.At.Filename + ": " + p.Summary
	}
	return fmt.Sprintf("%s: %s", p.At, p.Summary)
}

// A Scanned is a text with its tokens.
type Scanned struct {
	Tokens  hclsyntax.Tokens // of the text, or of the part before the problem and more
	Problem *Problem         // nil: the text can be parsed

	name string
	text []byte
}

// Parse parses the text. The body is never nil. Of a text with a [Problem] the body is
// empty, and the problem is the only diagnostic. A panic of the parser becomes a diagnostic.
func (s *Scanned) Parse() (body *hclsyntax.Body, diags hcl.Diagnostics) {
	body = &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: hcl.Range{Filename: s.name}}
	if p := s.Problem; p != nil {
		return body, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: p.Summary, Detail: p.Hint, Subject: &p.At}}
	}
	defer func() {
		if recover() != nil {
			diags = hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: "the file cannot be parsed", Subject: &hcl.Range{Filename: s.name},
				Detail: "This is a mistake in the HCL library, for a file that has a mistake too. Please report it.",
			}}
		}
	}()
	file, diags := hclsyntax.ParseConfig(s.text, s.name, hcl.InitialPos)
	return file.Body.(*hclsyntax.Body), diags
}

// Parse scans and parses the text of a file of a configuration. The error is a [*Problem]:
// that of the scan, or the first mistake in the syntax.
func Parse(name string, text []byte) (*hclsyntax.Body, error) {
	s := Scan(name, text, Configuration)
	if s.Problem != nil {
		return nil, s.Problem
	}
	body, diags := s.Parse()
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			p := &Problem{At: hcl.Range{Filename: name}, Summary: d.Summary}
			if d.Subject != nil {
				p.At = *d.Subject
			}
			return nil, p
		}
	}
	return body, nil
}
