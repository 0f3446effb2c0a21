package source

import (
	"cmp"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
)

// An InputError is the error of a function for a missing input, with a hint.
type InputError struct{ Message, Hint string }

func (e *InputError) Error() string { return e.Message }

// Fault returns the error with the code of an invalid configuration.
func (e *InputError) Fault() *fault.Error {
	return fault.New(fault.ConfigInvalid, "%s", e.Message).WithHint("%s", e.Hint)
}

// A diagnostic of HCL has a fixed summary, and a detail that may quote the file or
// values of an expression.

// replacements are the texts for diagnostics whose detail misleads or quotes a value,
// by the summary of HCL. HCL has no other identifier for its diagnostics.
var replacements = map[string]struct{ summary, hint string }{
	"Argument definition required": {oneLine,
		"write each attribute as NAME = VALUE, and each block on a line of its own"},
	"Invalid single-argument block definition": {oneLine,
		"write each attribute and each block on a line of its own, and the closing brace too"},
	"Invalid legacy index syntax": {"two indexes follow each other without brackets", "write [0][1] instead of .0.1"},
	"Invalid escape sequence": {`a backslash begins an escape such as \n`,
		`write \\ for a backslash, or / in a path, as in "C:/tools/run.exe"`},
	"Duplicate object key": {"duplicate object key", `write "..." after the value to collect what has the same key`},
}

const oneLine = "a block that is written on one line holds one attribute and nothing else"

const redefinition = "Attribute redefined"

// ProblemOf converts a diagnostic of HCL about a file or an expression.
func ProblemOf(in string, d *hcl.Diagnostic) language.Problem {
	p := language.Problem{Warning: d.Severity == hcl.DiagWarning, In: in, Summary: lowerFirst(d.Summary),
		Detail: d.Detail, Quoted: true}
	if d.Subject != nil {
		p.At = *d.Subject
	}
	if ours, ok := replacements[d.Summary]; ok {
		p.Summary, p.Detail, p.Hint = ours.summary, "", ours.hint
	}
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok || call.FunctionCallError() == nil {
		return p
	}
	if d.Context != nil {
		p.At = *d.Context // the whole call
	}
	p.Detail = ""
	p.Summary = fmt.Sprintf("%s(): %v", call.CalledFunctionName(), call.FunctionCallError())
	if e, ok := call.FunctionCallError().(*InputError); ok {
		p.Summary, p.Hint, p.Input = e.Message, e.Hint, true
	}
	return p
}

// CatchPanic turns a panic of the HCL library into an error in *diags. Call it
// directly with defer.
func CatchPanic(diags *hcl.Diagnostics, at hcl.Range, summary, detail string) {
	if recover() != nil {
		*diags = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}}
	}
}

// lowerFirst returns s with a lower-case first letter, to follow "error: ".
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// A parsedProblem is a problem that the parser found.
type parsedProblem struct {
	language.Problem
	whole   bool           // the body is complete enough for the rest of the load
	foreign *foreignSyntax // nil: not of another notation
}

// parseProblem converts a diagnostic of the parser.
func (s *File) parseProblem(d *hcl.Diagnostic) parsedProblem {
	p := parsedProblem{Problem: ProblemOf("", d)}
	if d.Subject == nil {
		return p
	}
	around, first := s.placeOf(*d.Subject)
	p.In = around
	switch {
	case d.Summary == redefinition && first != nil:
		p.Summary = fmt.Sprintf("attribute %q appears twice; the first is at %s", first.Name, StartOf(first.NameRange))
		p.Detail, p.Quoted = "", false
		p.whole = true // only the second attribute is missing from the body
		return p
	case p.Summary == oneLine:
		p.At, p.Hint = s.onOneLine(p.At, p.Hint)
	}
	f, i := s.foreignSyntaxAt(d)
	if f == nil {
		return p
	}
	p.foreign, p.Summary, p.Detail, p.Hint, p.Quoted = f, cmp.Or(f.summary, p.Summary), "", f.hint, false
	if f.hintFor != nil {
		p.Hint = f.hintFor(s, i)
	}
	return p
}

// placeOf returns the title of the outermost block around a range, and the attribute
// of the innermost block with the name in that range.
func (s *File) placeOf(at hcl.Range) (around string, first *hclsyntax.Attribute) {
	if s.Body == nil {
		return "", nil
	}
	body := s.Body
	for inner := body; inner != nil; {
		body, inner = inner, nil
		next, _ := slices.BinarySearchFunc(body.Blocks, at.Start.Byte, func(b *hclsyntax.Block, offset int) int {
			return cmp.Compare(b.OpenBraceRange.Start.Byte, offset)
		})
		if next == 0 {
			break
		}
		if b := body.Blocks[next-1]; b.Body != nil && at.End.Byte <= b.CloseBraceRange.Start.Byte {
			around, inner = cmp.Or(around, language.TitleOf(b)), b.Body
		}
	}
	return around, body.Attributes[string(at.SliceBytes(s.Text))]
}

// onOneLine narrows a range to its first word and returns a hint for it. HCL reports
// an attribute even if the word begins a block.
func (s *File) onOneLine(at hcl.Range, hint string) (hcl.Range, string) {
	i := slices.IndexFunc(s.Tokens, func(tok hclsyntax.Token) bool { return tok.Range.Start.Byte == at.Start.Byte })
	if word := s.wordAt(i); word != "" {
		at = s.Tokens[i].Range
		if s.words.Blocks()[word] || s.typeAt(i+1) == hclsyntax.TokenOBrace {
			hint = fmt.Sprintf("write %s { ... } on lines of its own", word)
		}
	}
	return at, hint
}
