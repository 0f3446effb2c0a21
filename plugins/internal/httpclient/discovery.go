package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"github.com/junctor-mcp/junctor/sdk"
)

// fetchMost is the maximum size in bytes of a response.
const fetchMost = 1 << 20

// DiscoveryOptions describe the addresses that a DiscoveryClient may use.
type DiscoveryOptions struct {
	// Home is the URL of the configured server; may be nil. If it is on this
	// machine, addresses on this machine are allowed, also without TLS.
	Home         *url.URL
	AllowPrivate bool
	TLS          *TLS
	Dir          string        // base of relative file names
	Agent        string        // User-Agent header
	Timeout      time.Duration // of a whole request
}

// A DiscoveryClient sends requests to addresses that other servers supplied,
// and that are not trusted. It accepts only https URLs whose names lead to
// public addresses. It sends no cookies, follows no redirects and limits the
// size of responses. Its methods may be called concurrently.
type DiscoveryClient struct {
	local        bool // Home is on this machine
	allowPrivate bool
	addresses    *ssrf.Guardian // decides which addresses are allowed
	agent        string
	client       *http.Client
}

// An Answer is a response with its complete body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NewDiscoveryClient returns a client. It does not connect.
func NewDiscoveryClient(o DiscoveryOptions) (*DiscoveryClient, error) {
	conf, err := o.TLS.load(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &DiscoveryClient{allowPrivate: o.AllowPrivate, agent: o.Agent}
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6")}
	if o.Home != nil {
		ip, err := netip.ParseAddr(o.Home.Hostname())
		switch c.local = IsLocalhost(o.Home.Hostname()); {
		case c.local:
			options = append(options, ssrf.WithAllowedV4Prefixes(loopback4), ssrf.WithAllowedV6Prefixes(loopback6))
		case err == nil && ip.Is4(): // the configuration contains the address
			options = append(options, ssrf.WithAllowedV4Prefixes(netip.PrefixFrom(ip, 32)))
		case err == nil:
			options = append(options, ssrf.WithAllowedV6Prefixes(netip.PrefixFrom(ip.WithZone(""), 128)))
		}
	}
	c.addresses = ssrf.New(options...)
	d := &dialer{proxies: &proxies{}, plain: net.Dialer{Timeout: o.Timeout, KeepAlive: 15 * time.Second}}
	if d.checks = d.plain; !o.AllowPrivate {
		d.checks.Control = c.addresses.Safe
	}
	c.client = &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			Proxy: d.proxies.of, OnProxyConnectResponse: connected, DialContext: d.dial, TLSClientConfig: conf,
			TLSHandshakeTimeout: o.Timeout, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxConnsPerHost: 4, IdleConnTimeout: idleTime, MaxResponseHeaderBytes: headerMost,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close closes the idle connections.
func (c *DiscoveryClient) Close() { c.client.CloseIdleConnections() }

// URL parses and checks an address that another server supplied. what describes
// the address in errors. Errors do not repeat the address itself, which may
// contain anything.
func (c *DiscoveryClient) URL(what, text string) (*url.URL, error) {
	refused := func(why string) error {
		return &sdk.Error{Code: sdk.Denied, Reason: "auth_url_rejected",
			Message: fmt.Sprintf("the address of %s %s", what, why)}
	}
	if text == "" {
		return nil, refused("is missing")
	}
	if len(text) > 4<<10 || strings.HasPrefix(text, "-") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, refused("is no URL")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "":
		return nil, refused("is no URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, refused("does not begin with https://")
	case u.User != nil:
		return nil, refused("holds a user name or password")
	case u.Fragment != "":
		return nil, refused("has a fragment")
	case !isHost(u.Hostname()) || u.Port() != "" && !isPort(u.Port()):
		return nil, refused("names no host")
	case u.Scheme == "http" && !(c.local && IsLocalhost(u.Hostname())):
		return nil, refused("begins with http:// and not https://")
	}
	if c.allowPrivate {
		return u, nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err == nil && c.addresses.SafeAddr(ip) != nil || err != nil && IsLocalhost(u.Hostname()) && !c.local {
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "address_refused",
			Message: fmt.Sprintf("the address of %s leads to %s, which is not public", what, u.Host),
			Hint:    "set allow_private = true in the auth block if that is meant",
		}
	}
	return u, nil
}

// isHost reports whether a host has only characters that browsers and resolvers
// agree on, and that shells do not interpret.
func isHost(host string) bool {
	return host != "" && len(host) <= 253 && host[0] != '-' && !strings.ContainsFunc(host, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("-._:", r))
	})
}

// Ask sends a request to an address that URL returned. Every redirect is an
// error. The error is an *sdk.Error, or that of ctx.
func (c *DiscoveryClient) Ask(ctx context.Context, method string, u *url.URL, header http.Header,
	body string) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, sdk.Errorf(sdk.Internal, "making a request to %s: %v", u.Host, err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("User-Agent", c.agent)
	res, err := c.client.Do(req)
	if err != nil {
		return nil, c.why(ctx, err, u)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "redirect_refused",
			Message: fmt.Sprintf("%s redirects to %s", u.Host, target(res)),
			Hint:    "redirects are not followed, because they would take credentials along",
		}
	}
	a := &Answer{Status: res.StatusCode, Header: res.Header}
	if ContentType(res.Header) == "text/event-stream" {
		return a, nil // a stream has no end
	}
	if a.Body, err = io.ReadAll(io.LimitReader(res.Body, fetchMost+1)); err != nil {
		return nil, c.why(ctx, err, u)
	}
	if len(a.Body) > fetchMost {
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "answer_too_large",
			Message: fmt.Sprintf("%s answered with more than 1 MiB", u.Host)}
	}
	return a, nil
}

func (c *DiscoveryClient) why(ctx context.Context, err error, u *url.URL) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return &sdk.Error{Code: sdk.Unavailable, Reason: "unreachable",
			Message: fmt.Sprintf("%s did not answer within %s", u.Host, c.client.Timeout)}
	}
	e := explain(err, u)
	if e.Reason == "address_refused" {
		e.Path, e.Hint = "", "set allow_private = true in the auth block if that is meant"
	}
	return e
}
