package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
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

// fail prints an error and returns the exit status.
func (e *env) fail(err error) int {
	if err == nil {
		return fault.ExitDone
	}
	err = commandLine(err)
	if !errors.Is(err, errReported) {
		e.tell(err)
	}
	return fault.Exit(err)
}

// commandLine converts other errors into faults.
func commandLine(err error) error {
	if bad, ok := errors.AsType[*gateway.BadArguments](err); ok {
		return fault.New(fault.CallArguments, "%s%s", bad.Error(), problemLines(bad.Problems)).
			WithHint("run `junctor inspect %s` to see the schema; the server was not called", bad.Tool)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, errReported) {
		return err
	}
	// The remaining errors come from the parser of the command line.
	return fault.New(fault.Usage, "%s", plainFlagText(strings.TrimSpace(err.Error()))).WithHint("run `junctor help`")
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

// hinted replaces the hint of an error with this code, because only the verb knows what the
// user typed.
func hinted(err error, code fault.Code, hint string) error {
	err = commandLine(err)
	f := faultOf(err)
	if f.Code != code {
		return err
	}
	copied := *f
	return copied.WithHint("%s", hint)
}

// tell prints an error that does not end the verb.
func (e *env) tell(err error) {
	if e.json {
		f := *faultOf(err)
		e.direct.located(&f)
		e.printStderrJSON("error", f.Document().Masked(e.hide))
	} else {
		e.printFault("error", err)
	}
}

// warnFault prints an error that costs a part of the result as a warning.
func (e *env) warnFault(err error) {
	switch {
	case e.remarks.quiet:
	case e.json:
		f := *faultOf(err)
		e.direct.located(&f)
		e.printStderrJSON("warning", f.Document().Masked(e.hide))
	default:
		e.printFault("warning", err)
	}
}

// note prints a note about a server.
func (e *env) note(server, text string) {
	if e.remarks.quiet {
		return
	}
	text = e.hide(text)
	if e.json {
		e.printStderrJSON("note", map[string]string{"server": server, "message": text})
		return
	}
	fmt.Fprintf(e.stderr, "note: %s: %s\n", e.direct.titled(fmt.Sprintf("server %q", server)), oneText(text))
}

// warnSetting prints a setting of a server that does not fit the server.
func (e *env) warnSetting(n catalog.Note) {
	if e.remarks.quiet {
		return
	}
	n.Text, n.Hint = e.hide(n.Text), e.hide(n.Hint)
	if e.json {
		e.printStderrJSON("warning", map[string]string{"server": n.Server, "message": n.Text, "at": n.At, "hint": n.Hint})
		return
	}
	fmt.Fprintf(e.stderr, "warning: %s: %s\n  at %s\n", e.direct.titled(fmt.Sprintf("server %q", n.Server)), oneText(n.Text), oneText(n.At))
	if n.Hint != "" {
		fmt.Fprintf(e.stderr, "hint: %s\n", oneText(n.Hint))
	}
}

// warn prints a warning that is not about a server.
func (e *env) warn(text, hint string) {
	if e.remarks.quiet {
		return
	}
	text, hint = e.hide(text), e.hide(hint)
	if e.json {
		e.printStderrJSON("warning", map[string]string{"message": text, "hint": hint})
		return
	}
	fmt.Fprintf(e.stderr, "warning: %s\n", oneText(text))
	if hint != "" {
		fmt.Fprintf(e.stderr, "hint: %s\n", oneText(hint))
	}
}

// warnNoServers warns that a configuration has no server that can be used.
func (e *env) warnNoServers(app *host.App) {
	servers := app.Config().Servers
	switch {
	case len(servers) == 0:
		e.warn("no server is configured in "+app.Config().Path, "run `junctor add NAME -- COMMAND` or `junctor add NAME URL` to add one")
	case !slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Enabled }):
		hint := "remove enabled = false from a server block"
		if slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Blocked != "" }) {
			hint = "the managed configuration does not allow all of them; junctor validate says which"
		}
		e.warn("every server of "+app.Config().Path+" is disabled", hint)
	}
}

// printFault prints an error of a severity: error or warning.
func (e *env) printFault(severity string, err error) {
	f := *faultOf(err)
	e.direct.located(&f)
	f.Message, f.Hint = e.direct.titled(e.hide(f.Message)), e.hide(f.Hint)
	var b strings.Builder
	part := func(format string, text string) { fmt.Fprintf(&b, format+"\n", oneText(text)) }
	part(severity+": %s", f.Message)
	switch {
	case f.At != "" && f.Server != "":
		part("  at %s", e.direct.titled(fmt.Sprintf("%s, server %q", f.At, f.Server)))
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
			part("    | %s", e.hide(line))
		}
	}
	if f.Hint != "" {
		part("hint: %s", f.Hint)
	}
	part("code: %s", string(f.Code))
	fmt.Fprint(e.stderr, b.String())
}

// hide masks the secrets of the configuration in a text about a failure: a server may repeat
// its key in an error.
func (e *env) hide(text string) string {
	if e.app == nil {
		return text
	}
	return e.app.Hide(text)
}

// oneText indents the further lines of a text more than any part of an error. Text of a
// server can then not pass for a hint or a place.
func oneText(text string) string {
	return strings.ReplaceAll(safe(text), "\n", "\n      ")
}

// outputShown is the number of a server's last lines in an error.
const outputShown = 20

// errorOf returns the JSON form of an error, or nil.
func errorOf(err error) *fault.Document {
	if err == nil {
		return nil
	}
	return faultOf(err).Document()
}

// printStderrJSON prints an object with one member on standard error.
func (e *env) printStderrJSON(what string, v any) {
	e.printStderrLine(map[string]any{what: v})
}
