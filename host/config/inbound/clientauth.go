package inbound

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A ClientAuth is the content of an auth block of the gateway: how it authenticates
// clients. Each kind of block implements it in a file of its own.
type ClientAuth interface {
	// Authenticator returns what authenticates clients.
	Authenticator(b Build) (authn.Authenticator, error)
	// Clients returns the clients that the block admits.
	Clients() Clients
	// Vouch returns what the block lets its issuer say about clients; nil: nothing.
	Vouch() *Vouch
	// SecretText returns the text of the block that may contain keyring(), or "".
	SecretText() string
}

// A Build is what makes authenticators of auth blocks.
type Build struct {
	Keyring *expression.Keyring               // of the configuration with the blocks
	Lookup  func(name string) (string, error) // returns the secrets of keyring()
	Keys    *jwks.Pool
}

// Clients describe the clients that an auth block admits.
type Clients struct {
	Principals   []authn.Principal // that the block names; a subject may be empty
	OpenSubjects bool              // there may be other subjects
	OpenTenants  bool              // there may be other tenants
}

// An Authentication is an auth block of the gateway.
type Authentication struct {
	Kind     string
	At       source.Position
	Settings ClientAuth // nil for an unknown kind
}
