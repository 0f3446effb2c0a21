package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A JWT authenticates clients that send a JSON Web Token of an issuer.
type JWT struct {
	Issuer     string
	Keys       jwks.Source // zero with a secret
	Secret     string      `json:"-"`          // for HS256, HS384 and HS512
	Late       bool        `json:",omitempty"` // the secret contains keyring()
	Algorithms []string
	Audiences  []string
	Leeway     time.Duration
	Claims     authn.ClaimNames
	Tenant     string   // without Claims.Tenant
	Subjects   []string `json:",omitempty"` // that are admitted; nil: all
	At         Position
}

// String names the issuer, so that no log prints the secret.
func (j JWT) String() string { return fmt.Sprintf("tokens of %q", j.Issuer) }

// GoString is String.
func (j JWT) GoString() string { return j.String() }

// Authenticator implements ClientAuth. It fails if a file of keys cannot be read.
func (j JWT) Authenticator(b AuthBuild) (authn.Authenticator, error) {
	o := authn.JWTOptions{Issuer: j.Issuer, Audiences: j.Audiences, Algorithms: j.Algorithms, Leeway: j.Leeway, Claims: j.Claims, Tenant: j.Tenant, Subjects: j.Subjects}
	if j.Keys != (jwks.Source{}) {
		o.Keys = b.Keys.Set(j.Keys)
		if err := o.Keys.Prepare(); err != nil {
			return nil, &fault.Error{Code: fault.ConfigInvalid, At: j.At.String(), Message: "jwks_file cannot be used: " + err.Error(), Err: err,
				Hint: "write the issuer's JSON Web Key Set to the file, or use jwks_url"}
		}
		return authn.NewJWT(o), nil
	}
	secret, err := b.Config.keyring.substitute(j.Secret, b.Lookup, func(secret string) string { return secret })
	if err != nil {
		return nil, err
	}
	if why := secretProblem(secret); why != "" {
		return nil, &fault.Error{Code: fault.ConfigInvalid, At: j.At.String(), Message: "the secret " + why, Hint: tokenHint}
	}
	o.Secret = []byte(secret)
	return authn.NewJWT(o), nil
}

// Clients implements ClientAuth.
func (j JWT) Clients() AuthClients {
	if j.Claims.Tenant != "" {
		return AuthClients{OpenSubjects: true, OpenTenants: true}
	}
	return AuthClients{Principals: []authn.Principal{{Tenant: j.Tenant}}, OpenSubjects: true}
}

// SecretText implements ClientAuth.
func (j JWT) SecretText() string { return j.Secret }

var jwtForm = language.Form{
	Entries: []language.Entry{
		{Name: "issuer", Values: language.Texts("a text"), Required: true,
			Doc: "The value of `iss`. Without `jwks_url`, `jwks_file` and `secret`, the URL where the metadata is found (OpenID Connect or RFC 8414)."},
		{Name: "audiences", Values: language.TextLists("a list of texts"), Required: true, Doc: "`aud` must have one of them."},
		{Name: "jwks_url", Values: language.Texts("a URL"), Unset: "from the metadata", Doc: "The URL of the keys: `https`, or `http` on this machine."},
		{Name: "jwks_file", Values: language.Texts("a path"), Unset: "none", Doc: "The file of the keys. It is read again when it changes."},
		{Name: "secret", Values: language.Texts("at least 32 bytes"), Unset: "none", Private: true, Doc: "For HS256, HS384 and HS512, with `env()`, `file()` or `keyring()`."},
		{Name: "algorithms", Values: language.WordLists(slices.Concat(authn.AsymmetricAlgorithms, authn.SymmetricAlgorithms)...), Unset: "all that fit", Doc: "The accepted algorithms: with a secret HS256, HS384 and HS512, else the others."},
		{Name: "ca", Values: language.Texts("a path"), Unset: "those of the system", Doc: "The file of the authorities for TLS of the issuer."},
		{Name: "leeway", Values: language.Durations(mostLeeway), Unset: language.CodeText(language.ShortDuration(defaultLeeway)), Doc: "For `exp`, `nbf` and `iat`."},
		tenantEntry,
		{Name: "subjects", Values: language.TextLists("a list of subjects"), Unset: "all", Doc: "Subjects that are admitted, for an issuer that gives tokens to people whom you do not know."},
	},
	Blocks: map[string]language.Shape{"claims": {Body: &claimsForm, Doc: "Names of claims. A claim is a name, or a path such as `realm_access.roles`."}},
}

var claimsForm = language.Form{Entries: []language.Entry{
	{Name: "subject", Values: language.Texts("a claim"), Unset: "`\"sub\"`", Doc: "The claim with the subject: a text."},
	{Name: "tenant", Values: language.Texts("a claim"), Unset: "none", Doc: "The claim with the tenant. A token without a valid one is refused."},
	{Name: "groups", Values: language.Texts("a claim"), Unset: "none", Doc: "The claim with groups: a list, or text with spaces."},
	{Name: "roles", Values: language.Texts("a claim"), Unset: "none", Doc: "The claim with roles: a list, or text with spaces."},
	{Name: "scopes", Values: language.Texts("a claim"), Unset: "`\"scope\"`", Doc: "The claim with scopes: a list, or text with spaces."},
}}

const (
	maxIssuer     = 1024 // bytes
	maxAudience   = 1024
	maxClaimName  = 256
	defaultLeeway = time.Minute
	mostLeeway    = 5 * time.Minute
)

// jwt reads an auth "jwt" block.
func (r blockReader) jwt() ClientAuth {
	j := JWT{At: startOf(r.Head), Leeway: r.Duration("leeway", defaultLeeway, mostLeeway)}
	j.Issuer = r.requiredText("issuer", maxIssuer, "write the value that the claim iss of the tokens has")
	j.Secret = credential(r.Reader, "secret", "JUNCTOR_JWT_SECRET", secretProblem)
	j.Late = r.keyring.contains(j.Secret)
	symmetric := r.IsSet("secret")
	if !symmetric {
		j.Keys = r.keySource(j.Issuer)
	}
	r.onlyOne("jwks_url", "jwks_file", "secret")
	j.Algorithms = r.algorithms(symmetric)
	j.Audiences = r.audiences()
	j.Claims = r.blockOrEmpty("claims").claims()
	j.Subjects = names(r.Reader, "subjects")
	switch {
	case j.Claims.Tenant == "":
		j.Tenant = r.tenant()
	case r.IsSet("tenant"):
		r.ErrorAt(r.Body.Attributes["tenant"].NameRange, "remove one of them", `"tenant" and claims { tenant } both name the tenant`)
	}
	return j
}

// rejectDuplicateIssuers reports an issuer in two auth blocks: the first one would decide
// about all of its tokens.
func (r blockReader) rejectDuplicateIssuers(all []Authentication) {
	first := map[string]Position{}
	for i, b := range r.Labelled("auth") {
		j, ok := all[i].Settings.(JWT)
		if !ok || j.Issuer == "" {
			continue
		}
		if at, both := first[j.Issuer]; both {
			one := r.nested(b)
			r.ErrorAt(one.ValueAt("issuer", one.Head), "list all audiences in one block", "two auth blocks have the same issuer; the first is at %s", at)
			continue
		}
		first[j.Issuer] = all[i].At
	}
}

// requiredText reads a text that must be set.
func (r blockReader) requiredText(name string, longest int, hint string) string {
	text, a, set := r.Text(name)
	switch {
	case set && (text == "" || len(text) > longest || strings.ContainsFunc(text, unprintable)):
		r.ErrorAt(a.Expr.Range(), hint, "%q must be 1 to %d bytes of text without control characters", name, longest)
	case !set && !r.IsSet(name):
		r.ReportMissing(name, r.Head)
	}
	return text
}

// onlyOne reports attributes that exclude each other.
func (r blockReader) onlyOne(names ...string) {
	first := ""
	for _, name := range names {
		switch {
		case !r.IsSet(name):
		case first == "":
			first = name
		default:
			r.ErrorAt(r.Body.Attributes[name].NameRange, "remove one of them", "%q and %q exclude each other", first, name)
		}
	}
}

// keySource reads where the keys of an issuer are. Without jwks_url and jwks_file they
// are where the issuer's metadata says.
func (r blockReader) keySource(issuer string) jwks.Source {
	s := jwks.Source{CA: r.Path("ca"), File: r.Path("jwks_file")}
	if text, a, set := r.Text("jwks_url"); set {
		s.URL = text
		r.checkKeysURL(a.Expr.Range(), "jwks_url", text, "")
	}
	if s.File == "" && s.URL == "" && issuer != "" {
		s.Issuer = issuer
		r.checkKeysURL(r.ValueAt("issuer", r.Head), "issuer", issuer, "write the issuer's URL, or set jwks_url or jwks_file")
	}
	if s.File != "" && s.CA != "" {
		r.WarnAt(r.Body.Attributes["ca"].NameRange, "", `"ca" has no effect on a file`)
	}
	return s
}

func (r blockReader) checkKeysURL(at hcl.Range, attribute, text, hint string) {
	if err := jwks.CheckURL(text); err != nil {
		r.ErrorAt(at, hint, "%q %v", attribute, err)
	}
}

// algorithms reads the accepted algorithms. A secret and keys never verify the same
// token: a public key used as a secret would let everyone sign.
func (r blockReader) algorithms(symmetric bool) []string {
	possible, other := authn.AsymmetricAlgorithms, authn.SymmetricAlgorithms
	if symmetric {
		possible, other = other, possible
	}
	items := r.Texts("algorithms")
	if items == nil {
		return slices.Clone(possible)
	}
	list := []string{}
	for _, e := range items {
		switch {
		case slices.Contains(possible, e.Text):
			list = append(list, e.Text)
		case slices.Contains(other, e.Text) && symmetric:
			r.ErrorAt(e.At, "remove secret, or list HS256, HS384 or HS512", "the algorithm %q needs keys, and the block has a secret", e.Text)
		case slices.Contains(other, e.Text):
			r.ErrorAt(e.At, "list RS256, ES256 or another algorithm with public keys, or set secret", "the algorithm %q needs a secret, and the block has keys", e.Text)
		default:
			r.ErrorAt(e.At, language.DidYouMean(e.Text, possible), "there is no algorithm %q", e.Text)
		}
	}
	if len(items) == 0 {
		r.ErrorAt(r.Body.Attributes["algorithms"].Expr.Range(), "list the algorithms, or omit the attribute", `"algorithms" is empty, so no token is accepted`)
	}
	return list
}

// audiences reads the values of which a token must have one in its claim aud.
func (r blockReader) audiences() []string {
	items := r.Texts("audiences")
	if items == nil && !r.IsSet("audiences") {
		r.ReportMissing("audiences", r.Head)
		return nil
	}
	list := []string{}
	for _, e := range items {
		if e.Text == "" || len(e.Text) > maxAudience || strings.ContainsFunc(e.Text, unprintable) {
			r.ErrorAt(e.At, "", "an audience must be 1 to %d bytes of text without control characters", maxAudience)
		}
		list = append(list, e.Text)
	}
	if items != nil && len(items) == 0 {
		r.ErrorAt(r.Body.Attributes["audiences"].Expr.Range(), "list the URL of this gateway, for which the tokens are issued",
			`"audiences" is empty: tokens for every other service of the issuer would be accepted`)
	}
	return list
}

// claims reads the claims block.
func (r blockReader) claims() authn.ClaimNames {
	r.Check(&claimsForm)
	name := func(attribute, unset string) string {
		text, a, set := r.Text(attribute)
		if !set {
			return unset
		}
		if text == "" || len(text) > maxClaimName || strings.ContainsFunc(text, unprintable) {
			r.ErrorAt(a.Expr.Range(), "", "the name of a claim must be 1 to %d bytes of text without control characters", maxClaimName)
		}
		return text
	}
	c := authn.ClaimNames{
		Subject: name("subject", "sub"), Tenant: name("tenant", ""), Roles: name("roles", ""), Groups: name("groups", ""), Scopes: name("scopes", "scope"),
	}
	if c.Roles != "" {
		r.warnRolesClaim()
	}
	return c
}

// secretProblem returns what is wrong with a secret for tokens, or "" for a valid one.
func secretProblem(secret string) string {
	if len(secret) < authn.LeastSecret {
		return fmt.Sprintf("is shorter than %d bytes, so it can be guessed", authn.LeastSecret)
	}
	return ""
}
