package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// TestErrorPrintsCausesOnce: an error prints each of its causes once, outermost first.
func TestErrorPrintsCausesOnce(t *testing.T) {
	root := errors.New("permission denied")
	inner := fault.Because(fault.UpstreamUnavailable, root, "opening the socket").WithHint("look at its mode")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"one fault": {inner, "opening the socket: permission denied"},
		"a fault of a fault": {fault.Because(fault.UpstreamUnavailable, inner, "starting it"),
			"starting it: opening the socket: permission denied"},
		"of a server": {fault.In("x", inner), "opening the socket: permission denied"},
		"wrapped by others": {fmt.Errorf("asking for tools: %w", inner),
			"asking for tools: opening the socket: permission denied"},
		"wrapped, of a server": {fmt.Errorf("asking for tools: %w", fault.In("x", inner)),
			"asking for tools: opening the socket: permission denied"},
		"a cause that is said": {&fault.Error{Code: fault.UpstreamUnavailable, Message: "all is lost", Err: root},
			"all is lost"},
		"an error of the words": {fmt.Errorf("a: %w", fmt.Errorf("b: %w", root)), "a: b: permission denied"},
	} {
		for _, asJSON := range []bool{false, true} {
			var stderr bytes.Buffer
			inv := &invocation.Invocation{Terminal: &terminal.Terminal{Stderr: &stderr, JSON: asJSON}}
			fail(inv, c.err)
			want := "error: " + c.want + "\n"
			if asJSON {
				want = `"message":"` + c.want + `"`
			}
			if got := stderr.String(); !strings.Contains(got, want) || strings.Count(got, "permission denied") > 1 {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// TestWarnings: warnings about a usable configuration are printed.
func TestWarnings(t *testing.T) {
	diags := source.Diagnostics{{Severity: source.Warning, Summary: "old", Code: fault.ConfigInvalid}}
	for asJSON, want := range map[bool]string{
		false: "warning: old\n",
		true:  `{"valid":true,"servers":0,"diagnostics":[{"severity":"warning","summary":"old",`,
	} {
		var stderr bytes.Buffer
		inv := &invocation.Invocation{Terminal: &terminal.Terminal{Stderr: &stderr, JSON: asJSON}}
		inv.TellDiagnostics(nil, nil)
		if stderr.Len() > 0 {
			t.Error(stderr.String())
		}
		if inv.TellDiagnostics(nil, diags); !strings.HasPrefix(stderr.String(), want) ||
			asJSON && strings.Count(stderr.String(), "\n") != 1 {
			t.Error(stderr.String())
		}
	}
}
