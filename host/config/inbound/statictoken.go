package inbound

import (
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A StaticToken authenticates clients that send the token. It does not change after the load. Its JSON
// is for the golden files of package config, and never has the token; no digest depends on it.
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
