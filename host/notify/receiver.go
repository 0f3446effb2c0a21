package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"
	"github.com/cenkalti/backoff/v5"

	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/neterror"
)

// Settings say where notices are sent. They are immutable.
type Settings struct {
	Webhook string
	// Secret returns the secret for signatures. It is called until it succeeds, and then not
	// again.
	Secret func(ctx context.Context) (string, error)
	Events []Event
	// AllowPrivate lets the host of the webhook lead to an address that is not public.
	AllowPrivate bool
	Version      string // of Junctor
}

const (
	attemptTime = 10 * time.Second // for one attempt
	maxAnswer   = 64 << 10         // bytes of a response that are read, so that the connection can be used again
)

// A receiver sends notices to one webhook. The Notifier makes and closes it; close may be
// called while an attempt is in flight.
type receiver struct {
	settings Settings
	key      string // equal for equal settings
	ctx      context.Context
	end      context.CancelFunc
	client   *http.Client
	secret   []byte // nil: not known yet; only the goroutine of the Notifier uses it
}

func newReceiver(s Settings, key string) *receiver {
	ctx, end := context.WithCancel(context.Background())
	d := newDialer(s)
	return &receiver{settings: s, key: key, ctx: ctx, end: end, client: &http.Client{
		Timeout: attemptTime,
		// A redirect could lead to another host, which the user has not named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: d.proxy, DialContext: d.dial, ForceAttemptHTTP2: true,
			MaxIdleConns: 1, IdleConnTimeout: 30 * time.Second,
			TLSHandshakeTimeout: attemptTime, DisableCompression: true, MaxResponseHeaderBytes: maxAnswer,
		},
	}}
}

// close ends the attempt that is in flight.
func (r *receiver) close() {
	r.end()
	r.client.CloseIdleConnections()
}

// A dialer checks the address that the name of the webhook's host leads to at the moment of
// connecting, except for a proxy, which the user chose. It is immutable.
type dialer struct {
	proxied string // host:port of the proxy; empty: none is used
	checks  net.Dialer
	plain   net.Dialer
}

var loopback4, loopback6 = netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")

func newDialer(s Settings) *dialer {
	d := &dialer{plain: net.Dialer{Timeout: attemptTime}}
	d.checks = d.plain
	u, err := url.Parse(s.Webhook)
	if err != nil {
		return d // the configuration was checked: each attempt fails
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil || s.AllowPrivate {
		return d // the URL has the address, or any address is allowed
	}
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6")}
	if loopback.Is(u.Hostname()) {
		options = append(options, ssrf.WithAllowedV4Prefixes(loopback4), ssrf.WithAllowedV6Prefixes(loopback6))
	}
	d.checks.Control = ssrf.New(options...).Safe
	return d
}

// proxy returns the proxy of the environment.
func (d *dialer) proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, errors.New("the proxy set in the environment has no valid URL") // err may contain a password
	}
	if u != nil {
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		d.proxied = net.JoinHostPort(u.Hostname(), port) // requests are sent one after the other
	}
	return u, err
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.proxied != "" && address == d.proxied {
		return d.plain.DialContext(ctx, network, address)
	}
	return d.checks.DialContext(ctx, network, address)
}

// send makes one attempt. A permanent error says that another attempt cannot succeed.
func (r *receiver) send(ctx context.Context, id string, body []byte) error {
	if r.secret == nil {
		secret, err := r.settings.Secret(ctx)
		if err != nil {
			return fmt.Errorf("reading the secret of the notify block: %w", err)
		}
		r.secret = []byte(secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.settings.Webhook, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(errors.New("the webhook is no valid URL"))
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "junctor/"+r.settings.Version)
	req.Header.Set(HeaderID, id)
	req.Header.Set(HeaderTimestamp, at)
	req.Header.Set(HeaderSignature, Sign(r.secret, at, body))
	res, err := r.client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer) // the answer says nothing
	_ = res.Body.Close()
	return statusError(res)
}

// withoutURL returns the error of a request without its URL, whose path may be a secret.
func withoutURL(err error) error {
	if errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort) {
		return backoff.Permanent(errors.New("the host of the webhook leads to an address that is not public; set allow_private = true in the notify block if that is meant"))
	}
	return neterror.Explain(err)
}

// statusError returns the error for the status of an answer; nil: the notice has arrived.
func statusError(res *http.Response) error {
	status := res.StatusCode
	err := fmt.Errorf("the webhook answered with HTTP status %d", status)
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return backoff.Permanent(fmt.Errorf("%w, a redirect, which is not followed", err))
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		if seconds, bad := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After"))); bad == nil && seconds > 0 {
			return backoff.RetryAfter(min(seconds, int(maxPause/time.Second)))
		}
		return err
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return err
	}
	return backoff.Permanent(err)
}
