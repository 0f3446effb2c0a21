package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"github.com/junctor-mcp/junctor/sdk"
)

// The owner of a name in a configuration controls the address that DNS returns
// at the moment of connecting. The dialer therefore checks the resolved address
// before sending anything, and does not resolve the name again.

var loopback4, loopback6 = netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")

// A dialer connects to one server, or to the proxy set in the environment.
type dialer struct {
	proxies *proxies
	checks  net.Dialer
	plain   net.Dialer // for proxies, which the user chose
}

func newDialer(u *url.URL, allowPrivate bool, timeout time.Duration) *dialer {
	d := &dialer{proxies: &proxies{}, plain: net.Dialer{Timeout: timeout, KeepAlive: 15 * time.Second}}
	d.checks = d.plain
	if _, err := netip.ParseAddr(u.Hostname()); err == nil || allowPrivate {
		return d // the URL contains the address, or any address is allowed
	}
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6")}
	if IsLocalhost(u.Hostname()) {
		options = append(options, ssrf.WithAllowedV4Prefixes(loopback4), ssrf.WithAllowedV6Prefixes(loopback6))
	}
	d.checks.Control = ssrf.New(options...).Safe
	return d
}

// IsLocalhost reports whether a host name or address means this machine,
// without DNS.
func IsLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// SameOrigin reports whether two URLs have the same scheme, host and port, in
// any spelling.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	case u.Scheme == "https":
		return "443"
	}
	return "1080" // SOCKS
}

// dial checks every address except that of a proxy. It does not compare addr
// with the configured host, because the transport may spell it differently.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if !d.proxies.has(addr) {
		return d.checks.DialContext(ctx, network, addr)
	}
	c, err := d.plain.DialContext(ctx, network, addr)
	if err != nil {
		return nil, &proxyError{at: addr, err: err}
	}
	return c, nil
}

// refusedAddress explains a connection that the address check rejected. It
// returns nil for other errors.
func refusedAddress(err error, u *url.URL) *sdk.Error {
	if !errors.Is(err, ssrf.ErrProhibitedIP) && !errors.Is(err, ssrf.ErrProhibitedNetwork) &&
		!errors.Is(err, ssrf.ErrInvalidHostPort) {
		return nil
	}
	where := "an address that is not public"
	if oe, ok := errors.AsType[*net.OpError](err); ok && oe.Addr != nil {
		where = oe.Addr.String() + ", which is not a public address"
	}
	return &sdk.Error{
		Code: sdk.Denied, Reason: "address_refused", Path: "url",
		Message: fmt.Sprintf("%s leads to %s", u.Hostname(), where),
		Hint:    "set allow_private = true if that is meant, or write the address itself into url",
	}
}
