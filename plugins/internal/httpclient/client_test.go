package httpclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

// certificates writes a certificate authority and a certificate signed by it,
// with its key, to a directory.
func certificates(t *testing.T) (dir string, pair tls.Certificate, authority *x509.CertPool) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	caKey, leafKey := key(), key()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"inside.example"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	sign := func(c *x509.Certificate, k *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, ca, &k.PublicKey, caKey)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	der, err := x509.MarshalECPrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"ca.pem":   sign(ca, caKey),
		"cert.pem": sign(leaf, leafKey), "key.pem": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"empty.pem": nil,
	}
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if pair, err = tls.X509KeyPair(files["cert.pem"], files["key.pem"]); err != nil {
		t.Fatal(err)
	}
	authority = x509.NewCertPool()
	authority.AppendCertsFromPEM(files["ca.pem"])
	return dir, pair, authority
}

// TestTLS checks the verification of server and client certificates. TRN-23
func TestTLS(t *testing.T) {
	dir, pair, authority := certificates(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 && r.URL.Path == "/mutual" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: authority,
		ClientAuth: tls.VerifyClientCertIfGiven}
	s.StartTLS()
	t.Cleanup(s.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)

	for name, c := range map[string]struct {
		o    Options
		want string // part of the error; empty: no error
	}{
		"unknown authority": {Options{}, "authority that is not trusted"},
		"own authority":     {Options{TLS: &TLS{CA: "ca.pem"}}, ""},
		"other name":        {Options{TLS: &TLS{CA: "ca.pem", ServerName: "outside.example"}}, "cannot be used"},
		"alternative name":  {Options{TLS: &TLS{CA: "ca.pem", ServerName: "inside.example"}}, ""},
		"unchecked":         {Options{TLS: &TLS{SkipVerify: true}}, ""},
		"with certificate": {Options{URL: s.URL + "/mutual", TLS: &TLS{CA: "ca.pem", Cert: "cert.pem", Key: "key.pem"}},
			""},
		"no TLS": {Options{URL: "https" + strings.TrimPrefix(plain.URL, "http")}, "does not speak TLS"},
	} {
		if c.o.URL == "" {
			c.o.URL = s.URL
		}
		c.o.Dir = dir
		switch err := get(t, c.o); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for path, settings := range map[string]TLS{
		"tls.ca":   {CA: "absent.pem"},
		"tls.cert": {Cert: "cert.pem", Key: "ca.pem"},
		"tls.key":  {Cert: "cert.pem", Key: "absent.pem"},
	} {
		_, err := NewClient(Options{URL: s.URL, Dir: dir, TLS: &settings})
		var e *sdk.Error
		if !errors.As(err, &e) || e.Path != path {
			t.Errorf("%+v: %v", settings, err)
		}
	}
	if _, err := NewClient(Options{URL: s.URL, Dir: dir, TLS: &TLS{CA: "empty.pem"}}); err == nil {
		t.Error("a file without certificates was accepted")
	}
}

// TestCookies checks that cookies are sent back, and that their number is
// limited.
func TestCookies(t *testing.T) {
	u, err := url.Parse("https://x/")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(Options{URL: "https://x/"})
	if err != nil {
		t.Fatal(err)
	}
	set := func(all ...*http.Cookie) {
		res := &http.Response{Header: http.Header{}}
		for _, one := range all {
			res.Header.Add("Set-Cookie", one.String())
		}
		c.cookies.keep(u, res)
	}
	sent := func() []*http.Cookie { return (&http.Request{Header: c.header(Request{}, u, nil)}).Cookies() }
	if all := sent(); len(all) != 0 {
		t.Errorf("%d cookies before the server has set one", len(all))
	}
	for i := range 100 {
		set(&http.Cookie{Name: "c" + strings.Repeat("x", i), Value: "v"},
			&http.Cookie{Name: "big", Value: strings.Repeat("x", 5000)})
	}
	for i := range 200 {
		set(&http.Cookie{Name: "p", Value: "v", Path: fmt.Sprint("/", i)}) // not visible at / with its own path
	}
	if n := len(sent()); n != cookieMost {
		t.Errorf("%d cookies", n)
	}
	set(&http.Cookie{Name: "c", Value: "new", Path: "/other"})
	if all := sent(); !slices.ContainsFunc(all,
		func(c *http.Cookie) bool { return c.Name == "c" && c.Value == "new" }) ||
		len(all) != cookieMost {
		t.Errorf("a cookie was not replaced among %d", len(all))
	}
	p := c.Prepare(http.Header{"X": {"y"}})
	if h := c.header(Request{Prepared: p}, u, nil); h.Get("Cookie") == "" || h.Get("X") != "y" ||
		p.all.Get("Cookie") != "" {
		t.Errorf("prepared headers with cookies are %v", h)
	}
}

// TestRetryAfter checks both forms of the header.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"0": 0, "120": 2 * time.Minute,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2025 03:05:05 GMT": 0,
		"": -1, "-1": -1, "1.5": -1, "soon": -1, "99999999999": -1,
	} {
		d, ok := RetryAfter(http.Header{"Retry-After": {text}}, now)
		if !ok {
			d = -1
		}
		if d != want {
			t.Errorf("%q is %s, want %s", text, d, want)
		}
	}
}

// TestProxy checks that the proxy of the environment may have any address and
// is asked for the server. TRN-23
func TestProxy(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
	}))
	t.Cleanup(proxy.Close)
	through(t, proxy.URL)
	c, err := NewClient(Options{URL: "http://public.example/mcp", Log: hclog.NewNullLogger(), Connect: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	res, _, err := c.Do(t.Context(), Request{Method: "GET"})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got := <-asked; got != "http://public.example/mcp" {
		t.Errorf("the proxy was asked for %s", got)
	}
}

// through sets the proxy of the environment.
func through(t *testing.T, proxy string) {
	t.Helper()
	at, err := url.Parse(proxy)
	if err != nil {
		err = fmt.Errorf("invalid proxy address %q", proxy)
	}
	before := fromEnvironment
	fromEnvironment = func(*http.Request) (*url.URL, error) { return at, err }
	t.Cleanup(func() { fromEnvironment = before })
}

// TestProxyErrors checks that errors name the proxy and do not contain its
// password.
func TestProxyErrors(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(refuses.Close)
	for proxy, want := range map[string]string{
		"http://u:hunter2@127.0.0.1:1":                                   "the proxy set in the environment cannot be used: 127.0.0.1:1",
		"http://u:hunter2@[::1":                                          "no valid URL",
		"http://u:hunter2@" + strings.TrimPrefix(refuses.URL, "http://"): "HTTP status 407",
	} {
		through(t, proxy)
		for _, scheme := range []string{"http", "https"} {
			if scheme == "http" && strings.Contains(want, "407") {
				continue // that is an answer, not an error
			}
			err := get(t, Options{URL: scheme + "://public.example/mcp"})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s by %s: %v", scheme, proxy, err)
			}
		}
	}
}

// TestHTTP2 checks that calls over HTTP/2 share a connection.
func TestHTTP2(t *testing.T) {
	dir, pair, _ := certificates(t)
	remotes := make(chan string, 100)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		remotes <- r.Proto + r.RemoteAddr
	}))
	s.TLS, s.EnableHTTP2 = &tls.Config{Certificates: []tls.Certificate{pair}}, true
	s.StartTLS()
	t.Cleanup(s.Close)
	c, err := NewClient(Options{URL: s.URL, Dir: dir, TLS: &TLS{CA: "ca.pem"}, Log: hclog.NewNullLogger(),
		Connect: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var first string
	for range 5 {
		res, _, err := c.Do(t.Context(), Request{Method: "POST", Body: []byte("{}"), Call: true})
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		got := <-remotes
		if first == "" {
			first = got
		}
		if got != first || !strings.HasPrefix(got, "HTTP/2.0") {
			t.Errorf("%s after %s", got, first)
		}
	}
}

// TestRedirects checks that the error for a redirect contains no secrets of the
// URLs.
func TestRedirects(t *testing.T) {
	var to string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	c, err := NewClient(Options{URL: s.URL + "/secret/mcp?token=secret", Log: hclog.NewNullLogger(),
		Connect: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for location, want := range map[string]string{
		"https://h.example/secret/mcp?token=secret": "https://h.example, at the same path",
		"https://" + s.Listener.Addr().String() + "/secret/mcp/": "https://" + s.Listener.Addr().String() +
			", at the same path with a slash at its end",
		"http://u:secret@h.example/secret#secret": "http://h.example, at another path", "": "nowhere",
	} {
		to = location
		res, _, err := c.Do(t.Context(), Request{Method: "POST", Body: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := ErrorResponse(res); e.Message != "the server redirects to "+want || e.Reason != "redirect_refused" {
			t.Errorf("%s: %+v", location, e)
		}
	}
}

func TestContentType(t *testing.T) {
	for text, want := range map[string]string{
		"application/json": "application/json", " Text/Event-Stream ;charset=utf-8": "text/event-stream",
		"application/json; charset=utf-8; charset=utf-8": "application/json",
		"application/json;charset":                       "application/json", "": "",
	} {
		if got := ContentType(http.Header{"Content-Type": {text}}); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// TestLongHeaders checks that the error for an answer with too many headers names them and
// does not speak of the end of the server.
func TestLongHeaders(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 50 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 10_000))
		}
	}))
	t.Cleanup(s.Close)
	var e *sdk.Error
	if err := get(t, Options{URL: s.URL}); !errors.As(err, &e) || e.Reason != "bad_message" ||
		!strings.Contains(e.Message, "longer than 65536 bytes") {
		t.Errorf("%v", err)
	}
}
