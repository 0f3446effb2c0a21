package terminal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// ErrReported marks errors that were printed already. Their exit status still counts.
var ErrReported = errors.New("reported")

// Reported marks an error as printed.
func Reported(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(ErrReported, err)
}

// FaultOf returns the fault in an error, with the message of the whole error.
func FaultOf(err error) *fault.Error {
	f := fault.As(err)
	doing, ok := strings.CutSuffix(err.Error(), f.Error())
	if !ok || doing == "" {
		return f
	}
	copied := *f
	copied.Message = doing + f.Message
	return &copied
}

// Tell prints an error that does not end the verb.
func (t *Terminal) Tell(err error) {
	if t.JSON {
		f := *FaultOf(err)
		t.located(&f)
		t.PrintStderrJSON("error", f.Document().Masked(t.Hide))
	} else {
		t.PrintFault("error", err)
	}
}

// WarnFault prints an error that costs a part of the result as a warning.
func (t *Terminal) WarnFault(err error) {
	switch {
	case t.Remarks.Quiet:
	case t.JSON:
		f := *FaultOf(err)
		t.located(&f)
		t.PrintStderrJSON("warning", f.Document().Masked(t.Hide))
	default:
		t.PrintFault("warning", err)
	}
}

// Note prints a note about a server.
func (t *Terminal) Note(server, text string) {
	if t.Remarks.Quiet {
		return
	}
	text = t.Hide(text)
	if t.JSON {
		t.PrintStderrJSON("note", map[string]string{"server": server, "message": text})
		return
	}
	fmt.Fprintf(t.Stderr, "note: %s: %s\n", t.Titled(fmt.Sprintf("server %q", server)), OneText(text))
}

// Warn prints a warning that is not about a server.
func (t *Terminal) Warn(text, hint string) {
	if t.Remarks.Quiet {
		return
	}
	text, hint = t.Hide(text), t.Hide(hint)
	if t.JSON {
		t.PrintStderrJSON("warning", map[string]string{"message": text, "hint": hint})
		return
	}
	fmt.Fprintf(t.Stderr, "warning: %s\n", OneText(text))
	if hint != "" {
		fmt.Fprintf(t.Stderr, "hint: %s\n", OneText(hint))
	}
}

// Titled puts titles in the places of names in a message.
func (t *Terminal) Titled(text string) string {
	if t.Naming == nil {
		return text
	}
	return t.Naming.Titled(text)
}

// located sets the place of a fault.
func (t *Terminal) located(f *fault.Error) {
	if t.Naming != nil {
		t.Naming.Located(f)
	}
}

// PrintFault prints an error of a severity: error or warning.
func (t *Terminal) PrintFault(severity string, err error) {
	f := *FaultOf(err)
	t.located(&f)
	f.Message, f.Hint = t.Titled(t.Hide(f.Message)), t.Hide(f.Hint)
	var b strings.Builder
	part := func(format string, text string) { fmt.Fprintf(&b, format+"\n", OneText(text)) }
	part(severity+": %s", f.Message)
	switch {
	case f.At != "" && f.Server != "":
		part("  at %s", t.Titled(fmt.Sprintf("%s, server %q", f.At, f.Server)))
	case f.At != "":
		part("  at %s", f.At)
	case f.Server != "":
		part("  at %s", fmt.Sprintf("server %q", f.Server))
	}
	if f.Plugin != "" {
		part("  plugin %s", f.Plugin)
	}
	if len(f.Output) > 0 {
		b.WriteString("  its last lines:\n")
		for _, line := range f.Output[max(0, len(f.Output)-outputShown):] {
			part("    | %s", t.Hide(line))
		}
	}
	if f.Hint != "" {
		part("hint: %s", f.Hint)
	}
	part("code: %s", string(f.Code))
	fmt.Fprint(t.Stderr, b.String())
}

// Hide masks the secrets of the configuration in a text about a failure: a server may repeat
// its key in an error.
func (t *Terminal) Hide(text string) string {
	if t.Mask == nil {
		return text
	}
	return t.Mask(text)
}

// ErrorOf returns the JSON form of an error, or nil.
func ErrorOf(err error) *fault.Document {
	if err == nil {
		return nil
	}
	return FaultOf(err).Document()
}

// PrintStderrJSON prints an object with one member on standard error.
func (t *Terminal) PrintStderrJSON(what string, v any) {
	t.PrintStderrLine(map[string]any{what: v})
}

// outputShown is the number of a server's last lines in an error.
const outputShown = 20

// Remark prints a note about the result.
func (t *Terminal) Remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if t.Remarks.Quiet {
		return
	}
	if t.JSON {
		t.PrintStderrJSON("note", map[string]string{"message": text})
		return
	}
	fmt.Fprintf(t.Stderr, "note: %s\n", OneText(text))
}

// A Naming replaces names in messages.
type Naming interface {
	Titled(text string) string // puts titles in the places of names
	Located(f *fault.Error)    // sets the place of a fault
}
