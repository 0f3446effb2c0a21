package main

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
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// replaced returns a recipe with some texts replaced, each of which must occur once.
func replaced(t *testing.T, name string, pairs ...string) string {
	t.Helper()
	text := deployFile(t, name)
	for i := 0; i < len(pairs); i += 2 {
		if n := strings.Count(text, pairs[i]); n != 1 {
			t.Fatalf("%s has %q %d times", name, pairs[i], n)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// nginxFront runs nginx with the recipe, including TLS, on a socket.
func nginxFront(t *testing.T, backend string) front {
	dir := socketDir(t)
	roots := certificate(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	return runNginx(t, dir, "nginx.conf", &tls.Config{RootCAs: roots}, "server 127.0.0.1:7575;", "server "+backend+";")
}

// runNginx runs nginx with a recipe on a socket in dir, which has the files of the certificate.
// pairs are further texts of the recipe and their replacements.
func runNginx(t *testing.T, dir, name string, client *tls.Config, pairs ...string) front {
	at := func(name string) string { return filepath.Join(dir, name) }
	recipe := replaced(t, name, append(pairs, "listen 443 ssl;", "listen unix:"+at("front.sock")+" ssl;",
		"/etc/ssl/mcp.example.com.pem", at("cert.pem"), "/etc/ssl/mcp.example.com.key", at("key.pem"))...)
	var around strings.Builder
	if os.Geteuid() == 0 {
		around.WriteString("user root;\n")
	}
	fmt.Fprintf(&around, "daemon off;\npid %s;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n",
		at("nginx.pid"))
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&around, "%s_temp_path %s;\n", kind, at(kind))
	}
	around.WriteString(recipe + "}\n")
	if err := os.WriteFile(at("nginx.conf"), []byte(around.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	runFront(t, "nginx", "-e", "stderr", "-p", dir, "-c", at("nginx.conf"))
	return frontAt(t, at("front.sock"), "https://mcp.example.com", client)
}

// caddyFront runs Caddy with the recipe on a socket, with a local certificate.
func caddyFront(t *testing.T, backend string) front {
	dir := socketDir(t)
	socket := filepath.Join(dir, "front.sock")
	recipe := "{\n\tadmin off\n}\n" + replaced(t, "Caddyfile", "mcp.example.com {",
		"http://mcp.example.com {\n\tbind unix/"+socket, "127.0.0.1:7575", backend)
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(recipe), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_DATA_HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	runFront(t, "caddy", "run", "--adapter", "caddyfile", "--config", file)
	return frontAt(t, socket, "http://mcp.example.com", nil)
}

// socketDir returns a directory with a path that is short enough for sockets.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "front-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// runFront starts a proxy and stops it after the test.
func runFront(t *testing.T, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		hard := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		hard.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, out.String())
		}
	})
}

// frontAt waits for a proxy and returns a client for it.
func frontAt(t *testing.T, socket, url string, secure *tls.Config) front {
	t.Helper()
	var d net.Dialer
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", socket) }
	eventually.NoError(t, func() error {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
	transport := &http.Transport{DialContext: dial, TLSClientConfig: secure}
	t.Cleanup(transport.CloseIdleConnections)
	return front{url, &http.Client{Transport: transport, Timeout: 2 * patience}}
}

// certificate creates a certificate for the host of the recipes.
func certificate(t *testing.T, certPath, keyPath string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"mcp.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(certPath, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return roots
}
