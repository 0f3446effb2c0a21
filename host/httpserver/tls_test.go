package httpserver

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// An authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir}
	a.cert, a.key = a.sign(name, 1)
	return a
}

// sign creates a certificate and writes it and its key to NAME.pem and
// NAME.key. The first one is the authority's own.
func (a *authority) sign(name string, serial int64) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
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
		a.t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	a.write(name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return made, key
}

func (a *authority) write(name string, text []byte) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), text, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// client returns a transport that trusts the authority, with a certificate if
// cert is not empty.
func (a *authority) client(cert string, change func(*tls.Config)) *http.Transport {
	a.t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	c := &tls.Config{RootCAs: pool}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(a.dir, cert+".pem"), filepath.Join(a.dir, cert+".key"))
		if err != nil {
			a.t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if change != nil {
		change(c)
	}
	return &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
}

// TestTLS checks that clients use HTTP/2, that a renewed certificate is used
// without a restart, and that a client CA refuses other clients.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours, other := newAuthority(t, dir, "ours"), newAuthority(t, dir, "other")
	ours.sign("server", 100)
	ours.sign("client", 2)
	other.sign("unknown", 3)
	config := serverBlocks(t, "", "ok") +
		gatewayBlock(fmt.Sprintf("    tls {\n      cert      = %q\n      key       = %q\n      client_ca = %q\n    }",
			filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"), filepath.Join(dir, "ours.pem")))
	s := startHTTP(t, t.TempDir(), config, "127.0.0.1:0")
	url := "https://" + s.address + "/mcp"
	serial := func(transport *http.Transport) (int64, string) {
		t.Helper()
		defer transport.CloseIdleConnections()
		v := newTestClient(t, url, transport)
		m, header := modernCall(1, "a__echo", `{}`)
		resp, err := v.request(t.Context(), http.MethodPost, m, header...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if text, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(text, []byte(`"echo"`)) {
			t.Fatalf("%s, %v", text, err)
		}
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64(), resp.Proto
	}
	if n, proto := serial(ours.client("client", nil)); n != 100 || proto != "HTTP/2.0" {
		t.Errorf("certificate %d over %s", n, proto)
	}
	one := ours.client("client", nil)
	one.ForceAttemptHTTP2 = false
	if _, proto := serial(one); proto != "HTTP/1.1" {
		t.Error(proto)
	}
	for name, transport := range map[string]*http.Transport{
		"none": ours.client("", nil),
		"of another authority": func() *http.Transport {
			tr := other.client("unknown", nil)
			tr.TLSClientConfig.RootCAs = ours.client("", nil).TLSClientConfig.RootCAs
			return tr
		}(),
		"TLS 1.1": ours.client("client",
			func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }),
	} {
		if resp, err := newTestClient(t, url, transport).request(t.Context(), http.MethodPost,
			initializeRequest); err == nil {
			_ = resp.Body.Close()
			t.Errorf("certificate: %s: %s", name, resp.Status)
		}
	}
	// A client without TLS gets a hint.
	if resp, err := http.Get("http://" + s.address + "/healthz"); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Error(resp.Status)
		}
	}
	ours.sign("server", 101)
	eventually.NoError(t, func() error {
		if n, _ := serial(ours.client("client", nil)); n != 101 {
			return fmt.Errorf("the old certificate %d is still used", n)
		}
		return nil
	})
	// An unreadable certificate changes nothing.
	ours.write("server.pem", []byte("half a certif"))
	eventually.True(t, "the log reports the failure", func() bool {
		if n, _ := serial(ours.client("client", nil)); n != 101 {
			t.Fatalf("certificate %d is used", n)
		}
		return strings.Contains(s.log.String(), "reloading the certificate failed")
	})
}

// TestCertificateThatIsNotValidReplacesNone lists which certificates take the place of one.
func TestCertificateThatIsNotValidReplacesNone(t *testing.T) {
	lasts := func(from, to time.Duration) *x509.Certificate {
		return &x509.Certificate{NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to)}
	}
	valid, ended, later := lasts(-time.Hour, time.Hour), lasts(-2*time.Hour, -time.Hour), lasts(time.Hour, 2*time.Hour)
	for name, c := range map[string]struct {
		renewed, before *x509.Certificate
		used            bool
	}{
		"a valid one for a valid one": {valid, valid, true}, "a valid one for one that has ended": {valid, ended, true},
		"an ended one for a valid one": {ended, valid, false}, "one of later for a valid one": {later, valid, false},
		"an ended one for an ended one": {ended, ended, true}, "one of later for an ended one": {later, ended, true},
	} {
		if err := usableNow(c.renewed, c.before, "a.pem"); (err == nil) != c.used {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHTTP2StreamsAreIndependent has many requests wait on one HTTP/2
// connection. A client that does not read an answer does not stay in flight.
func TestHTTP2StreamsAreIndependent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 100)
	secure, err := NewTLS(Certificates{Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key")},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	a := newScriptedServer("a", "2026-07-28")
	h := openSecureFixture(t, secure, a)
	v := newTestClient(t, "https://"+h.address+"/mcp", ours.client("", nil))
	answers := make(chan string, 90)
	for i := range cap(answers) {
		go func() {
			m, header := modernCall(i, "a__wait", `{}`)
			_, text, _, err := v.post(m, header...)
			answers <- fmt.Sprint(text, err)
		}()
	}
	for range cap(answers) {
		defer a.nextCall(t).answer(`{"content":[]}`)
	}
	m, header := modernCall("\"x\"", "a__echo", `{}`)
	v.mustPost(m, header...)
	// A disconnect is noticed with HTTP/2 too.
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		m, header := modernCall("\"y\"", "a__wait", `{}`)
		if resp, err := v.request(ctx, http.MethodPost, m, header...); err == nil {
			_ = resp.Body.Close()
		}
	}()
	a.nextCall(t)
	cancel()
	<-gone
	select {
	case <-a.stops:
	case <-time.After(testTimeout):
		t.Error("the server did not notice that its client disconnected")
	}
}

// TestInvalidCertificatesAreRefused checks that NewTLS fails for unreadable
// files.
func TestInvalidCertificatesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 2)
	ours.write("empty.pem", nil)
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []Certificates{
		{Cert: path("missing.pem"), Key: path("server.key")},
		{Cert: path("server.pem"), Key: path("ours.key")},
		{Cert: path("server.pem"), Key: path("server.key"), ClientCA: path("missing.pem")},
		{Cert: path("server.pem"), Key: path("server.key"), ClientCA: path("empty.pem")},
	} {
		if _, err := NewTLS(c, hclog.NewNullLogger()); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
