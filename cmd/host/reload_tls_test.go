//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A testAuthority signs certificates, which it writes to the directory of a site.
type testAuthority struct {
	site *gatewaySite
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority writes NAME.pem with the certificate of an authority.
func (s *gatewaySite) newAuthority(name string) *testAuthority {
	s.t.Helper()
	a := &testAuthority{site: s}
	a.cert, a.key = a.sign(name)
	return a
}

// sign writes NAME.pem and NAME.key. The first certificate is the authority's own.
func (a *testAuthority) sign(name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t := a.site.t
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:        a.cert == nil, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.site.put(name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	a.site.put(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return made, key
}

// trusting makes the client trust the authority, and present a certificate if name is not
// empty.
func (c *gatewayClient) trusting(a *testAuthority, name string) *gatewayClient {
	c.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AddCert(a.cert)
	if name != "" {
		dir := filepath.Dir(a.site.path)
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
		if err != nil {
			c.t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
	c.t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// expectUnreachable expects that a request gets no response.
func (c *gatewayClient) expectUnreachable(what string) {
	c.t.Helper()
	if status, text, err := c.call("steady__add"); err == nil && status == http.StatusOK {
		c.t.Errorf("%s: %d: %s", what, status, text)
	}
}

func tlsBlock(cert, clientCA string) string {
	text := fmt.Sprintf("    tls {\n      cert = %q\n      key = %q\n", cert+".pem", cert+".key")
	if clientCA != "" {
		text += fmt.Sprintf("      client_ca = %q\n", clientCA+".pem")
	}
	return text + "    }\n"
}

// TestReloadTurnsTLSOnAndOff does so at one address. The session goes on.
func TestReloadTurnsTLSOnAndOff(t *testing.T) {
	listen := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	s := startGatewaySite(t, listen)
	ours := s.newAuthority("ours")
	ours.sign("server")
	plain := s.client("").initialize()
	secure := s.client("").trusting(ours, "")
	secure.session = plain.session
	for range 2 {
		s.configure(listen + tlsBlock("server", ""))
		s.hangup("serving over HTTP")
		s.waitLog("reloaded the configuration")
		secure.url = strings.Replace(s.url, "http://", "https://", 1)
		secure.expect("with TLS", http.StatusOK)
		s.client("").expectUnreachable("without TLS")
		s.configure(listen)
		s.hangup("serving over HTTP")
		s.waitLog("reloaded the configuration")
		plain.expect("TLS is off again", http.StatusOK)
	}
}

// TestReloadReplacesCertificates replaces the files of the server's certificate and of the
// authority of clients. A client of the earlier authority is refused on its open
// connection, and its stream ends.
func TestReloadReplacesCertificates(t *testing.T) {
	listen := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	s := &gatewaySite{reloadSite: newReloadSite(t)}
	ours, others := s.newAuthority("ours"), s.newAuthority("others")
	ours.sign("server")
	ours.sign("ann")
	others.sign("other-server")
	others.sign("bob")
	s.configure(listen + tlsBlock("server", "ours"))
	s.start("serve", "--http")
	ann := s.client("").trusting(ours, "ann").initialize()
	stream := ann.stream(http.MethodGet, "/mcp", "")
	ann.expect("a client of the authority", http.StatusOK)
	s.client("").trusting(ours, "bob").expectUnreachable("a client of another authority")

	s.reload(listen + tlsBlock("other-server", "ours"))
	ann.expect("the client on its open connection", http.StatusOK)
	s.client("").trusting(others, "ann").expect("a new connection", http.StatusOK)
	s.client("").trusting(ours, "ann").expectUnreachable("a client that does not trust the new certificate")

	s.reload(listen + tlsBlock("other-server", "others"))
	expectEnd(t, "the stream", stream, "unauthorized")
	ann.expect("the client on its open connection", http.StatusUnauthorized)
	s.client("").trusting(others, "bob").expect("a client of the other authority", http.StatusOK)
	s.client("").trusting(others, "ann").expectUnreachable("a client of the earlier authority")
}
