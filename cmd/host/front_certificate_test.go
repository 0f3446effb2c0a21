package main

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeployClientCertificates: nginx passes the name in a certificate on, in place of the header
// of the client, and lets no client without a certificate through.
func TestDeployClientCertificates(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		if os.Getenv("JUNCTOR_REQUIRE_PROXY") == "nginx" {
			t.Fatal(err)
		}
		t.Skip("nginx is not installed; its recipe was not run")
	}
	saw := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		saw <- strings.Join(r.Header.Values("X-Client-Cert"), "|")
	}))
	defer server.Close()
	dir := socketDir(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	roots := certificate(t, cert, key) // also the authority of the client
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	f := runNginx(t, dir, "nginx-mtls.conf", &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}},
		"server unix:/run/junctor/mcp.sock;",
		"server "+strings.TrimPrefix(server.URL, "http://")+";", "/etc/ssl/clients.pem", cert)
	if resp := f.do(t, t.Context(), http.MethodPost, "/mcp", nil, "X-Client-Cert",
		"CN=admin"); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	if got := <-saw; got != "CN=test" {
		t.Errorf("the gateway got %q", got)
	}
	without := frontAt(t, filepath.Join(dir, "front.sock"), f.url, &tls.Config{RootCAs: roots})
	if resp := without.do(t, t.Context(), http.MethodPost, "/mcp", nil, "X-Client-Cert",
		"CN=admin"); resp.StatusCode != http.StatusBadRequest || len(saw) > 0 {
		t.Errorf("without a certificate: %s, %d requests reached the gateway", resp.Status, len(saw))
	}
	if resp := f.do(t, t.Context(), http.MethodPost, "/readyz", nil); resp.StatusCode != http.StatusNotFound ||
		len(saw) > 0 {
		t.Errorf("/readyz: %s", resp.Status)
	}
}
