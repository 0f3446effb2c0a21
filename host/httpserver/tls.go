package httpserver

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/regularfile"
)

// Certificates are the files of a TLS listener. With a ClientCA only clients with a
// certificate of that authority can connect, and with Optional also clients without a
// certificate.
type Certificates struct {
	Cert, Key, ClientCA string
	Optional            bool
}

// reloadInterval is how often the files are checked. A renewed certificate is used
// without a reload of the configuration. The files are checked before a handshake
// instead of being watched: this needs no goroutine, and works on every file system.
const reloadInterval = time.Second

// protocols are the protocols over TLS, most preferred first.
var protocols = []string{"h2", "http/1.1"}

// TLS holds the certificates of a listener, and loads the files again when they have
// changed. Its methods may be called concurrently. Package host makes one for each listener
// with TLS; there is nothing to close.
type TLS struct {
	files Certificates
	log   hclog.Logger

	mu      sync.Mutex
	loaded  *loadedTLS // guarded by mu; from the last files that were valid
	stamp   string     // guarded by mu; stamp of the files of loaded
	checked time.Time  // guarded by mu
	failure error      // guarded by mu; why the files of stamp are not in use
}

// loadedTLS is the content of the files. It is immutable.
type loadedTLS struct {
	config  *tls.Config
	clients []*x509.Certificate // authorities of clients; nil: clients need no certificate
}

// NewTLS loads certificates.
func NewTLS(c Certificates, log hclog.Logger) (*TLS, error) {
	t := &TLS{files: c, log: log, stamp: c.stamp(), checked: time.Now()}
	var err error
	if t.loaded, err = c.load(); err != nil {
		return nil, err
	}
	return t, nil
}

// Config returns a configuration for a listener. It uses the files as they are at each
// handshake.
func (t *TLS) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.current().config, nil },
	}
}

// Accepts reports whether the certificate that a client presented, if one is required,
// is of an authority that is accepted now. The handshake has verified it with the
// authorities of its time.
func (t *TLS) Accepts(client *tls.ConnectionState) bool {
	clients := t.current().clients
	if clients == nil || t.files.Optional && client != nil && len(client.PeerCertificates) == 0 {
		return true
	}
	return client != nil && slices.ContainsFunc(client.VerifiedChains, func(chain []*x509.Certificate) bool {
		return slices.ContainsFunc(clients, chain[len(chain)-1].Equal)
	})
}

// current returns what is in effect now. Only one caller at a time checks the files.
func (t *TLS) current() *loadedTLS {
	t.mu.Lock()
	loaded, known, due := t.loaded, t.stamp, time.Since(t.checked) >= reloadInterval
	if due {
		t.checked = time.Now()
	}
	t.mu.Unlock()
	if !due {
		return loaded
	}
	stamp := t.files.stamp()
	if stamp == known {
		return loaded
	}
	renewed, err := t.files.load()
	if err == nil {
		err = usableNow(leafOf(renewed), leafOf(loaded), t.files.Cert)
	}
	if err != nil {
		t.log.Error("reloading the certificate failed: the previous one stays in use", "error", err)
		renewed = loaded
	} else {
		t.log.Info("certificate reloaded", "file", t.files.Cert)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loaded, t.stamp, t.failure = renewed, stamp, err
	return renewed
}

// usableNow returns an error if a certificate that is not valid now would take the place of
// one that is.
func usableNow(renewed, before *x509.Certificate, file string) error {
	now := time.Now()
	valid := func(c *x509.Certificate) bool { return !now.Before(c.NotBefore) && !now.After(c.NotAfter) }
	if valid(renewed) || !valid(before) {
		return nil
	}
	return fmt.Errorf("the certificate %s is valid from %s to %s, which is not now",
		file, renewed.NotBefore.Format(time.DateTime), renewed.NotAfter.Format(time.DateTime))
}

// load reads the files.
func (c Certificates) load() (*loadedTLS, error) {
	pair, err := c.pair()
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s and its key: %w", c.Cert, err)
	}
	t := &loadedTLS{config: &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols,
		Certificates: []tls.Certificate{pair}}}
	if c.ClientCA == "" {
		return t, nil
	}
	if t.clients, err = authorities(c.ClientCA); err != nil {
		return nil, err
	}
	t.config.ClientAuth, t.config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if c.Optional {
		t.config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	for _, authority := range t.clients {
		t.config.ClientCAs.AddCert(authority)
	}
	return t, nil
}

// maxPEM bounds a file of certificates or of a key, in bytes.
const maxPEM = 4 << 20

// pair reads the certificate and its key.
func (c Certificates) pair() (tls.Certificate, error) {
	cert, err := regularfile.Read(c.Cert, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := regularfile.Read(c.Key, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// authorities reads the certificates in a file. It skips other PEM blocks, and
// certificates that cannot be parsed.
func authorities(path string) (list []*x509.Certificate, err error) {
	text, err := regularfile.Read(path, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("reading the client CA: %w", err)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			list = append(list, c)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("reading the client CA: no certificate in %s", path)
	}
	return list, nil
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
