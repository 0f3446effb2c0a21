package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/httpserver"
)

// certificateStatuses returns the state of the certificates of the gateway and the console.
// This file tells of what ends by itself: certificates, keys of issuers and logins.
func certificateStatuses(a *App) (all []control.Certificate) {
	if server := a.serving.Load(); server != nil {
		for _, h := range server.Certificates() {
			all = append(all, certificatesOf("gateway", h)...)
		}
	}
	if at := a.shown.Load(); at != nil && at.secure != nil {
		all = append(all, certificatesOf("console", at.secure.Health())...)
	}
	return all
}

// certificatesOf returns the files of a listener. Both are read together, so one error is
// about both.
func certificatesOf(listener string, h httpserver.CertificateHealth) []control.Certificate {
	why := ""
	if h.Err != nil {
		why = h.Err.Error()
	}
	all := []control.Certificate{{Listener: listener, Kind: "cert", File: h.Cert, Ends: h.Ends, Error: why}}
	if h.ClientCA != "" {
		all = append(all, control.Certificate{
			Listener: listener,
			Kind:     "client_ca",
			File:     h.ClientCA,
			Ends:     h.ClientCAEnds,
			Error:    why,
		})
	}
	return all
}

// issuerStatuses returns the state of the keys that verify tokens of clients and of users
// of the console.
func issuerStatuses(a *App) (all []control.Issuer) {
	pools := []*jwks.Pool{a.clientKeys.Load()}
	if at := a.shown.Load(); at != nil {
		pools = append(pools, at.keys)
	}
	for _, pool := range pools {
		if pool == nil {
			continue
		}
		for _, h := range pool.Health() {
			one := control.Issuer{Source: a.process.redactor.hide(h.Source), Usable: h.Usable, Read: known(h.Read)}
			if h.Err != nil {
				one.Error = a.process.redactor.hide(h.Err.Error())
			}
			if !slices.ContainsFunc(all, func(o control.Issuer) bool { return o.Source == one.Source }) {
				all = append(all, one)
			}
		}
	}
	return all
}

// refusedClients returns the requests of clients over HTTP that were refused, by reason.
func refusedClients(a *App) map[string]uint64 {
	if server := a.serving.Load(); server != nil {
		return server.Refused()
	}
	return nil
}

const (
	loginCheckAfter = time.Minute // the start, at which servers are busy
	loginCheckEvery = 30 * time.Minute
	loginCheckTime  = 10 * time.Second // for one provider
)

// A loginWatch asks auth providers for the state of the logins that all clients share, so
// that a login which ends is known before a client needs it. The zero value has none. The App
// has one. It may be used concurrently.
type loginWatch struct {
	mu    sync.Mutex
	known []control.Login // guarded by mu
}

// run checks the logins after a minute and then every half hour, until end is called.
func (w *loginWatch) run(a *App) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		next := time.NewTimer(loginCheckAfter)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
				w.check(ctx, a)
				next.Reset(loginCheckEvery)
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// check asks the provider of each server with a login that all clients share.
func (w *loginWatch) check(ctx context.Context, a *App) {
	var all []control.Login
	for _, s := range a.Config().Servers {
		if !sharesLogin(s) {
			continue
		}
		one := control.Login{Server: s.Name, State: "unknown"}
		asking, cancel := context.WithTimeout(ctx, loginCheckTime)
		if state, err := a.AuthState(asking, s, ""); err == nil {
			one.State, one.Ends = state.State, known(state.Ends)
		}
		cancel()
		all = append(all, one)
	}
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = all
}

// sharesLogin reports whether a server has a login that all clients share.
func sharesLogin(s *config.Server) bool {
	return s.Enabled && s.Auth != nil && Tenant(s, authn.Local()) == ""
}

// states returns the logins as they were at the last check.
func (w *loginWatch) states() []control.Login {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.known)
}
