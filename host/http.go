package host

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/listen"
	"github.com/junctor-mcp/junctor/host/session"
)

// The limit of one address where the configuration has none, for other machines
// than this one.
const (
	defaultRate  = 60
	defaultBurst = 120
)

// ServeHTTP serves the gateway over HTTP until ctx ends. listening is told the
// address before the first client can come.
func (a *App) ServeHTTP(ctx context.Context, h config.HTTP, listening func(net.Addr)) error {
	var secure *tls.Config
	if h.TLS != nil {
		var err error
		secure, err = listen.NewTLS(listen.Certificates{Cert: h.TLS.Cert, Key: h.TLS.Key, ClientCA: h.TLS.ClientCA}, a.opts.Log)
		if err != nil {
			return &fault.Error{Code: fault.ListenTLS, At: h.TLS.At.String(), Message: err.Error(), Err: err}
		}
	}
	l, err := listen.Listen(ctx, h.Listen)
	if err != nil {
		return &fault.Error{
			Code: fault.ListenAddress, At: h.At.String(), Message: "cannot listen: " + err.Error(), Err: err,
			Hint: "end the process that uses the address, if there is one, or choose another address with listen or --http",
		}
	}
	front, err := listen.New(a.frontOptions(h))
	if err != nil {
		_ = l.Close()
		return &fault.Error{Code: fault.ListenStore, At: h.At.String(), Message: err.Error(), Err: err}
	}
	listening(l.Addr())
	return front.Serve(ctx, l, secure)
}

func (a *App) frontOptions(h config.HTTP) listen.Options {
	o := listen.Options{
		Gateway: a.Gateway, Log: a.opts.Log, Auth: authenticator(h),
		Origins: h.Origins, Hosts: h.Hosts, MaxBody: h.MaxBody, MaxInFlight: h.MaxInFlight, LegacySSE: h.LegacySSE,
		PerAddress: listen.Rate{PerSecond: defaultRate, Burst: defaultBurst},
		Header:     h.Timeouts.Header, Body: h.Timeouts.Body, Send: h.Timeouts.Send, Keepalive: h.Timeouts.Keepalive, Drain: h.Timeouts.Drain,
		Sessions: session.Options{Max: h.Sessions.Max, Idle: h.Sessions.Idle, Life: h.Sessions.Life, Events: h.Sessions.Events, Log: a.opts.Log},
	}
	if h.PerIP != nil {
		o.PerAddress, o.Loopback = listen.Rate{PerSecond: h.PerIP.Rate, Burst: h.PerIP.Burst}, true
	}
	if h.Sessions.Store == "sqlite" {
		sum := sha256.Sum256([]byte(h.Listen)) // two gateways cannot share one
		o.Sessions.Path = filepath.Join(a.opts.Dirs.Data, "sessions", hex.EncodeToString(sum[:8])+".sqlite")
	}
	return o
}

// authenticator makes what finds out who asks; nil when nobody has to say.
func authenticator(h config.HTTP) identity.Authenticator {
	var tokens []identity.StaticToken
	for _, auth := range h.Auth {
		switch s := auth.Settings.(type) {
		case config.StaticToken:
			tokens = append(tokens, identity.StaticToken{Token: s.Token, Subject: s.Subject, Tenant: s.Tenant, Roles: s.Roles})
		default:
			panic("an auth block of a kind that nobody makes an authenticator of: " + auth.Kind)
		}
	}
	switch {
	case len(tokens) > 0:
		return identity.NewTokens(tokens)
	case h.TLS != nil && h.TLS.ClientCA != "":
		return identity.Certificates{}
	}
	return nil
}
