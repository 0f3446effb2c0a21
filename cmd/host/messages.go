package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// errReported marks errors that were printed already. Their exit status still counts.
var errReported = errors.New("reported")

// reported marks an error as printed.
func reported(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(errReported, err)
}

// faultOf returns the fault in an error, with the message of the whole error.
func faultOf(err error) *fault.Error {
	f := fault.As(err)
	doing, ok := strings.CutSuffix(err.Error(), f.Error())
	if !ok || doing == "" {
		return f
	}
	copied := *f
	copied.Message = doing + f.Message
	return &copied
}

// tell prints an error that does not end the verb.
func (t *Terminal) tell(err error) {
	if t.json {
		f := *faultOf(err)
		t.located(&f)
		t.printStderrJSON("error", f.Document().Masked(t.hide))
	} else {
		t.printFault("error", err)
	}
}

// warnFault prints an error that costs a part of the result as a warning.
func (t *Terminal) warnFault(err error) {
	switch {
	case t.remarks.quiet:
	case t.json:
		f := *faultOf(err)
		t.located(&f)
		t.printStderrJSON("warning", f.Document().Masked(t.hide))
	default:
		t.printFault("warning", err)
	}
}

// note prints a note about a server.
func (t *Terminal) note(server, text string) {
	if t.remarks.quiet {
		return
	}
	text = t.hide(text)
	if t.json {
		t.printStderrJSON("note", map[string]string{"server": server, "message": text})
		return
	}
	fmt.Fprintf(t.stderr, "note: %s: %s\n", t.titled(fmt.Sprintf("server %q", server)), oneText(text))
}

// warn prints a warning that is not about a server.
func (t *Terminal) warn(text, hint string) {
	if t.remarks.quiet {
		return
	}
	text, hint = t.hide(text), t.hide(hint)
	if t.json {
		t.printStderrJSON("warning", map[string]string{"message": text, "hint": hint})
		return
	}
	fmt.Fprintf(t.stderr, "warning: %s\n", oneText(text))
	if hint != "" {
		fmt.Fprintf(t.stderr, "hint: %s\n", oneText(hint))
	}
}

// titled puts titles in the places of names in a message.
func (t *Terminal) titled(text string) string {
	if t.naming == nil {
		return text
	}
	return t.naming.titled(text)
}

// located sets the place of a fault.
func (t *Terminal) located(f *fault.Error) {
	if t.naming != nil {
		t.naming.located(f)
	}
}

// printFault prints an error of a severity: error or warning.
func (t *Terminal) printFault(severity string, err error) {
	f := *faultOf(err)
	t.located(&f)
	f.Message, f.Hint = t.titled(t.hide(f.Message)), t.hide(f.Hint)
	var b strings.Builder
	part := func(format string, text string) { fmt.Fprintf(&b, format+"\n", oneText(text)) }
	part(severity+": %s", f.Message)
	switch {
	case f.At != "" && f.Server != "":
		part("  at %s", t.titled(fmt.Sprintf("%s, server %q", f.At, f.Server)))
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
			part("    | %s", t.hide(line))
		}
	}
	if f.Hint != "" {
		part("hint: %s", f.Hint)
	}
	part("code: %s", string(f.Code))
	fmt.Fprint(t.stderr, b.String())
}

// hide masks the secrets of the configuration in a text about a failure: a server may repeat
// its key in an error.
func (t *Terminal) hide(text string) string {
	if t.mask == nil {
		return text
	}
	return t.mask(text)
}

// errorOf returns the JSON form of an error, or nil.
func errorOf(err error) *fault.Document {
	if err == nil {
		return nil
	}
	return faultOf(err).Document()
}

// printStderrJSON prints an object with one member on standard error.
func (t *Terminal) printStderrJSON(what string, v any) {
	t.printStderrLine(map[string]any{what: v})
}

// outputShown is the number of a server's last lines in an error.
const outputShown = 20

// remark prints a note about the result.
func (t *Terminal) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if t.remarks.quiet {
		return
	}
	if t.json {
		t.printStderrJSON("note", map[string]string{"message": text})
		return
	}
	fmt.Fprintf(t.stderr, "note: %s\n", oneText(text))
}

// A naming replaces names in messages.
type naming interface {
	titled(text string) string // puts titles in the places of names
	located(f *fault.Error)    // sets the place of a fault
}
