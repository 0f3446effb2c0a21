package authn

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestCertificatesReturnsTheCommonName(t *testing.T) {
	named := func(name string) *tls.ConnectionState {
		return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{Subject: pkix.Name{CommonName: name}}, {Subject: pkix.Name{CommonName: "the authority"}}}}}
	}
	for what, c := range map[string]struct {
		state *tls.ConnectionState
		want  string
	}{
		"named":        {named("agent-1"), "agent-1"},
		"without TLS":  {nil, ""},
		"none":         {&tls.ConnectionState{}, ""},
		"not verified": {&tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Subject: pkix.Name{CommonName: "x"}}}}, ""},
		"no name":      {named(""), ""},
		"long name":    {named(strings.Repeat("x", maxName+1)), ""},
	} {
		p, err := Certificates{}.Authenticate(&http.Request{TLS: c.state})
		if p.Subject != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, ErrCertificate) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
}
