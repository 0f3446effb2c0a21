package authn

import (
	"errors"
	"net/http"
)

// ErrCertificate means that the client sent no certificate with a usable common
// name.
var ErrCertificate = errors.New("the client has no certificate that names it")

// maxName is the length of the longest common name that is accepted, in bytes.
const maxName = 256

// Certificates authenticates clients by their certificates, which the listener
// has verified already.
type Certificates struct{}

var _ Authenticator = Certificates{}

// Authenticate returns a principal whose subject is the common name of the
// request's certificate. The error is ErrCertificate.
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
