package authn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// certificate returns a certificate as a client would present it.
func certificate(t *testing.T, template x509.Certificate) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	text, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func commonName(names ...string) x509.Certificate {
	var c x509.Certificate
	for _, n := range names {
		c.Subject.ExtraNames = append(c.Subject.ExtraNames,
			pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: n})
	}
	return c
}

// TestCertificatesReadOneName presents certificates whose names are similar to allowed
// ones, repeated, missing, or in another part.
func TestCertificatesReadOneName(t *testing.T) {
	spiffe, _ := url.Parse("spiffe://acme.example/agent-1")
	allowed := Names{
		Allowed: []string{"agent-1", "agent-2.example", "spiffe://acme.example/agent-1", "ops@example.com"},
		Tenant:  "acme",
	}
	mapped := Names{Tenants: map[string]string{"agent-1": "acme"}}
	every := Names{Tenant: "acme"}
	for what, c := range map[string]struct {
		with  Certificates
		shown x509.Certificate
		want  string
	}{
		"allowed":             {Certificates{Names: allowed}, commonName("agent-1"), "agent-1"},
		"every name":          {Certificates{Names: every}, commonName("anything else"), "anything else"},
		"a tenant of its own": {Certificates{Names: mapped}, commonName("agent-1"), "agent-1"},
		"DNS name": {Certificates{Part: DNSName, Names: allowed},
			x509.Certificate{DNSNames: []string{"agent-2.example"}}, "agent-2.example"},
		"URI": {Certificates{Part: URI, Names: allowed},
			x509.Certificate{URIs: []*url.URL{spiffe}}, "spiffe://acme.example/agent-1"},
		"email": {Certificates{Part: Email, Names: allowed},
			x509.Certificate{EmailAddresses: []string{"ops@example.com"}}, "ops@example.com"},
		"a longer name":               {Certificates{Names: allowed}, commonName("agent-1.internal.evil"), ""},
		"a shorter name":              {Certificates{Names: allowed}, commonName("agent-"), ""},
		"another case":                {Certificates{Names: allowed}, commonName("Agent-1"), ""},
		"a space after it":            {Certificates{Names: allowed}, commonName("agent-1 "), ""},
		"a dot after it":              {Certificates{Names: allowed}, commonName("agent-1."), ""},
		"NUL in it":                   {Certificates{Names: allowed}, commonName("agent-1\x00.evil"), ""},
		"a wide letter":               {Certificates{Names: allowed}, commonName("agent－1"), ""},
		"an invisible letter":         {Certificates{Names: every}, commonName("agent-1\u200b"), ""},
		"a line break":                {Certificates{Names: every}, commonName("agent-1\nx"), ""},
		"two names":                   {Certificates{Names: allowed}, commonName("agent-1", "evil"), ""},
		"two names, the last allowed": {Certificates{Names: allowed}, commonName("evil", "agent-1"), ""},
		"a pattern": {Certificates{Part: DNSName, Names: allowed},
			x509.Certificate{DNSNames: []string{"*.example"}}, ""},
		"two DNS names": {Certificates{Part: DNSName, Names: allowed},
			x509.Certificate{DNSNames: []string{"agent-2.example", "evil.example"}}, ""},
		"the name in another part": {Certificates{Names: allowed},
			x509.Certificate{DNSNames: []string{"agent-1"}}, ""},
		"no name":                 {Certificates{Names: every}, commonName(), ""},
		"an empty name":           {Certificates{Names: every}, commonName(""), ""},
		"a long name":             {Certificates{Names: every}, commonName(strings.Repeat("x", maxSubject+1)), ""},
		"a name without a tenant": {Certificates{Names: mapped}, commonName("agent-2"), ""},
		"expired since the handshake": {Certificates{Names: every},
			x509.Certificate{Subject: pkix.Name{CommonName: "agent-1"}, NotAfter: time.Now().Add(-time.Minute)}, ""},
		"a tenant as the name": {Certificates{Names: mapped}, commonName("acme"), ""},
	} {
		shown := certificate(t, c.shown)
		p, err := c.with.Authenticate(&http.Request{
			TLS: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{shown}}},
		})
		if p.Subject != c.want || (err == nil) != (c.want != "") ||
			err != nil && (!errors.Is(err, ErrCertificate) || errors.Is(err, ErrMissing)) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
		if err == nil && (p.Tenant != "acme" || p.Method != "certificate") {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

// TestCertificatesNeedAVerifiedChain checks that only certificates that the handshake
// has verified count.
func TestCertificatesNeedAVerifiedChain(t *testing.T) {
	for what, state := range map[string]*tls.ConnectionState{
		"without TLS":  nil,
		"none":         {},
		"not verified": {PeerCertificates: []*x509.Certificate{certificate(t, commonName("agent-1"))}},
	} {
		p, err := Certificates{Names: Names{Tenant: "acme"}}.Authenticate(&http.Request{TLS: state})
		if p.Subject != "" || !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
}
