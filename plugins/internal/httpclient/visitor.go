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

// visitMost is how much of an answer a visitor reads.
const visitMost = 1 << 20

// VisitorOptions say where a visitor may go.
type VisitorOptions struct {
	// Home is the server that the configuration names. Where it is on this
	// machine, its addresses may lead to this machine, too, and without TLS;
	// nil: nowhere is home.
	Home         *url.URL
	AllowPrivate bool
	TLS          *TLS
	Dir          string // that relative file names are relative to
	Agent        string // of the User-Agent header
	Whole        time.Duration
}

// A Visitor asks servers whose addresses were told by other servers: nobody
// here chose them. So it goes only where a URL is https and its name leads to a
// public address, carries no cookies, follows no redirects, and reads little.
// Its methods may be called concurrently.
type Visitor struct {
	local        bool // home is on this machine
	allowPrivate bool
	guard        *ssrf.Guardian
	agent        string
	client       *http.Client
}

// An Answer is what a server said. Its body is complete.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NewVisitor makes a visitor. It connects to nothing.
func NewVisitor(o VisitorOptions) (*Visitor, error) {
	conf, err := o.TLS.load(o.Dir)
	if err != nil {
		return nil, err
	}
	v := &Visitor{allowPrivate: o.AllowPrivate, agent: o.Agent}
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6")}
	if o.Home != nil {
		ip, err := netip.ParseAddr(o.Home.Hostname())
		switch v.local = IsLocalhost(o.Home.Hostname()); {
		case v.local:
			options = append(options, ssrf.WithAllowedV4Prefixes(loopback4), ssrf.WithAllowedV6Prefixes(loopback6))
		case err == nil && ip.Is4(): // the configuration itself names the address
			options = append(options, ssrf.WithAllowedV4Prefixes(netip.PrefixFrom(ip, 32)))
		case err == nil:
			options = append(options, ssrf.WithAllowedV6Prefixes(netip.PrefixFrom(ip.WithZone(""), 128)))
		}
	}
	v.guard = ssrf.New(options...)
	d := &dialer{proxies: &proxies{}, plain: net.Dialer{Timeout: o.Whole, KeepAlive: 15 * time.Second}}
	if d.checks = d.plain; !o.AllowPrivate {
		d.checks.Control = v.guard.Safe
	}
	v.client = &http.Client{
		Timeout: o.Whole,
		Transport: &http.Transport{
			Proxy: d.proxies.of, OnProxyConnectResponse: connected, DialContext: d.dial, TLSClientConfig: conf,
			TLSHandshakeTimeout: o.Whole, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxConnsPerHost: 4, IdleConnTimeout: idleTime, MaxResponseHeaderBytes: headerMost,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return v, nil
}

// Close gives back the connections that are not in use.
func (v *Visitor) Close() { v.client.CloseIdleConnections() }

// URL reads an address that came from outside. what says what it is the address
// of. The address itself is not repeated in errors: it may hold anything.
func (v *Visitor) URL(what, text string) (*url.URL, error) {
	refused := func(why string) error {
		return &sdk.Error{Code: sdk.Denied, Reason: "auth_url_rejected", Message: fmt.Sprintf("the address of %s %s", what, why)}
	}
	if text == "" {
		return nil, refused("is missing")
	}
	if len(text) > 4<<10 || strings.HasPrefix(text, "-") || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
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
	case u.Scheme == "http" && !(v.local && IsLocalhost(u.Hostname())):
		return nil, refused("begins with http:// and not https://")
	}
	if v.allowPrivate {
		return u, nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err == nil && v.guard.SafeAddr(ip) != nil || err != nil && IsLocalhost(u.Hostname()) && !v.local {
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "address_refused", Message: fmt.Sprintf("the address of %s leads to %s, which is not public", what, u.Host),
			Hint: "set allow_private = true in the auth block if that is meant",
		}
	}
	return u, nil
}

// isHost keeps to what a browser and a resolver both understand, and shells do
// not.
func isHost(host string) bool {
	return host != "" && len(host) <= 253 && host[0] != '-' && !strings.ContainsFunc(host, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._:", r))
	})
}

// Ask sends a request to what URL returned. An error is an *sdk.Error, or the
// context's. Every redirect is an error.
func (v *Visitor) Ask(ctx context.Context, method string, u *url.URL, header http.Header, body string) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, sdk.Errorf(sdk.Internal, "making a request to %s: %v", u.Host, err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("User-Agent", v.agent)
	res, err := v.client.Do(req)
	if err != nil {
		return nil, v.why(ctx, err, u)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "redirect_refused", Message: fmt.Sprintf("%s redirects to %s", u.Host, target(res)),
			Hint: "redirects are not followed, because they would take credentials along",
		}
	}
	a := &Answer{Status: res.StatusCode, Header: res.Header}
	if ContentType(res.Header) == "text/event-stream" {
		return a, nil // it has no end
	}
	if a.Body, err = io.ReadAll(io.LimitReader(res.Body, visitMost+1)); err != nil {
		return nil, v.why(ctx, err, u)
	}
	if len(a.Body) > visitMost {
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "answer_too_large", Message: fmt.Sprintf("%s answered with more than 1 MiB", u.Host)}
	}
	return a, nil
}

func (v *Visitor) why(ctx context.Context, err error, u *url.URL) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return &sdk.Error{Code: sdk.Unavailable, Reason: "unreachable", Message: fmt.Sprintf("%s did not answer within %s", u.Host, v.client.Timeout)}
	}
	e := explain(err, u)
	if e.Reason == "address_refused" {
		e.Path, e.Hint = "", "set allow_private = true in the auth block if that is meant"
	}
	return e
}
