package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A StaticToken lets in whoever sends the token.
type StaticToken struct {
	Token    string `json:"-"`
	Variable string `json:"-"`          // the environment variable that the token came from; empty: from somewhere else
	Late     bool   `json:",omitempty"` // the token is made with keyring(): see Config.ResolveToken
	Subject  string
	Tenant   string
	Roles    []string
}

// String is the token's owner, so that nothing prints the token by mistake.
func (t StaticToken) String() string   { return fmt.Sprintf("static token of %q", t.Subject) }
func (t StaticToken) GoString() string { return t.String() }

var staticTokenForm = form{attributes: []string{"subject", "tenant", "roles"}, private: []string{"token"}}

const (
	defaultTenant = "default"
	ownTenant     = "local" // of whoever runs Junctor; see the package identity

	leastToken = 16   // bytes, before anybody could guess it
	maxToken   = 4096 // headers have room for it
	maxSubject = 256
	maxRole    = 64
)

// tenantRule is the grammar of the names of tenants, which name directories.
var tenantRule = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$`)

func (s blockReader) staticToken() any {
	t := StaticToken{Token: s.token(), Variable: s.variable("token"), Tenant: defaultTenant}
	t.Late = s.keyring.stands(t.Token)
	if text, a, set := s.text("subject"); set {
		t.Subject = text
		if text == "" || len(text) > maxSubject || strings.ContainsFunc(text, unprintable) {
			s.wrong(a.Expr.Range(), "name the person or program that has the token", `"subject" must be 1 to %d bytes of text without control characters`, maxSubject)
		}
	} else if !s.stands("subject") {
		s.missing("subject", s.head)
	}
	if text, a, set := s.text("tenant"); set {
		t.Tenant = text
		if !tenantRule.MatchString(text) {
			s.wrong(a.Expr.Range(), `leave it out for the tenant "default"`,
				`"tenant" must be 1 to 64 of a-z, 0-9, _ and -, with neither _ nor - at its ends`)
		}
		if text == ownTenant {
			s.doubtful(a.Expr.Range(), "choose another name, unless the token is for programs of your own",
				`the tenant %q is whoever runs Junctor, so this token uses that person's logins at servers with share = "tenant"`, text)
		}
	}
	roles := s.texts("roles")
	if len(roles) > 0 {
		s.doubtful(s.body.Attributes["roles"].NameRange, "this version has no policy block; limit what is offered with tools { allow, deny } in the server blocks",
			`"roles" has no effect yet: the token may use everything that is offered`)
	}
	for _, e := range roles {
		if e.text == "" || len(e.text) > maxRole || strings.ContainsFunc(e.text, unprintable) {
			s.wrong(e.at, "", "a role must be 1 to %d bytes of text without control characters", maxRole)
			continue
		}
		t.Roles = append(t.Roles, e.text)
	}
	return t
}

// unprintable finds what would break a line, or hide or reorder text in it.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// token reads the token. Whatever it is, it is kept out of all output.
func (s blockReader) token() string {
	v, a, set := s.raw("token")
	if set {
		v, set = s.convert(a, v, cty.String)
	}
	if !set {
		if !s.stands("token") {
			s.missing("token", s.head)
		}
		return ""
	}
	v, marks := v.Unmark()
	token := v.AsString()
	if s.keyring.stands(token) {
		return token
	}
	s.secrets = append(s.secrets, token)
	at := a.Expr.Range()
	why := mistoken(token)
	switch {
	case why != "":
		s.wrong(at, tokenHint, "the token%s %s", comesFrom(a.Expr), why)
	case len(token) < leastToken:
		s.doubtful(at, tokenHint, "the token%s is shorter than %d characters, so it can be guessed", comesFrom(a.Expr), leastToken)
	}
	if len(marks) == 0 && token != "" {
		s.doubtful(at, `keep it in the environment, and write token = env("JUNCTOR_TOKEN")`, "the token stands in the configuration file")
	}
	return token
}

const tokenHint = "make one with: openssl rand -hex 32"

// mistoken says what is wrong with a token, if anything is.
func mistoken(token string) string {
	switch {
	case token == "":
		return "is empty"
	case strings.ContainsFunc(token, unsendable):
		return "has white space or other characters in it that a header cannot carry"
	case len(token) > maxToken:
		return fmt.Sprintf("is longer than %d bytes", maxToken)
	}
	return ""
}

// unsendable: a header carries visible ASCII as it is, and nothing else for
// sure.
func unsendable(r rune) bool { return r <= ' ' || r > '~' }

// comesFrom names the variable or the file that an expression is about.
func comesFrom(e hclsyntax.Expression) string {
	call, ok := plain(e).(*hclsyntax.FunctionCallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	name, ok := literal(call.Args[0])
	switch {
	case ok && call.Name == "env":
		return fmt.Sprintf(" from the environment variable %q", name)
	case ok && call.Name == "file":
		return fmt.Sprintf(" from the file %q", name)
	}
	return ""
}

// variable is the environment variable that an attribute is just read from.
func (s blockReader) variable(attribute string) string {
	a, found := s.body.Attributes[attribute]
	if !found {
		return ""
	}
	call, ok := plain(a.Expr).(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "env" || len(call.Args) == 0 {
		return ""
	}
	name, _ := literal(call.Args[0])
	return name
}

// sameTokens refuses a token that stands for two subjects.
func (s blockReader) sameTokens(all []Authentication) {
	first := map[string]Position{}
	for i, b := range s.blocksOf("auth") {
		t, ok := all[i].Settings.(StaticToken)
		if !ok || t.Token == "" {
			continue
		}
		if at, both := first[t.Token]; both {
			one := s.nested(b)
			s.wrong(one.valueAt("token", one.head), "give each client a token of its own", "two auth blocks have the same token; the first is at %s", at)
			continue
		}
		first[t.Token] = all[i].At
	}
}
