package httpserver

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
	k := &keeper{files: c, log: log, stamp: c.stamp(), looked: time.Now()}
	var err error
	if k.config, err = c.load(); err != nil {
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

// current is the configuration for the next connection. Others do not wait for
// the one that looks at the files.
func (k *keeper) current() *tls.Config {
	k.mu.Lock()
	config, known, due := k.config, k.stamp, time.Since(k.looked) >= lookEvery
	if due {
		k.looked = time.Now()
	}
	k.mu.Unlock()
	if !due {
		return config
	}
	stamp := k.files.stamp()
	if stamp == known {
		return config
	}
	renewed, err := k.files.load()
	if err != nil {
		k.log.Error("the certificate was not renewed", "error", err)
		renewed = config
	} else {
		k.log.Info("the certificate was renewed", "file", k.files.Cert)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.config, k.stamp = renewed, stamp
	return renewed
}

// load reads the files.
func (f Certificates) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s and its key: %w", f.Cert, err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{pair}}
	if f.ClientCA != "" {
		if c.ClientCAs, err = authorities(f.ClientCA); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
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
func (f Certificates) stamp() (stamp string) {
	for _, path := range []string{f.Cert, f.Key, f.ClientCA} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprintf("%d %d ", info.ModTime().UnixNano(), info.Size())
		}
	}
	return stamp
}
