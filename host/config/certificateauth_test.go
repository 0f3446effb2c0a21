package config

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"net/http"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config/inbound"
)

// TestTenantsOfCertificates: the configuration alone decides about the tenant of a certificate.
// Its name and its organisation never become one.
func TestTenantsOfCertificates(t *testing.T) {
	named := func(name string) *http.Request {
		subject := pkix.Name{Names: []pkix.AttributeTypeAndValue{
			{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: "acme"},
			{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: name},
		}}
		c := &x509.Certificate{Subject: subject, NotAfter: time.Now().Add(time.Hour)}
		return &http.Request{TLS: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{c}}}}
	}
	for settings, want := range map[string]map[string]string{ // "": refused
		``:                              {"agent-1": "default", "agent-1.example.com": "default"},
		`tenant = "acme"`:               {"agent-1": "acme"},
		`tenants = { agent-1 = "one" }`: {"agent-1": "one", "agent-2": ""},
		"tenant = \"rest\"\ntenants = { agent-1 = \"one\" }": {"agent-1": "one", "agent-2": "rest"},
	} {
		c, ds := loadText(t, "gateway {\n http {\n tls {\n cert = \"c\"\n key = \"k\"\n client_ca = \"a\"\n }\n auth \"certificate\" {\n "+
			settings+"\n }\n }\n}")
		if ds.HasErrors() {
			t.Fatal(rendered(ds))
		}
		a, err := c.Gateway.HTTP.Auth[0].Settings.Authenticator(inbound.Build{Keyring: c.keyring})
		if err != nil {
			t.Fatal(err)
		}
		for name, tenant := range want {
			if p, err := a.Authenticate(named(name)); p.Tenant != tenant || (err != nil) != (tenant == "") {
				t.Errorf("%s: %s is of the tenant %q, %v, want %q", settings, name, p.Tenant, err, tenant)
			}
		}
	}
}
