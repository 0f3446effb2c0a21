package inbound

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// The rules of this file are for more than auth blocks: package config uses them for the secret of notices,
// the headers of the audit log, and the names and texts of policy, test and approver blocks. A
// stricter rule refuses configurations that were accepted.

const (
	leastToken = 16   // bytes; a shorter token can be guessed
	MaxToken   = 4096 // bytes; fits in a header
	MaxSubject = 256  // bytes; also of names in policies
	maxRole    = 64
)

// Unprintable reports runes that break a line, or hide or reorder text.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// ReadCredential reads a token or a secret and adds it to the secrets that output masks. A
// text that contains keyring() is checked when it is complete. problem says what is wrong
// with a text; variable is an example of where to keep it.
func ReadCredential(r language.Reader, name, variable string, problem func(string) string) string {
	v, a, set := r.RawValue(name)
	if set {
		v, set = r.Convert(a, v, cty.String)
	}
	if !set {
		return ""
	}
	v, marks := v.Unmark()
	text := v.AsString()
	if r.Host.IsLate(text) {
		return text
	}
	r.Host.Conceal(text)
	if why := problem(text); why != "" {
		r.ErrorAt(a.Expr.Range(), TokenHint, "the %s%s %s", name, sourceOfToken(a.Expr), why)
	}
	if len(marks) == 0 && text != "" {
		hint := fmt.Sprintf("keep it in the environment, and write %s = env(%q)", name, variable)
		r.WarnAt(a.Expr.Range(), hint, "the %s is written in the configuration file", name)
	}
	return text
}

// TokenHint says how to make a token or a secret.
const TokenHint = "make one with: openssl rand -hex 32"

// tokenProblem returns what is wrong with a token, or "" for a valid one.
func tokenProblem(token string) string {
	switch {
	case token == "":
		return "is empty"
	case strings.ContainsFunc(token, NotInToken):
		return "has white space or other characters in it that a header cannot carry"
	case len(token) > MaxToken:
		return fmt.Sprintf("is longer than %d bytes", MaxToken)
	}
	return ""
}

// NotInToken reports runes other than visible ASCII, which is the only text that
// every HTTP implementation transmits in a header unchanged.
func NotInToken(r rune) bool { return r <= ' ' || r > '~' }

// sourceOfToken returns the variable or the file that an expression reads, for
// messages, and "" for another expression.
func sourceOfToken(e hclsyntax.Expression) string {
	call, ok := language.Plain(e).(*hclsyntax.FunctionCallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	name, ok := language.Literal(call.Args[0])
	switch {
	case ok && call.Name == "env":
		return fmt.Sprintf(" from the environment variable %q", name)
	case ok && call.Name == "file":
		return fmt.Sprintf(" from the file %q", name)
	}
	return ""
}

// variableOf returns the environment variable that an attribute is read from without
// a change, and "" for another expression.
func variableOf(r language.Reader, attribute string) string {
	a, found := r.Body.Attributes[attribute]
	if !found {
		return ""
	}
	call, ok := language.Plain(a.Expr).(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "env" || len(call.Args) == 0 {
		return ""
	}
	name, _ := language.Literal(call.Args[0])
	return name
}
