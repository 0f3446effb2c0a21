package operate

import (
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/host/httpserver"
)

// certificatesOf lists the tls blocks of the listeners.
func certificatesOf(c *config.Config) (all []doctor.Certificate) {
	add := func(listener string, t *config.TLS) {
		if t == nil {
			return
		}
		all = append(all,
			doctor.Certificate{Listener: listener, At: t.At.String(), Read: func() (doctor.CertificateTimes, error) {
				h, err := httpserver.Certificates{Cert: t.Cert, Key: t.Key, ClientCA: t.ClientCA,
					Optional: t.Optional}.Read()
				return doctor.CertificateTimes{Cert: h.Cert, ClientCA: h.ClientCA, Begins: h.Begins, Ends: h.Ends,
					AuthorityEnds: h.ClientCAEnds}, err
			}})
	}
	add("gateway", c.Gateway.HTTP.TLS)
	if c.Console != nil {
		add("console", c.Console.TLS)
	}
	return all
}

// issuersOf lists the sources of keys that verify tokens of clients. A file is checked with
// the configuration.
func issuersOf(c *config.Config) (all []doctor.Issuer) {
	for _, auth := range c.Gateway.HTTP.Auth {
		if j, ok := auth.Settings.(inbound.JWT); ok && j.Keys != (jwks.Source{}) {
			all = append(all, doctor.Issuer{Source: j.Keys.String(), At: j.At.String(), Check: j.Keys.Check})
		}
	}
	return all
}
