//go:build unix

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
)

const consoleSecret = "a secret of the identity provider, 32 bytes or more"

// consoleAuth admits tokens of an issuer, certificates, and users that a proxy forwards.
const consoleAuth = `    auth "jwt" {
      issuer    = "ours"
      audiences = ["console"]
      secret    = env("ISSUER_SECRET")
    }
    auth "certificate" {
    }
    auth "forwarded" {
      from = ["127.0.0.1"]
      user = "X-Forwarded-User"
    }
`

// consolePeople names operators of each kind of credential.
const consolePeople = `  admin {
    subjects = ["alice"]
    issuer   = "ours"
  }
  admin {
    subjects = ["carol"]
    issuer   = "certificate"
  }
  viewer {
    subjects = ["bob"]
    issuer   = "*"
  }
`

// consoleToken returns a token of the issuer.
func consoleToken(t *testing.T, subject, audience string) string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": "ours", "aud": audience, "sub": subject, "exp": time.Now().Add(time.Hour).Unix(),
	}).SignedString([]byte(consoleSecret))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// A consoleVisitor opens the console with a credential.
type consoleVisitor struct {
	token, user string // of the headers; may be empty
	certificate string // name of its file; may be empty
}

// openConsole opens the address of the console and returns the page where the visitor arrives.
func (s *gatewaySite) openConsole(a *testAuthority, address string, v consoleVisitor) (status int, text string) {
	s.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AddCert(a.cert)
	if v.certificate != "" {
		dir := filepath.Dir(s.path)
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, v.certificate+".pem"),
			filepath.Join(dir, v.certificate+".key"))
		if err != nil {
			s.t.Fatal(err)
		}
		// Certificates would leave out one whose authority the console does not name.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar,
		Transport: withCredential{v, &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}}
	status, _, text = load(s.t, browser, address)
	return status, text
}

// withCredential adds the headers of a visitor to requests.
type withCredential struct {
	visitor consoleVisitor
	http.RoundTripper
}

func (w withCredential) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w.visitor.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.visitor.token)
	}
	if w.visitor.user != "" {
		r.Header.Set("X-Forwarded-User", w.visitor.user)
	}
	return w.RoundTripper.RoundTrip(r)
}

// TestConsoleSignIns opens a console with TLS with a token of an issuer, a certificate and
// the name that a proxy forwards. Subjects that are no operators, and wrong credentials, see
// no page.
func TestConsoleSignIns(t *testing.T) {
	t.Parallel()
	s := &gatewaySite{reloadSite: newReloadSite(t)}
	s.cmd.Env = append(s.cmd.Env, "ISSUER_SECRET="+consoleSecret)
	ours := s.newAuthority("ours")
	ours.sign("server")
	ours.sign("carol")
	ours.sign("mallory")
	s.newAuthority("theirs").sign("carol-of-theirs")
	port := freePort(t)
	s.servers = fmt.Sprintf("console {\n  listen = \"127.0.0.1:%s\"\n%s%s}\n", port, consolePeople,
		strings.Replace(tlsBlock("server", "ours"), "    }", "      client_certificate = \"optional\"\n    }", 1))
	s.configure("    listen = \"127.0.0.1:0\"\n" + tlsBlock("server", "ours") + consoleAuth)
	s.start("serve", "--http")
	address := "https://127.0.0.1:" + port + "/"
	for name, c := range map[string]struct {
		visitor consoleVisitor
		status  int
		shows   string
	}{
		"a token of an admin": {consoleVisitor{token: consoleToken(t, "alice", "console")},
			http.StatusOK, ">admin<"},
		"a token of a viewer": {consoleVisitor{token: consoleToken(t, "bob", "console")},
			http.StatusOK, ">viewer<"},
		"a certificate of an admin":    {consoleVisitor{certificate: "carol"}, http.StatusOK, ">admin<"},
		"a name that a proxy forwards": {consoleVisitor{user: "bob"}, http.StatusOK, ">viewer<"},
		"the name of an admin by a proxy": {consoleVisitor{user: "alice"}, http.StatusUnauthorized,
			"Not signed in"},
		"the name of an admin in a token": {consoleVisitor{token: consoleToken(t, "carol", "console")},
			http.StatusUnauthorized, "Not signed in"},
		"no credential": {consoleVisitor{}, http.StatusOK, "Sign in"},
		"a token of no operator": {consoleVisitor{token: consoleToken(t, "eve", "console")},
			http.StatusUnauthorized, "Not signed in"},
		"a token for another service": {consoleVisitor{token: consoleToken(t, "alice", "elsewhere")},
			http.StatusUnauthorized, "Not signed in"},
		"a token that is broken": {consoleVisitor{token: consoleToken(t, "alice", "console") + "x"},
			http.StatusUnauthorized, "Not signed in"},
		"a certificate of no operator": {consoleVisitor{certificate: "mallory"}, http.StatusUnauthorized,
			"Not signed in"},
		"a certificate of another authority":   {consoleVisitor{certificate: "carol-of-theirs"}, 0, ""},
		"a forwarded name that is no operator": {consoleVisitor{user: "eve"}, http.StatusUnauthorized, "Not signed in"},
	} {
		status, text := s.openConsole(ours, address, c.visitor)
		if status != c.status || !strings.Contains(text, c.shows) ||
			(c.status != http.StatusOK || c.shows == "Sign in") && strings.Contains(text, "steady") {
			t.Errorf("%s: %d, want %d and %q:\n%s", name, status, c.status, c.shows, consoletest.Said(text))
		}
	}
	if status, _ := s.openConsole(ours, "http://127.0.0.1:"+port+"/", consoleVisitor{}); status == http.StatusOK {
		t.Error("the console answers without TLS")
	}
}
