//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/verb/operate"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// certificatePEM returns a certificate of 127.0.0.1 that signs itself, and its key.
func certificatePEM(t *testing.T, begins, ends time.Time) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gw"}, NotBefore: begins, NotAfter: ends,
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// gatewayTLS configures a gateway whose certificate ends after a time.
func (s *sickbed) gatewayTLS(ends time.Duration, block string) {
	s.Helper()
	cert, key := certificatePEM(s.T, time.Now().Add(-1000*time.Hour), time.Now().Add(ends))
	s.write("gw.pem", cert, 0o600)
	s.write("gw.key", key, 0o600)
	s.configure(healthy + fmt.Sprintf("gateway {\n  http {\n    listen = %q\n    tls {\n      cert = \"gw.pem\"\n      key = \"gw.key\"\n%s    }\n  }\n}\n",
		freeAddress(s.T), block))
}

// faultsOfTheGateway are faults that keep all clients of a gateway away, some of them only
// later.
func faultsOfTheGateway() []plantedFault {
	return []plantedFault{
		{"certificate of the gateway that ends soon", func(s *sickbed) { s.gatewayTLS(48*time.Hour, "") },
			"certificates", doctor.Warning, `the certificate of the gateway, .*gw.pem, ends on `,
			"gw.pem and its key; they are read without a restart", false},
		{"certificate of the gateway that ended", func(s *sickbed) { s.gatewayTLS(-time.Hour, "") },
			"certificates", doctor.Error,
			`the certificate of the gateway, .*gw.pem, ended on .*: no client can connect`, "renew ", false},
		{"authority of clients that ends soon", func(s *sickbed) {
			s.gatewayTLS(10_000*time.Hour, "      client_ca = \"ca.pem\"\n")
			ca, _ := certificatePEM(s.T, time.Now().Add(-1000*time.Hour), time.Now().Add(48*time.Hour))
			s.write("ca.pem", ca, 0o600)
		}, "certificates", doctor.Warning, `the authority of clients of the gateway, .*ca.pem, ends on `,
			"client_ca", false},
		{"certificate of the gateway that cannot be read", func(s *sickbed) {
			s.gatewayTLS(10_000*time.Hour, "")
			s.write("gw.pem", "no certificate", 0o600)
		}, "certificates", doctor.Error, `the certificate of the gateway cannot be used: `,
			"write a certificate and its key", false},
		{"issuer that cannot be reached", func(s *sickbed) {
			s.configure(healthy + fmt.Sprintf("gateway {\n  http {\n    listen = %q\n%s  }\n}\n",
				freeAddress(s.T), jwtAuth("http://127.0.0.1:1/keys")))
		}, "issuers", doctor.Error, `the keys of http://127\.0\.0\.1:1/keys cannot be read`,
			"check the URL and the network", false},
	}
}

func jwtAuth(keys string) string {
	return fmt.Sprintf("    auth \"jwt\" {\n      issuer = \"https://idp.example.com\"\n      audiences = [\"gw\"]\n      jwks_url = %q\n      tenant = \"acme\"\n    }\n",
		keys)
}

// TestGatewayWarnsBeforeClientsAreLost replaces the certificate of a gateway by a broken one,
// while its issuer cannot be reached. Metrics, the status, /readyz and doctor say so.
func TestGatewayWarnsBeforeClientsAreLost(t *testing.T) {
	t.Parallel()
	s := &metricsSite{&gatewaySite{reloadSite: newReloadSite(t)}, freeAddress(t)}
	ends := time.Now().Add(48 * time.Hour)
	cert, key := certificatePEM(t, time.Now().Add(-1000*time.Hour), ends)
	s.put("gw.pem", cert)
	s.put("gw.key", key)
	s.servers = fmt.Sprintf("telemetry {\n  metrics {\n    listen = %q\n  }\n}\n", s.metrics)
	s.configure(fmt.Sprintf("    listen = %q\n    tls {\n      cert = \"gw.pem\"\n      key = \"gw.key\"\n    }\n",
		freeAddress(t)) + jwtAuth("http://127.0.0.1:1/keys"))
	s.start("serve", "--http")
	client := s.client("").trustingPEM(cert)
	get := func(path, token string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(s.url, "/mcp")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	part := base64.RawURLEncoding.EncodeToString
	token := part([]byte(`{"alg":"ES256","kid":"k"}`)) + "." +
		part([]byte(`{"iss":"https://idp.example.com","aud":"gw","exp":9999999999}`)) + "." + part(make([]byte, 64))
	if status, text := get("/mcp", token); status != http.StatusServiceUnavailable {
		t.Errorf("a token that cannot be verified: %d %s", status, text)
	}
	if status, text := get("/mcp", "static"); status != http.StatusUnauthorized {
		t.Errorf("a token of another kind: %d %s", status, text)
	}
	if status, text := get("/readyz", ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(text, `"keys":false`) {
		t.Errorf("/readyz: %d %s", status, text)
	}
	s.put("gw.pem", "no certificate")
	families, _ := s.scrape()
	eventually.True(t, "reading the certificate has failed", func() bool { // files are checked once a second
		families, _ = s.scrape()
		return counts(families["junctor_certificate_last_reload_successful"])["cert gateway"] == 0
	})
	if got := counts(families["junctor_certificate_expiry_timestamp_seconds"])["cert gateway"]; int64(got) !=
		ends.Unix() {
		t.Errorf("the certificate ends at %v, want %d", got, ends.Unix())
	}
	for metric, want := range map[string]map[string]float64{
		"junctor_certificate_last_reload_successful": {"cert gateway": 0},
		"junctor_issuer_keys_usable":                 {"http://127.0.0.1:1/keys": 0},
		"junctor_issuer_keys_last_read_successful":   {"http://127.0.0.1:1/keys": 0},
		"junctor_refused_clients_total":              {"keys_unavailable": 1, "other_issuer": 1},
		"junctor_approvals_waiting":                  {"": 0},
	} {
		got := counts(families[metric])
		for series, value := range want {
			if v, ok := got[series]; !ok || v != value {
				t.Errorf("%s: %v, want %v", metric, got, want)
			}
		}
	}
	out, _ := s.command("doctor", "--json", "--config", s.path).Output()
	var v operate.DoctorJSON
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"uses the certificate before", "refuses all tokens of http://127.0.0.1:1/keys"} {
		if !slices.ContainsFunc(v.Findings, func(f doctor.Finding) bool {
			return f.Check == "processes" && f.Severity == doctor.Error && strings.Contains(f.Message, want)
		}) {
			t.Errorf("doctor does not say %q: %+v", want, v.Findings)
		}
	}
}

// trustingPEM makes the client trust a certificate.
func (c *gatewayClient) trustingPEM(cert string) *gatewayClient {
	c.t.Helper()
	block, _ := pem.Decode([]byte(cert))
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.trusting(&testAuthority{cert: parsed}, "")
}
