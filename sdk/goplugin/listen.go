package goplugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// listen listens where the environment says. certificate is that of the handshake; it is empty if
// the connection is not encrypted, which only the host decides.
func listen() (l net.Listener, certificate string, err error) {
	if runtime.GOOS == "windows" {
		l, err = listenTCP()
	} else {
		l, err = listenUnix(os.Getenv(SocketDirVariable))
	}
	if err != nil {
		return nil, "", err
	}
	pem := os.Getenv(CertVariable)
	if pem == "" {
		return l, "", nil
	}
	config, certificate, err := mutualTLS(pem)
	if err != nil {
		_ = l.Close()
		return nil, "", err
	}
	return tls.NewListener(l, config), certificate, nil
}

// listenUnix listens on a new socket in a directory, by default that for temporary files. The
// socket is removed when the listener is closed.
func listenUnix(dir string) (net.Listener, error) {
	file, err := os.CreateTemp(dir, "plugin")
	if err != nil {
		return nil, err
	}
	path := file.Name()
	_ = file.Close()
	if err := os.Remove(path); err != nil { // a socket cannot take the place of a file
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("in %s: %w", filepath.Dir(path), err)
	}
	return l, nil
}

// listenTCP listens on a free port among those that the host allows, or on any.
func listenTCP() (net.Listener, error) {
	first, last := port(MinPortVariable), port(MaxPortVariable)
	if first > last {
		return nil, fmt.Errorf("%s is above %s", MinPortVariable, MaxPortVariable)
	}
	for p := first; p <= last; p++ {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no port from %d to %d is free", first, last)
}

// port returns the port in a variable of the environment, or 0.
func port(variable string) int {
	n, err := strconv.ParseUint(os.Getenv(variable), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// mutualTLS returns settings for a host that has the certificate, and the certificate of this
// process for the handshake. Both exist for one connection only.
func mutualTLS(host string) (config *tls.Config, certificate string, err error) {
	hosts := x509.NewCertPool()
	if !hosts.AppendCertsFromPEM([]byte(host)) {
		return nil, "", errors.New(CertVariable + " has no certificate")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, "", err
	}
	now := time.Now()
	own := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: now.Add(-time.Minute), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, // the host takes it for the only authority
	}
	der, err := x509.CreateCertificate(rand.Reader, own, own, key.Public(), key)
	if err != nil {
		return nil, "", err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: hosts, MinVersion: tls.VersionTLS12,
	}, base64.RawStdEncoding.EncodeToString(der), nil
}
