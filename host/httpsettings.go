package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// The default limits of one address that is not a loopback address.
const (
	defaultRate        = 60
	defaultBurst       = 120
	defaultConnections = 256
)

// httpSettings returns what a reload can change. The functions of this file turn blocks of the
// configuration into settings of package httpserver. They keep no state.
func httpSettings(h config.HTTP, limits config.Limits, auth authn.Authenticator) httpserver.Settings {
	s := httpserver.Settings{
		Auth:        auth,
		Shares:      httpShares(h, limits),
		URL:         h.URL,
		Issuers:     issuers(h),
		Origins:     h.Origins,
		Hosts:       h.Hosts,
		Proxies:     h.Proxies,
		MaxBody:     h.MaxBody,
		MaxInFlight: h.MaxInFlight,
		LegacySSE:   h.LegacySSE,
		PerAddress:  httpserver.Rate{PerSecond: defaultRate, Burst: defaultBurst},
		Connections: defaultConnections,
		Header:      h.Timeouts.Header,
		Body:        h.Timeouts.Body,
		Send:        h.Timeouts.Send,
		Keepalive:   h.Timeouts.Keepalive,
		Drain:       h.Timeouts.Drain,
		ReadyDelay:  h.Timeouts.ReadyDelay,
		Sessions: sessionstore.Limits{
			Max:    h.Sessions.Max,
			Idle:   h.Sessions.Idle,
			Life:   h.Sessions.Life,
			Events: h.Sessions.Events,
		},
	}
	if h.PerIP != nil {
		s.PerAddress, s.Loopback = httpserver.Rate{PerSecond: h.PerIP.Rate, Burst: h.PerIP.Burst}, true
		s.Connections = h.PerIP.Connections
	}
	return s
}

// sessionDir returns the directory of the sessions for a gateway that starts with a
// configuration; empty: they are kept in memory.
func (d Dirs) sessionDir(h config.HTTP) string {
	_, port, err := net.SplitHostPort(h.Listen)
	if h.Sessions.Store != "disk" || d.Data == "" || err == nil && port == "0" {
		return ""
	}
	sum := sha256.Sum256([]byte(h.Listen)) // two gateways cannot share a directory
	return filepath.Join(d.Data, "sessions", hex.EncodeToString(sum[:8]))
}

// keySources returns the sources of the keys of token issuers.
func keySources(h config.HTTP) (all []jwks.Source) {
	for _, auth := range h.Auth {
		if j, ok := auth.Settings.(inbound.JWT); ok && j.Keys != (jwks.Source{}) {
			all = append(all, j.Keys)
		}
	}
	return all
}

// usableKeys returns for each token issuer whether its keys can be used, and whether no
// client can authenticate in another way.
func usableKeys(h config.HTTP, keys *jwks.Pool) (all []func() bool, only bool) {
	sources := keySources(h)
	for _, source := range sources {
		set := keys.Set(source)
		all = append(all, func() bool { return set.Health().Usable })
	}
	return all, len(sources) > 0 && len(sources) == len(h.Auth)
}

// issuers returns the issuers of tokens for the gateway.
func issuers(h config.HTTP) (all []string) {
	for _, auth := range h.Auth {
		if j, ok := auth.Settings.(inbound.JWT); ok && j.Keys != (jwks.Source{}) && !slices.Contains(all, j.Issuer) {
			all = append(all, j.Issuer)
		}
	}
	return all
}

// authenticator returns the authenticator of clients, or nil without authentication.
func (g *generation) authenticator(ctx context.Context, h config.HTTP, keys *jwks.Pool) (authn.Authenticator, error) {
	var all []authn.Authenticator
	build := inbound.Build{
		Keyring: g.Config.Keyring(),
		Lookup:  g.secretLookup(ctx, g.opts.recipient(g.Config.Gateway.Layer, gatewayRecipient)),
		Keys:    keys,
	}
	for _, auth := range h.Auth {
		one, err := auth.Settings.Authenticator(build)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	switch {
	case len(all) > 0:
		return authn.Join(all), nil
	case h.TLS != nil && h.TLS.ClientCA != "":
		return authn.Certificates{Names: authn.Names{Tenant: authn.DefaultTenant}}, nil
	}
	return nil, nil
}
