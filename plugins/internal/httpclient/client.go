// Package httpclient sends HTTP requests to one configured server. It checks
// the address that a name leads to, follows no redirects, limits the size of
// responses after decompression, and explains errors to the user.
//
// exchange.go sends a request, with what credential.go, cookie.go and header.go add to it.
// address.go and proxy.go connect, and gzip.go reads bodies. discovery.go is for the metadata of
// auth providers.
//
// The transports over HTTP and the auth providers bearer, command and oauth use the package. All of
// it is safe for concurrent use. The caller of [Client.Do] closes the body of the response.
package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

// Sockets is the maximum number of connections for calls.
const Sockets = 64

const (
	headerMost = 64 << 10 // maximum size in bytes of the headers of a response
	// idleTime is below the 5 seconds after which servers based on Node.js and
	// uvicorn close an idle connection. A call sent at that moment is lost and
	// may not be sent again.
	idleTime  = 4 * time.Second
	pingAfter = 30 * time.Second // of silence on an HTTP/2 connection
	pingTime  = 15 * time.Second
	fileMost  = 1 << 20 // maximum size in bytes of a certificate file
)

// TLS are the settings of a tls block.
type TLS struct {
	CA         string `hcl:"ca,optional" doc:"A file with the certificates, in PEM, of the authorities to trust instead of the system's."`
	Cert       string `hcl:"cert,optional" doc:"A file with the certificate, in PEM, to show to the server." requires:"key"`
	Key        string `hcl:"key,optional" doc:"A file with that certificate's private key, in PEM." requires:"cert"`
	ServerName string `hcl:"server_name,optional" doc:"The name that the server's certificate must have, where it is not the one in the URL."`
	SkipVerify bool   `hcl:"skip_verify,optional" doc:"Accepts any certificate. Anyone between this machine and the server can then read and change everything; each start warns."`
}

// Options describe how to connect to a server.
type Options struct {
	URL          string
	Headers      map[string]string
	AllowPrivate bool
	AllowPlain   bool // headers may be sent without TLS to another machine
	TLS          *TLS
	Dir          string // base of relative file names
	Connect      time.Duration
	Agent        string          // User-Agent header
	Credentials  sdk.Credentials // used for every request; nil: use Headers only
	Log          hclog.Logger
}

// A Client sends requests to one server. Its methods may be called
// concurrently. The connection that made it closes it last.
type Client struct {
	URL     *url.URL
	headers http.Header
	agent   []string
	calls   *http.Transport
	side    *http.Transport // for requests that must not wait for calls, such as responses to the server's requests
	cookies cookies

	credentials sdk.Credentials // may be nil
	plain       bool            // credentials may be sent without TLS to another machine
	alone       atomic.Bool     // the host has no auth provider for the server
	overruled   atomic.Bool     // the server rejected the configured headers
}

// Check returns the mistakes in the options. It does not read files.
func (o *Options) Check() []error {
	var errs []error
	u, err := parse(o.URL)
	if err != nil {
		errs = append(errs, err)
	}
	h, wrong := Headers("headers", o.Headers)
	errs = append(errs, wrong...)
	if err == nil && u.Scheme == "http" && len(h) > 0 && !IsLocalhost(u.Hostname()) && !o.AllowPlain {
		errs = append(errs, &sdk.Error{Code: sdk.Invalid, Path: "url",
			Message: "would send the headers unencrypted over the network",
			Hint:    "use https, or set allow_plain = true where the network is trusted"})
	}
	return errs
}

func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, sdk.AttrErrorf("url", "is not a URL") // err may contain a password
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, sdk.AttrErrorf("url", "must begin with https:// or http://")
	case u.Host == "" || u.Hostname() == "":
		return nil, sdk.AttrErrorf("url", "names no host")
	case u.Port() != "" && !isPort(u.Port()):
		return nil, sdk.AttrErrorf("url", "has a port that is not between 1 and 65535")
	case u.User != nil:
		return nil, sdk.AttrErrorf("url", "holds a user name or password; use headers")
	case u.Fragment != "":
		return nil, sdk.AttrErrorf("url", "has a fragment, which is never sent")
	}
	return u, nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// NewClient returns a client. It does not connect.
func NewClient(o Options) (*Client, error) {
	u, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	headers, errs := Headers("headers", o.Headers)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	conf, err := o.TLS.load(o.Dir)
	if err != nil {
		return nil, err
	}
	if conf.InsecureSkipVerify {
		o.Log.Warn("the server's certificate is not checked", "host", u.Host)
	}
	transport := func(sockets int) *http.Transport {
		d := newDialer(u, o.AllowPrivate, o.Connect)
		return &http.Transport{
			Proxy: d.proxies.of, OnProxyConnectResponse: connected, DialContext: d.dial, TLSClientConfig: conf.Clone(),
			TLSHandshakeTimeout: o.Connect, ForceAttemptHTTP2: true,
			MaxConnsPerHost: sockets, MaxIdleConnsPerHost: Sockets, IdleConnTimeout: idleTime,
			MaxResponseHeaderBytes: headerMost,
			WriteBufferSize:        32 << 10, ReadBufferSize: 32 << 10,
			HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTime},
		}
	}
	c := &Client{
		URL: u, headers: headers, agent: []string{o.Agent}, calls: transport(Sockets), side: transport(0),
		credentials: o.Credentials, plain: o.AllowPlain,
	}
	c.cookies.jar, err = cookiejar.New(nil)
	return c, err
}

// Close closes the idle connections.
func (c *Client) Close() {
	c.calls.CloseIdleConnections()
	c.side.CloseIdleConnections()
}

func (t *TLS) load(dir string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if t == nil {
		return conf, nil
	}
	conf.ServerName, conf.InsecureSkipVerify = t.ServerName, t.SkipVerify
	if t.CA != "" {
		pem, err := readFile(dir, t.CA, "tls.ca")
		if err != nil {
			return nil, err
		}
		if conf.RootCAs = x509.NewCertPool(); !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, sdk.AttrErrorf("tls.ca", "%s holds no certificate in PEM", t.CA)
		}
	}
	if t.Cert != "" {
		cert, err := readFile(dir, t.Cert, "tls.cert")
		if err != nil {
			return nil, err
		}
		key, err := readFile(dir, t.Key, "tls.key")
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, sdk.AttrErrorf("tls.cert", "cannot be used with the key: %v", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}

func readFile(dir, name, path string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	info, err := os.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > fileMost) {
		err = fmt.Errorf("%s is not a file of at most %d bytes", name, fileMost)
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, sdk.AttrErrorf(path, "%v", err)
	}
	return b, nil
}
