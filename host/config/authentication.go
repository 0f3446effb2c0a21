package config

import (
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A ClientAuth is the content of an auth block of the gateway: how it authenticates
// clients. Each kind of block implements it in a file of its own.
type ClientAuth interface {
	// Authenticator returns what authenticates clients.
	Authenticator(b AuthBuild) (authn.Authenticator, error)
	// Clients returns the clients that the block admits.
	Clients() AuthClients
	// SecretText returns the text of the block that may contain keyring(), or "".
	SecretText() string
}

// An AuthBuild is what makes authenticators of auth blocks.
type AuthBuild struct {
	Config *Config                           // with the blocks
	Lookup func(name string) (string, error) // returns the secrets of keyring()
	Keys   *jwks.Pool
}

// AuthClients describe the clients that an auth block admits.
type AuthClients struct {
	Principals   []authn.Principal // that the block names; a subject may be empty
	OpenSubjects bool              // there may be other subjects
	OpenTenants  bool              // there may be other tenants
}

// An authKind is a kind of auth block of the gateway.
type authKind struct {
	form func() *language.Form
	read func(r blockReader, used roleUse) ClientAuth
}

// authKinds are the kinds of auth blocks of the gateway, by their labels.
var authKinds = map[string]authKind{
	"static_token": {language.FormOf[tokenBlock], readTokenAuth},
	"jwt":          {language.FormOf[jwtBlock], readJWTAuth},
	"certificate":  {language.FormOf[certificateBlock], readCertificateAuth},
	"forwarded":    {language.FormOf[forwardedBlock], readForwardedAuth},
}

// An Authentication is an auth block of the gateway.
type Authentication struct {
	Kind     string
	At       source.Position
	Settings ClientAuth // nil for an unknown kind
}

// Kinds implements [language.Kinds].
func (*Authentication) Kinds() map[string]*language.Form {
	forms := map[string]*language.Form{}
	for label, kind := range authKinds {
		forms[label] = kind.form()
	}
	return forms
}

// readAuth reads the auth blocks of the gateway. The result contains wrong
// blocks too, so that no second problem asks for authentication.
func readAuth(r blockReader, used roleUse) []Authentication {
	var all []Authentication
	for _, b := range r.Labelled("auth") {
		one := r.nested(b)
		auth := Authentication{Kind: one.Label, At: source.StartOf(one.Head)}
		switch kind, known := authKinds[one.Label]; {
		case known:
			auth.Settings = kind.read(one, used)
		case one.Label == "none":
			one.ErrorAt(one.LabelAt, "remove the block; a loopback address needs no authentication", `there is no auth "none"`)
		default:
			one.ErrorAt(one.LabelAt, language.DidYouMean(one.Label, slices.Sorted(maps.Keys(authKinds))), "there is no kind of auth called %q", one.Label)
		}
		all = append(all, auth)
	}
	rejectDuplicateTokens(r, all)
	rejectDuplicateIssuers(r, all)
	return all
}
