package config

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A Severity says whether a diagnostic stops the load.
type Severity int

const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// code is that of what has none of its own.
func (s Severity) code() fault.Code {
	if s == Warning {
		return ""
	}
	return fault.ConfigInvalid
}

// A Diagnostic is one thing that is wrong, safe to show to anybody who may see
// the names in the configuration: it holds no values that could be secret.
type Diagnostic struct {
	Severity Severity
	Summary  string   // lower case, one sentence without a full stop
	Detail   string   // more about what is wrong; may be empty
	Hint     string   // what to do; may be empty
	Output   []string // the last lines that a plugin printed; may be empty
	In       string   // the block around it, such as `server "github"`; may be empty
	At, End  Position
	Snippet  []string   // the source line, with *** for what could be secret
	Code     fault.Code // a warning has none, unless there is one for what it is about

	address  bool // about where to listen, for HTTP.On
	from, to int  // what of the snippet is meant, in characters; equal: nothing
}

// Diagnostics are in the order of the files and the places in them, errors and
// warnings mixed. At most [MaxDiagnostics] say something; one more counts the
// rest.
type Diagnostics []Diagnostic

// MaxDiagnostics is how many problems one load describes.
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

// Err is nil without an error, else a [*fault.Error] that counts them and says
// the first.
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
		message = fmt.Sprintf("the configuration has more than %d problems; the first error: %s", MaxDiagnostics, first.Summary)
	case count > 1:
		message = fmt.Sprintf("the configuration has %d errors; the first: %s", count, first.Summary)
	}
	return &fault.Error{Code: fault.ConfigInvalid, Message: message, At: first.At.String(), Hint: first.Hint}
}
