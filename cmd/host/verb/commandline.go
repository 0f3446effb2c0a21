package verb

import (
	"errors"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// CommandLine converts other errors into faults.
func CommandLine(err error) error {
	if bad, ok := errors.AsType[*gateway.BadArguments](err); ok {
		return fault.New(fault.CallArguments, "%s%s", bad.Error(), ProblemLines(bad.Problems)).
			WithHint("run `junctor inspect %s` to see the schema; the server was not called", bad.Tool)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, terminal.ErrReported) {
		return err
	}
	// The remaining errors come from the parser of the command line.
	return fault.New(fault.Usage, "%s", plainFlagText(strings.TrimSpace(err.Error()))).WithHint("run `junctor help`")
}

// Hinted replaces the hint of an error with this code, because only the verb knows what the
// user typed.
func Hinted(err error, code fault.Code, hint string) error {
	err = CommandLine(err)
	f := terminal.FaultOf(err)
	if f.Code != code {
		return err
	}
	copied := *f
	return copied.WithHint("%s", hint)
}

// ProblemLines returns one line for each problem.
func ProblemLines(problems []schema.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString("\n" + strings.TrimSpace(p.Path+" "+p.Message))
	}
	return b.String()
}

// exclusiveFlags matches what Cobra says about flags that exclude each other.
var exclusiveFlags = lazyregexp.New(
	`^if any flags in the group \[[^\]]*\] are set none of the others can be; \[([^\]]*)\] were all set$`,
)

// plainFlagText puts an error of Cobra into the words of the other errors.
func plainFlagText(text string) string {
	set := exclusiveFlags.FindStringSubmatch(text)
	if set == nil {
		return text
	}
	return "--" + strings.Join(strings.Fields(set[1]), " and --") + " exclude each other"
}

// WithSuggestion sets a hint that begins with a suggestion.
func WithSuggestion(f *fault.Error, best, hint string) error {
	if best != "" {
		hint = "did you mean " + best + "? " + hint
	}
	return f.WithHint("%s", hint)
}
