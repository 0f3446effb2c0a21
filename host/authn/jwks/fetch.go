package jwks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/neterror"
	"github.com/junctor-mcp/junctor/host/regularfile"
	"github.com/junctor-mcp/junctor/host/truncate"
)

const fetchTimeout = 10 * time.Second // for everything that one refresh reads

// A Source says where the keys are. Exactly one of Issuer, URL and File is set. It is a value,
// and the key of a Pool.
type Source struct {
	Issuer string // its metadata names the URL
	URL    string
	File   string // absolute path
	CA     string // absolute path of a PEM file with the authorities of TLS servers; empty: those of the system
}

// fetch returns the keys of the source. It blocks, on the goroutine of a refresh.
func (s Source) fetch(ctx context.Context) ([]Key, error) {
	if s.File != "" {
		text, err := readFile(s.File)
		if err != nil {
			return nil, err
		}
		return parse(text)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	client, err := s.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	at := s.URL
	if at == "" {
		if at, err = discover(ctx, client, s.Issuer); err != nil {
			return nil, err
		}
	}
	text, err := get(ctx, client, at)
	if err != nil {
		return nil, err
	}
	keys, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", at, err)
	}
	return keys, nil
}

func readFile(path string) ([]byte, error) { return regularfile.Read(path, maxDocument) }

// client returns a client that follows no redirect, so that the configured server
// alone says what the keys are.
func (s Source) client() (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	t.MaxResponseHeaderBytes = 64 << 10
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		text, err := readFile(s.CA)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", s.CA)
		}
	}
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		return fmt.Errorf("redirected to %s", r.URL.Redacted())
	}}, nil
}

// metadataURLs returns the places of an issuer's metadata, in the order in which they
// are tried: OpenID Connect Discovery 1.0 section 4 and RFC 8414 section 3.1.
func metadataURLs(issuer string) []string {
	base := strings.TrimSuffix(issuer, "/")
	all := []string{base + "/.well-known/openid-configuration"}
	if u, err := url.Parse(base); err == nil {
		path := u.EscapedPath()
		u.Path, u.RawPath = "", ""
		all = append(all, u.String()+"/.well-known/oauth-authorization-server"+path)
	}
	return all
}

// discover returns the URL of the issuer's keys from its metadata.
func discover(ctx context.Context, client *http.Client, issuer string) (string, error) {
	var problems []error
	for _, at := range metadataURLs(issuer) {
		text, err := get(ctx, client, at)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		keys, err := keysURL(text, issuer)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", at, err)
		}
		return keys, nil
	}
	return "", errors.Join(problems...)
}

// keysURL returns jwks_uri of the metadata of an issuer. The metadata must be about
// this issuer.
func keysURL(text []byte, issuer string) (string, error) {
	var m struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return "", fmt.Errorf("the metadata is malformed: %w", err)
	}
	if m.Issuer != issuer {
		return "", fmt.Errorf("the metadata is of the issuer %q instead of %q", truncate.Bytes(m.Issuer, 200), issuer)
	}
	if err := CheckURL(m.Keys); err != nil {
		return "", fmt.Errorf("jwks_uri %w", err)
	}
	if strings.HasPrefix(issuer, "https:") && !strings.HasPrefix(m.Keys, "https:") {
		return "", errors.New("jwks_uri has no TLS, though the issuer has")
	}
	return m.Keys, nil
}

// CheckURL checks that a URL can be trusted to give keys: it has TLS, or is on this
// machine. The error completes a sentence about the URL. Package config/inbound calls it for
// URLs of the configuration.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("is not a URL with a host")
	case u.User != nil:
		return errors.New("contains a user name")
	case u.Fragment != "":
		return errors.New("has a fragment")
	case u.Scheme == "https", u.Scheme == "http" && loopback.Is(u.Hostname()):
		return nil
	}
	return errors.New("must begin with https://, or with http:// and an address of this machine")
}

// get reads one document.
func get(ctx context.Context, client *http.Client, at string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", at, neterror.Explain(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered with status %d", at, resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", at, err)
	case len(text) > maxDocument:
		return nil, fmt.Errorf("%s is larger than %d bytes", at, maxDocument)
	}
	return text, nil
}
