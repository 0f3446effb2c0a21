package httpserver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Certificates are the files of a TLS listener. With a ClientCA only clients
// with a certificate of that authority can connect.
type Certificates struct{ Cert, Key, ClientCA string }

// reloadInterval is how often the files are checked. A renewed certificate is
// used without a restart.
const reloadInterval = time.Second

// NewTLS returns a configuration that reloads the files when they change.
func NewTLS(c Certificates, log hclog.Logger) (*tls.Config, error) {
	reloader := &certReloader{files: c, log: log, stamp: c.stamp(), checked: time.Now()}
	var err error
	if reloader.config, err = c.load(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return reloader.current(), nil },
		NextProtos:         []string{"h2", "http/1.1"},
	}, nil
}

// A certReloader holds the configuration from the last files that were valid.
type certReloader struct {
	files Certificates
	log   hclog.Logger

	mu      sync.Mutex
	config  *tls.Config // guarded by mu
	stamp   string      // guarded by mu; stamp of the files of config
	checked time.Time   // guarded by mu
}

// current returns the configuration for the next connection. Only one caller at
// a time checks the files.
func (r *certReloader) current() *tls.Config {
	r.mu.Lock()
	config, known, due := r.config, r.stamp, time.Since(r.checked) >= reloadInterval
	if due {
		r.checked = time.Now()
	}
	r.mu.Unlock()
	if !due {
		return config
	}
	stamp := r.files.stamp()
	if stamp == known {
		return config
	}
	renewed, err := r.files.load()
	if err != nil {
		r.log.Error("reloading the certificate failed: the previous one stays in use", "error", err)
		renewed = config
	} else {
		r.log.Info("certificate reloaded", "file", r.files.Cert)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.config, r.stamp = renewed, stamp
	return renewed
}

// load reads the files.
func (c Certificates) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s and its key: %w", c.Cert, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{pair}}
	if c.ClientCA != "" {
		if config.ClientCAs, err = authorities(c.ClientCA); err != nil {
			return nil, err
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

func authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the client CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading the client CA: no certificate in %s", path)
	}
	return pool, nil
}

// stamp returns a text that changes when the files change.
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
