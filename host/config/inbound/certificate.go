package inbound

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// A ClientCertificate authenticates clients by their certificates. It does not change after the
// load.
type ClientCertificate struct {
	Part  string // of the certificate, with the name of the client; see package authn
	Names authn.Names
}

// Authenticator implements ClientAuth.
func (c ClientCertificate) Authenticator(Build) (authn.Authenticator, error) {
	return authn.Certificates{Part: c.Part, Names: c.Names}, nil
}

// Vouch implements ClientAuth.
func (c ClientCertificate) Vouch() *Vouch {
	return &Vouch{Issuer: "certificate", Names: true, Subjects: c.Names.Allowed, Given: c.Names.Roles}
}

// Clients implements ClientAuth.
func (c ClientCertificate) Clients() Clients { return clientsOf(c.Names) }

// SecretText implements ClientAuth.
func (ClientCertificate) SecretText() string { return "" }

// A certificateBlock is an auth "certificate" block.
type certificateBlock struct {
	Part string `hcl:"name" words:"common_name,dns,email,uri" doc:"The part of the certificate with the subject. A certificate with none or several of the kind is refused."`
	admittedNames
}

// readCertificateAuth reads an auth "certificate" block.
func readCertificateAuth(r language.Reader, used RoleUse) ClientAuth {
	var b certificateBlock
	language.Decode(r, &b)
	return ClientCertificate{Part: b.Part, Names: used.admitNames(r, b.admittedNames)}
}
