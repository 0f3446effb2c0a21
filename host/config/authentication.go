package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A ClientAuth is the content of an auth block of the gateway: how it authenticates
// clients. Each kind of block implements it in a file of its own.
type ClientAuth interface {
	// Authenticator returns what authenticates clients. lookup returns the secrets of
	// keyring() in the block, which belongs to c.
	Authenticator(c *Config, lookup func(name string) (string, error)) (authn.Authenticator, error)
	// Principals returns the principals that clients can have. open means that there
	// are others too.
	Principals() (all []authn.Principal, open bool)
	// SecretText returns the text of the block that may contain keyring(), or "".
	SecretText() string
	// ClientVariable returns the environment variable in which a client has its
	// credential, or "" if none is known.
	ClientVariable() string
}

// authKinds are the kinds of auth blocks of the gateway.
var authKinds = map[string]authKind{
	"static_token": {staticTokenForm, blockReader.staticToken},
}

// An authKind reads the auth blocks of one kind.
type authKind struct {
	form form
	read func(r blockReader) ClientAuth
}

// An Authentication is an auth block of the gateway.
type Authentication struct {
	Kind     string
	At       Position
	Settings ClientAuth // nil for an unknown kind
}

// labelledBlocks returns the nested blocks of a type with one label.
func (r blockReader) labelledBlocks(kind string) []*hclsyntax.Block {
	return slices.DeleteFunc(slices.Clone(r.body.Blocks), func(b *hclsyntax.Block) bool { return b.Type != kind || len(b.Labels) != 1 })
}

// authentication reads the auth blocks of the gateway. The result contains wrong
// blocks too, so that no second problem asks for authentication.
func (r blockReader) authentication() []Authentication {
	var all []Authentication
	for _, b := range r.labelledBlocks("auth") {
		one := r.nested(b)
		auth := Authentication{Kind: one.label, At: startOf(one.head)}
		switch kind, known := authKinds[one.label]; {
		case known:
			one.check(kind.form)
			auth.Settings = kind.read(one)
		case one.label == "none":
			one.errorAt(one.labelAt, "remove the block; a loopback address needs no authentication", `there is no auth "none"`)
		default:
			one.errorAt(one.labelAt, didYouMean(one.label, slices.Sorted(maps.Keys(authKinds))), "there is no kind of auth called %q", one.label)
		}
		all = append(all, auth)
	}
	r.rejectDuplicateTokens(all)
	return all
}
