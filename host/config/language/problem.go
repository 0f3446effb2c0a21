package language

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A Problem is a diagnostic without its snippet. The snippet is made after everything
// is decoded, because only then it is known which literals may be shown. It is a value.
type Problem struct {
	Warning bool // it does not prevent the use of the configuration
	Summary string
	Detail  string
	Hint    string
	In      string
	Output  []string // the last lines that a plugin printed
	At      hcl.Range
	Code    fault.Code // empty: config.invalid for an error, no code for a warning
	Address bool       // about the address to listen at
	Input   bool       // env() or file() failed
	Quoted  bool       // texts in quotes may be values: redactQuotes masks them
}
