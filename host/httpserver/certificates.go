package httpserver

import (
	"crypto/x509"
	"time"
)

// A CertificateHealth says how long the files of a TLS listener last. It is a copy. This file
// reports on certificates, for health checks and the doctor; tls.go loads them.
type CertificateHealth struct {
	Cert     string    // file
	Begins   time.Time // when the certificate of the listener begins
	Ends     time.Time // when it ends
	ClientCA string    // file; empty: clients need no certificate
	// ClientCAEnds is when the last authority of ClientCA ends.
	ClientCAEnds time.Time
	// Err is why the files that are there now are not in use; nil: they are.
	Err error
}

// Health returns the state of the files. It reads them again if they have changed, so that
// a failure is known before the next client connects.
func (t *TLS) Health() CertificateHealth {
	loaded := t.current()
	h := loaded.health(t.files)
	t.mu.Lock()
	defer t.mu.Unlock()
	h.Err = t.failure
	return h
}

func (l *loadedTLS) health(files Certificates) CertificateHealth {
	h := CertificateHealth{Cert: files.Cert, ClientCA: files.ClientCA, Begins: leafOf(l).NotBefore,
		Ends: leafOf(l).NotAfter}
	for _, authority := range l.clients {
		if authority.NotAfter.After(h.ClientCAEnds) {
			h.ClientCAEnds = authority.NotAfter
		}
	}
	return h
}

// leafOf returns the certificate of the listener itself.
func leafOf(l *loadedTLS) *x509.Certificate { return l.config.Certificates[0].Leaf }

// Read reads the files of a listener that does not run.
func (c Certificates) Read() (CertificateHealth, error) {
	loaded, err := c.load()
	if err != nil {
		return CertificateHealth{}, err
	}
	return loaded.health(c), nil
}

// Certificates returns the state of the files of the listeners with TLS.
func (srv *Server) Certificates() (all []CertificateHealth) {
	for _, l := range srv.listeners.list() {
		if secure := l.secure.Load(); secure != nil && l.retired.Load() == nil {
			all = append(all, secure.Health())
		}
	}
	return all
}
