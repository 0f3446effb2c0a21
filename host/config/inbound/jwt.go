package inbound

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A JWT authenticates clients that send a JSON Web Token of an issuer. It does not change after
// the load.
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
	At         source.Position
}

// String names the issuer, so that no log prints the secret.
func (j JWT) String() string { return fmt.Sprintf("tokens of %q", j.Issuer) }

// GoString is String.
func (j JWT) GoString() string { return j.String() }

// Authenticator implements ClientAuth. It fails if a file of keys cannot be read.
func (j JWT) Authenticator(b Build) (authn.Authenticator, error) {
	o := authn.JWTOptions{Issuer: j.Issuer, Audiences: j.Audiences, Algorithms: j.Algorithms, Leeway: j.Leeway,
		Claims: j.Claims, Tenant: j.Tenant, Subjects: j.Subjects}
	if j.Keys != (jwks.Source{}) {
		o.Keys = b.Keys.Set(j.Keys)
		if err := o.Keys.Prepare(); err != nil {
			return nil, &fault.Error{Code: fault.ConfigInvalid, At: j.At.String(),
				Message: "jwks_file cannot be used: " + err.Error(), Err: err,
				Hint: "write the issuer's JSON Web Key Set to the file, or use jwks_url"}
		}
		return authn.NewJWT(o), nil
	}
	secret, err := b.Keyring.Substitute(j.Secret, b.Lookup)
	if err != nil {
		return nil, err
	}
	if why := secretProblem(secret); why != "" {
		return nil,
			&fault.Error{Code: fault.ConfigInvalid, At: j.At.String(), Message: "the secret " + why, Hint: TokenHint}
	}
	o.Secret = []byte(secret)
	return authn.NewJWT(o), nil
}

// Vouch implements ClientAuth.
func (j JWT) Vouch() *Vouch {
	return &Vouch{
		Issuer:   j.Issuer,
		Names:    true,
		Subjects: j.Subjects,
		Groups:   j.Claims.Groups != "",
		Roles:    j.Claims.Roles != "",
	}
}

// Clients implements ClientAuth.
func (j JWT) Clients() Clients {
	if j.Claims.Tenant != "" {
		return Clients{OpenSubjects: true, OpenTenants: true}
	}
	return Clients{Principals: []authn.Principal{{Tenant: j.Tenant}}, OpenSubjects: true}
}

// SecretText implements ClientAuth.
func (j JWT) SecretText() string { return j.Secret }

// A jwtBlock is an auth "jwt" block.
type jwtBlock struct {
	Issuer     string        `hcl:"issuer" accepts:"a text" doc:"The value of 'iss'. Without 'jwks_url', 'jwks_file' and 'secret', the URL where the metadata is found (OpenID Connect or RFC 8414)."`
	Audiences  []string      `hcl:"audiences" accepts:"a list of texts" doc:"'aud' must have one of them."`
	KeysURL    string        `hcl:"jwks_url" accepts:"a URL" unset:"from the metadata" doc:"The URL of the keys: 'https', or 'http' on this machine."`
	KeysFile   string        `hcl:"jwks_file" format:"path" unset:"none" doc:"The file of the keys. It is read again when it changes."`
	Secret     string        `hcl:"secret" secret:"late" accepts:"at least 32 bytes" unset:"none" doc:"For HS256, HS384 and HS512, with 'env()', 'file()' or 'keyring()'."`
	Algorithms algorithms    `hcl:"algorithms" unset:"all that fit" doc:"The accepted algorithms: with a secret HS256, HS384 and HS512, else the others."`
	CA         string        `hcl:"ca" format:"path" unset:"those of the system" doc:"The file of the authorities for TLS of the issuer."`
	Leeway     time.Duration `hcl:"leeway" default:"1m" max:"5m" doc:"For 'exp', 'nbf' and 'iat'."`
	Tenant     string        `hcl:"tenant" default:"default" accepts:"'a-z', '0-9', '_' and '-', at most 64, with a letter or digit at both ends" doc:"The tenant of the clients. It separates clients of different owners."`
	Subjects   clientNames   `hcl:"subjects" accepts:"a list of subjects" unset:"all" doc:"Subjects that are admitted, for an issuer that gives tokens to people whom you do not know."`

	Claims claimsBlock `hcl:"claims,block" doc:"Names of claims. A claim is a name, or a path such as 'realm_access.roles'."`
}

// A claimsBlock is a claims block.
type claimsBlock struct {
	Subject string `hcl:"subject" default:"sub" accepts:"a claim" doc:"The claim with the subject: a text."`
	Tenant  string `hcl:"tenant" accepts:"a claim" unset:"none" doc:"The claim with the tenant. A token without a valid one is refused."`
	Groups  string `hcl:"groups" accepts:"a claim" unset:"none" doc:"The claim with groups: a list, or text with spaces."`
	Roles   string `hcl:"roles" accepts:"a claim" unset:"none" doc:"The claim with roles: a list, or text with spaces."`
	Scopes  string `hcl:"scopes" default:"scope" accepts:"a claim" doc:"The claim with scopes: a list, or text with spaces."`
}

// ReadNames returns the names of the claims.
func (c claimsBlock) ReadNames() authn.ClaimNames {
	return authn.ClaimNames{Subject: c.Subject, Tenant: c.Tenant, Roles: c.Roles, Groups: c.Groups, Scopes: c.Scopes}
}

// Validate implements [language.Validator].
func (c *claimsBlock) Validate(r language.Reader) {
	for name, text := range map[string]string{
		"subject": c.Subject, "tenant": c.Tenant, "groups": c.Groups, "roles": c.Roles, "scopes": c.Scopes,
	} {
		if r.IsRead(name) && (text == "" || len(text) > maxClaimName || strings.ContainsFunc(text, Unprintable)) {
			r.ErrorAt(r.ValueAt(name, r.Head), "",
				"the name of a claim must be 1 to %d bytes of text without control characters", maxClaimName)
		}
	}
}

const (
	maxIssuer    = 1024 // bytes
	maxAudience  = 1024
	maxClaimName = 256
)

// Validate implements [language.Validator].
func (b *jwtBlock) Validate(r language.Reader) {
	if r.IsRead("issuer") &&
		(b.Issuer == "" || len(b.Issuer) > maxIssuer || strings.ContainsFunc(b.Issuer, Unprintable)) {
		r.ErrorAt(r.ValueAt("issuer", r.Head), "write the value that the claim iss of the tokens has",
			"%q must be 1 to %d bytes of text without control characters", "issuer", maxIssuer)
	}
	ReadCredential(r, "secret", "JUNCTOR_JWT_SECRET", secretProblem)
	if !r.IsSet("secret") {
		b.checkKeys(r)
	}
	onlyOne(r, "jwks_url", "jwks_file", "secret")
	b.checkAudiences(r)
	switch {
	case b.Claims.Tenant == "":
		checkTenant(r, "tenant", b.Tenant)
	case r.IsSet("tenant"):
		r.ErrorAt(r.NameAt("tenant"), "remove one of them", `"tenant" and claims { tenant } both name the tenant`)
	}
}

// checkKeys checks where the keys of the issuer are.
func (b *jwtBlock) checkKeys(r language.Reader) {
	if r.IsRead("jwks_url") {
		checkKeysURL(r, r.ValueAt("jwks_url", r.Head), "jwks_url", b.KeysURL, "")
	}
	if b.KeysFile == "" && b.KeysURL == "" && b.Issuer != "" {
		checkKeysURL(r, r.ValueAt("issuer", r.Head), "issuer", b.Issuer,
			"write the issuer's URL, or set jwks_url or jwks_file")
	}
	if b.KeysFile != "" && b.CA != "" {
		r.WarnAt(r.NameAt("ca"), "", `"ca" has no effect on a file`)
	}
}

// keys returns where the keys of the issuer are. Without jwks_url and jwks_file they
// are where the issuer's metadata says.
func (b *jwtBlock) keys() jwks.Source {
	s := jwks.Source{CA: b.CA, File: b.KeysFile, URL: b.KeysURL}
	if s.File == "" && s.URL == "" {
		s.Issuer = b.Issuer
	}
	return s
}

// readJWTAuth reads an auth "jwt" block.
func readJWTAuth(r language.Reader, used RoleUse) ClientAuth {
	var b jwtBlock
	language.Decode(r, &b)
	j := JWT{
		At:         source.StartOf(r.Head),
		Leeway:     b.Leeway,
		Issuer:     b.Issuer,
		Secret:     b.Secret,
		Late:       r.Host.IsLate(b.Secret),
		Algorithms: b.Algorithms,
		Audiences:  b.Audiences,
		Claims:     b.Claims.ReadNames(),
		Subjects:   b.Subjects,
	}
	if !r.IsSet("secret") {
		j.Keys = b.keys()
	}
	if j.Claims.Tenant == "" {
		j.Tenant = b.Tenant
	}
	if c, found := r.Block("claims"); found && j.Claims.Roles != "" {
		used.warnClaim(c)
	}
	return j
}

// rejectDuplicateIssuers reports an issuer in two auth blocks: the first one would decide
// about all of its tokens.
func rejectDuplicateIssuers(r language.Reader, all []Authentication) {
	first := map[string]source.Position{}
	for i, b := range r.Labelled("auth") {
		j, ok := all[i].Settings.(JWT)
		if !ok || j.Issuer == "" {
			continue
		}
		if at, both := first[j.Issuer]; both {
			one := r.Nested(b)
			r.ErrorAt(one.ValueAt("issuer", one.Head), "list all audiences in one block",
				"two auth blocks have the same issuer; the first is at %s", at)
			continue
		}
		first[j.Issuer] = all[i].At
	}
}

// onlyOne reports attributes that exclude each other.
func onlyOne(r language.Reader, names ...string) {
	first := ""
	for _, name := range names {
		switch {
		case !r.IsSet(name):
		case first == "":
			first = name
		default:
			r.ErrorAt(r.Body.Attributes[name].NameRange, "remove one of them", "%q and %q exclude each other",
				first, name)
		}
	}
}

func checkKeysURL(r language.Reader, at hcl.Range, attribute, text, hint string) {
	if err := jwks.CheckURL(text); err != nil {
		r.ErrorAt(at, hint, "%q %v", attribute, err)
	}
}

// algorithms are accepted algorithms. A secret and keys never verify the same
// token: a public key used as a secret would let everyone sign.
type algorithms []string

// Values implements [language.Valued].
func (*algorithms) Values() language.Values {
	return language.WordLists(slices.Concat(authn.AsymmetricAlgorithms, authn.SymmetricAlgorithms)...)
}

// ReadSetting implements [language.Setting].
func (l *algorithms) ReadSetting(r language.Reader, name string) {
	symmetric := r.IsSet("secret")
	possible, other := authn.AsymmetricAlgorithms, authn.SymmetricAlgorithms
	if symmetric {
		possible, other = other, possible
	}
	items := r.Texts(name)
	if items == nil {
		*l = slices.Clone(possible)
		return
	}
	*l = algorithms{}
	for _, e := range items {
		switch {
		case slices.Contains(possible, e.Text):
			*l = append(*l, e.Text)
		case slices.Contains(other, e.Text) && symmetric:
			r.ErrorAt(e.At, "remove secret, or list HS256, HS384 or HS512",
				"the algorithm %q needs keys, and the block has a secret", e.Text)
		case slices.Contains(other, e.Text):
			r.ErrorAt(e.At, "list RS256, ES256 or another algorithm with public keys, or set secret",
				"the algorithm %q needs a secret, and the block has keys", e.Text)
		default:
			r.ErrorAt(e.At, language.DidYouMean(e.Text, possible), "there is no algorithm %q", e.Text)
		}
	}
	if len(items) == 0 {
		r.ErrorAt(r.ValueAt(name, r.Head), "list the algorithms, or omit the attribute",
			"%q is empty, so no token is accepted", name)
	}
}

// checkAudiences checks the values of which a token must have one in its claim aud.
func (b *jwtBlock) checkAudiences(r language.Reader) {
	for i, text := range b.Audiences {
		if text == "" || len(text) > maxAudience || strings.ContainsFunc(text, Unprintable) {
			r.ErrorAt(r.ItemAt("audiences", i), "",
				"an audience must be 1 to %d bytes of text without control characters", maxAudience)
		}
	}
	if r.IsRead("audiences") && len(b.Audiences) == 0 {
		r.ErrorAt(r.ValueAt("audiences", r.Head), "list the URL of this gateway, for which the tokens are issued",
			`"audiences" is empty: tokens for every other service of the issuer would be accepted`)
	}
}

// secretProblem returns what is wrong with a secret for tokens, or "" for a valid one.
func secretProblem(secret string) string {
	if len(secret) < authn.LeastSecret {
		return fmt.Sprintf("is shorter than %d bytes, so it can be guessed", authn.LeastSecret)
	}
	return ""
}
