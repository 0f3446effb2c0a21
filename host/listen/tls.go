package listen

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Certificates name the files of a listener with TLS. With a ClientCA only
// clients with a certificate of that authority are let in.
type Certificates struct{ Cert, Key, ClientCA string }

// lookEvery is how often the files are looked at: a certificate that was renewed
// is used without a restart.
const lookEvery = time.Second

// NewTLS reads the files.
func NewTLS(c Certificates, log hclog.Logger) (*tls.Config, error) {
	k := &keeper{files: c, log: log}
	if err := k.load(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.current(), nil },
		NextProtos:         []string{"h2", "http/1.1"},
	}, nil
}

// A keeper has the certificates as they were when the files last could be read.
type keeper struct {
	files Certificates
	log   hclog.Logger

	mu     sync.Mutex
	config *tls.Config // guarded by mu
	stamp  string      // guarded by mu; of the files that it was made of
	looked time.Time   // guarded by mu
}

func (k *keeper) current() *tls.Config {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked) < lookEvery {
		return k.config
	}
	k.looked = time.Now()
	if stamp := k.files.stamp(); stamp != k.stamp {
		if err := k.load(); err != nil {
			k.log.Error("the certificate was not renewed", "error", err)
			k.stamp = stamp
		} else {
			k.log.Info("the certificate was renewed", "file", k.files.Cert)
		}
	}
	return k.config
}

// load reads the files. The caller holds mu, if anybody else has the keeper.
func (k *keeper) load() error {
	stamp := k.files.stamp()
	pair, err := tls.LoadX509KeyPair(k.files.Cert, k.files.Key)
	if err != nil {
		return fmt.Errorf("reading the certificate %s and its key: %w", k.files.Cert, err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{pair}}
	if k.files.ClientCA != "" {
		if c.ClientCAs, err = authorities(k.files.ClientCA); err != nil {
			return err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	k.config, k.stamp, k.looked = c, stamp, time.Now()
	return nil
}

func authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the authority of clients: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("there is no certificate in " + path)
	}
	return pool, nil
}

// stamp changes with the files.
func (c Certificates) stamp() (stamp string) {
	for _, path := range []string{c.Cert, c.Key, c.ClientCA} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprintf("%d %d ", info.ModTime().UnixNano(), info.Size())
		}
	}
	return stamp
}
