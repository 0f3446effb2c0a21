package authn

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// ErrCertificate means that the client sent no certificate with a usable name.
var ErrCertificate = errors.New("the client has no certificate that names it")

// The parts of a certificate that can name a client.
const (
	CommonName = "common_name"
	DNSName    = "dns"
	Email      = "email"
	URI        = "uri"
)

// Names maps the names in certificates, or of users, to principals. It is immutable. Package
// config/inbound makes it.
type Names struct {
	Allowed []string          // exact names; nil: every name
	Tenants map[string]string // tenant of a name
	Tenant  string            // of other names; empty: other names are refused
	Roles   []string
}

// principal returns the principal of a name.
func (n Names) principal(method, name string) (Principal, error) {
	if err := checkSubject(name); err != nil {
		return Principal{}, fmt.Errorf("the client's name %w", err)
	}
	if n.Allowed != nil && !slices.Contains(n.Allowed, name) {
		return Principal{}, fmt.Errorf("the name %q is not among the allowed names", truncate.Bytes(name, 100))
	}
	tenant, listed := n.Tenants[name]
	if !listed {
		tenant = n.Tenant
	}
	if tenant == "" {
		return Principal{}, fmt.Errorf("the name %q has no tenant", truncate.Bytes(name, 100))
	}
	return Principal{Subject: name, Tenant: tenant, Method: method, Roles: n.Roles}, nil
}

// Certificates authenticates clients by their certificates, which the listener has
// verified already. It is immutable and may be used concurrently.
type Certificates struct {
	Part  string // the part with the name; empty: CommonName
	Names Names
}

var _ Authenticator = Certificates{}

// Authenticate returns a principal whose subject is the name in the request's
// certificate. The certificate must have exactly one name of the kind.
func (c Certificates) Authenticate(r *http.Request) (Principal, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return Principal{}, fmt.Errorf("%w: %w", ErrMissing, ErrCertificate)
	}
	all := namesIn(r.TLS.VerifiedChains[0][0], c.Part)
	if len(all) != 1 {
		return Principal{}, fmt.Errorf("%w: it has %d names of the kind %q", ErrCertificate, len(all), c.Part)
	}
	p, err := c.Names.principal("certificate", all[0])
	if err != nil {
		return Principal{}, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	p.Expires = r.TLS.VerifiedChains[0][0].NotAfter
	if time.Now().After(p.Expires) { // after the handshake
		return Principal{}, fmt.Errorf("%w: it has expired", ErrCertificate)
	}
	return p, nil
}

// namesIn returns all names of one kind in a certificate.
func namesIn(c *x509.Certificate, part string) (all []string) {
	switch part {
	case DNSName:
		return c.DNSNames
	case Email:
		return c.EmailAddresses
	case URI:
		for _, u := range c.URIs {
			all = append(all, u.String())
		}
		return all
	}
	commonName := asn1.ObjectIdentifier{2, 5, 4, 3}
	for _, name := range c.Subject.Names {
		if text, ok := name.Value.(string); ok && name.Type.Equal(commonName) {
			all = append(all, text)
		}
	}
	return all
}
