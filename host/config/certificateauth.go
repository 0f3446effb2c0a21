package config

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// A ClientCertificate authenticates clients by their certificates.
type ClientCertificate struct {
	Part  string // of the certificate, with the name of the client; see package authn
	Names authn.Names
}

// Authenticator implements ClientAuth.
func (c ClientCertificate) Authenticator(AuthBuild) (authn.Authenticator, error) {
	return authn.Certificates{Part: c.Part, Names: c.Names}, nil
}

// Clients implements ClientAuth.
func (c ClientCertificate) Clients() AuthClients { return clientsOf(c.Names) }

// SecretText implements ClientAuth.
func (ClientCertificate) SecretText() string { return "" }

// A certificateBlock is an auth "certificate" block.
type certificateBlock struct {
	Part string `hcl:"name" words:"common_name,dns,email,uri" doc:"The part of the certificate with the subject. A certificate with none or several of the kind is refused."`
	admittedNames
}

// readCertificateAuth reads an auth "certificate" block.
func readCertificateAuth(r blockReader, used roleUse) ClientAuth {
	var b certificateBlock
	language.Decode(r.Reader, &b)
	return ClientCertificate{Part: b.Part, Names: used.admitNames(r, b.admittedNames)}
}

// checkCertificates reports auth "certificate" blocks of a listener that asks clients for
// no certificate.
func checkCertificates(r blockReader, h HTTP) {
	if h.TLS != nil && h.TLS.ClientCA != "" {
		return
	}
	for _, b := range r.Labelled("auth") {
		if b.Labels[0] == "certificate" {
			r.ErrorAt(r.nested(b).Head, "write tls { cert, key, client_ca } with the authority of the certificates", `auth "certificate" needs tls { client_ca }`)
		}
	}
}
