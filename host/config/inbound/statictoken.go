package inbound

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A StaticToken authenticates clients that send the token. It does not change after the load.
type StaticToken struct {
	Token    string `json:"-"`
	Variable string `json:"-"`          // the environment variable with the token; empty: another source
	Late     bool   `json:",omitempty"` // the token contains keyring(); Authenticator completes it
	Subject  string
	Tenant   string
	Roles    []string
}

// String names the subject instead of the token, so that no log prints the token.
func (t StaticToken) String() string { return fmt.Sprintf("static token of %q", t.Subject) }

// GoString is String.
func (t StaticToken) GoString() string { return t.String() }

// Authenticator implements ClientAuth.
func (t StaticToken) Authenticator(b Build) (authn.Authenticator, error) {
	token, err := t.Resolve(b)
	if err != nil {
		return nil, err
	}
	return authn.NewTokens([]authn.StaticToken{{Token: token, Subject: t.Subject, Tenant: t.Tenant, Roles: t.Roles}}),
		nil
}

// Resolve returns the token. It fails if the token is not valid.
func (t StaticToken) Resolve(b Build) (string, error) {
	token, err := b.Keyring.Substitute(t.Token, b.Lookup)
	if err != nil {
		return "", err
	}
	if why := tokenProblem(token); why != "" {
		return "", b.Keyring.AtFirst(t.Token, fault.New(fault.ConfigInvalid, "the token %s", why).WithHint(TokenHint))
	}
	return token, nil
}

// Vouch implements ClientAuth.
func (t StaticToken) Vouch() *Vouch {
	return &Vouch{Issuer: "static_token", Names: true, Subjects: []string{t.Subject}, Given: t.Roles}
}

// Clients implements ClientAuth.
func (t StaticToken) Clients() Clients {
	return Clients{Principals: []authn.Principal{{Subject: t.Subject, Tenant: t.Tenant}}}
}

// SecretText implements ClientAuth.
func (t StaticToken) SecretText() string { return t.Token }

// A tokenBlock is an auth "static_token" block.
type tokenBlock struct {
	Token   string `hcl:"token" accepts:"up to 4096 visible ASCII characters" secret:"late" doc:"'openssl rand -hex 32' makes a good one. A token under 16 characters, or one written in the file, is a warning."`
	Subject string `hcl:"subject" accepts:"a text" doc:"The name of the client."`
	Tenant  string `hcl:"tenant" default:"default" accepts:"'a-z', '0-9', '_' and '-', at most 64, with a letter or digit at both ends" doc:"The tenant of the clients. It separates clients of different owners."`
	roleNames
}

// Validate implements [language.Validator].
func (b *tokenBlock) Validate(r language.Reader) {
	if r.IsSet("token") {
		b.checkToken(r)
	}
	if r.IsRead("subject") &&
		(b.Subject == "" || len(b.Subject) > MaxSubject || strings.ContainsFunc(b.Subject, Unprintable)) {
		r.ErrorAt(r.ValueAt("subject", r.Head), "name the person or program that has the token",
			`"subject" must be 1 to %d bytes of text without control characters`, MaxSubject)
	}
	checkTenant(r, "tenant", b.Tenant)
}

// checkToken checks the token.
func (b *tokenBlock) checkToken(r language.Reader) {
	token := ReadCredential(r, "token", "JUNCTOR_TOKEN", tokenProblem)
	if !r.Host.IsLate(token) && tokenProblem(token) == "" && len(token) < leastToken {
		a := r.Body.Attributes["token"]
		r.WarnAt(a.Expr.Range(), TokenHint, "the token%s is shorter than %d characters, so it can be guessed",
			sourceOfToken(a.Expr), leastToken)
	}
}

const (
	leastToken = 16   // bytes; a shorter token can be guessed
	MaxToken   = 4096 // bytes; fits in a header
	MaxSubject = 256
	maxRole    = 64
)

// readTokenAuth reads an auth "static_token" block.
func readTokenAuth(r language.Reader, used RoleUse) ClientAuth {
	var b tokenBlock
	language.Decode(r, &b)
	return StaticToken{
		Token:    b.Token,
		Variable: variableOf(r, "token"),
		Late:     r.Host.IsLate(b.Token),
		Subject:  b.Subject,
		Tenant:   b.Tenant,
		Roles:    used.valid(r, b.Roles),
	}
}

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

// rejectDuplicateTokens reports a token in two auth blocks.
func rejectDuplicateTokens(r language.Reader, all []Authentication) {
	first := map[string]source.Position{}
	for i, b := range r.Labelled("auth") {
		t, ok := all[i].Settings.(StaticToken)
		if !ok || t.Token == "" {
			continue
		}
		if at, both := first[t.Token]; both {
			one := r.Nested(b)
			r.ErrorAt(one.ValueAt("token", one.Head), "give each client a token of its own",
				"two auth blocks have the same token; the first is at %s", at)
			continue
		}
		first[t.Token] = all[i].At
	}
}
