package authn

import (
	"errors"
	"net/http"
)

// ErrCertificate is the reason for refusing a client without a certificate that
// names it.
var ErrCertificate = errors.New("the client has no certificate that names it")

// maxName bounds the name that a certificate gives, in bytes.
const maxName = 256

// Certificates lets in whoever the listener let in: it has checked the
// certificate. The client is who that names.
type Certificates struct{}

var _ Authenticator = Certificates{}

// Authenticate returns the subject of the request's certificate: its common
// name.
func (Certificates) Authenticate(r *http.Request) (Principal, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return Principal{}, ErrCertificate
	}
	name := r.TLS.VerifiedChains[0][0].Subject.CommonName
	if name == "" || len(name) > maxName {
		return Principal{}, ErrCertificate
	}
	return Principal{Subject: name, Tenant: "default", Method: "certificate"}, nil
}
