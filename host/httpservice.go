package host

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/httpserver"
)

// ChooseHTTP returns the settings of the HTTP listener in a configuration, and the
// diagnostics of the load together with those about the settings.
type ChooseHTTP func(c *config.Config, loaded source.Diagnostics) (config.HTTP, source.Diagnostics)

// An httpService serves the gateway over HTTP. Reload replaces its settings and its
// listener; the server, which has the sessions, stays. App.reloading guards its fields.
// ServeHTTP makes it and ends it.
type httpService struct {
	app       *App
	ctx       context.Context // ends when the service does
	settings  ChooseHTTP
	listening func(net.Addr, config.HTTP)
	server    *httpserver.Server
	store     string // kind of the session store
	sessions  string // directory of the sessions; empty: they are in memory
	keys      *jwks.Pool

	endStdio func()      // waits for the client on standard input; nil: there is none
	http     config.HTTP // in effect
	listener *httpserver.Listener
	at       *endpoint
	endPages func() // ends the login pages; nil: there are none
}

// ServeHTTP serves the gateway over HTTP until ctx ends. A reload asks settings again.
// ServeHTTP calls listening with each address before it accepts the first client there. It
// also serves the client on standard input, stdio, unless that is nil; the end of this client
// does not end ServeHTTP. It blocks, and is called once.
func (a *App) ServeHTTP(
	ctx context.Context,
	settings ChooseHTTP,
	listening func(net.Addr, config.HTTP),
	stdio *StdioClient,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &httpService{
		app:       a,
		ctx:       ctx,
		settings:  settings,
		listening: listening,
		keys:      jwks.NewPool(a.process.opts.Log),
	}
	defer s.keys.Close()
	a.clientKeys.Store(s.keys)
	defer a.clientKeys.Store(nil)
	stop, err := startTelemetry(ctx, a, false)
	if err != nil {
		return err
	}
	defer stop()
	if err := s.start(ctx); err != nil {
		return err
	}
	end, endLogins := runInBackground(a), a.logins.run(a)
	if stdio != nil {
		s.endStdio = stdio.serve(ctx, a, s.drainTime)
	}
	select {
	case <-ctx.Done():
	case err = <-s.server.Failed():
		cancel()
	}
	s.stop()
	endLogins()
	end()
	return err
}

// start opens the listener and the session store, and accepts clients.
func (s *httpService) start(ctx context.Context) error {
	s.app.reloading.Lock()
	defer s.app.reloading.Unlock()
	g := s.app.current.Load()
	h, diags := s.settings(g.Config, nil)
	if diags.HasErrors() {
		return diags.Err() // of a configuration that was reloaded meanwhile
	}
	next, err := s.open(ctx, g, h)
	if err != nil {
		return err
	}
	err = s.keepApprovals(h)
	if err == nil {
		err = s.openServer(h, next.settings)
	}
	if err != nil {
		next.discard()
		s.app.process.approvals.Close()
		return err
	}
	s.app.Gateway.SetShares(next.shares)
	s.app.process.approvals.SetShare(approvalShare(h, s.app.process.opts.WithStdio))
	next.accept()
	s.app.http = s
	s.app.serving.Store(s.server)
	return nil
}

// openServer opens the server with its session store. If the directory cannot be used,
// the sessions are in memory, unless the configuration requires it.
func (s *httpService) openServer(h config.HTTP, settings httpserver.Settings) (err error) {
	s.store, s.sessions = h.Sessions.Store, s.app.process.opts.Dirs.sessionDir(h)
	o := httpserver.Options{
		Gateway:    s.app.Gateway,
		Log:        s.app.process.opts.Log,
		SessionDir: s.sessions,
		Audit:      s.app.process.auditHealth,
		Settings:   settings,
	}
	s.server, err = httpserver.New(o)
	if err == nil || s.sessions == "" {
		return err
	}
	if h.Sessions.Required {
		return &fault.Error{Code: fault.ListenStore, At: h.At.String(), Message: err.Error(), Err: err, Hint: storeHint}
	}
	s.app.process.opts.Log.Warn("sessions are kept in memory until a restart, which ends them",
		"error", err, "hint", storeHint+`; store = "memory" says that it is meant`)
	s.store, s.sessions, o.SessionDir = "memory", "", ""
	s.server, err = httpserver.New(o)
	return err
}

// keepApprovals reads and keeps approvals in a file beside that of the sessions.
func (s *httpService) keepApprovals(h config.HTTP) error {
	sessions := s.app.process.opts.Dirs.sessionDir(h)
	if sessions == "" || s.app.process.approvals == nil {
		return nil
	}
	dir, name := filepath.Split(sessions)
	err := s.app.process.approvals.Keep(
		filepath.Join(filepath.Dir(filepath.Clean(dir)), "approvals", name+".sqlite"), s.app.process.opts.Log,
	)
	switch {
	case err == nil:
		return nil
	case h.Sessions.Required:
		return &fault.Error{Code: fault.ListenStore, At: h.At.String(), Message: err.Error(), Err: err, Hint: storeHint}
	}
	s.app.process.opts.Log.Warn(
		"approvals are kept in memory until a restart, which loses them", "error", err, "hint", storeHint,
	)
	return nil
}

// storeHint is the hint for a file of the state that cannot be used.
const storeHint = "end the process that uses the file, if there is one, " +
	"and see that the data directory can be written and has space"

// stop closes the login pages, the server and the socket. A reload does not change the
// service any longer.
func (s *httpService) stop() {
	s.app.reloading.Lock()
	s.app.http = nil
	s.app.serving.Store(nil)
	s.app.reloading.Unlock()
	s.server.Shutdown(s.listener, func() { _ = s.at.socket.Close() })
	if s.endStdio != nil {
		s.endStdio()
	}
	s.app.process.approvals.Close()
	if s.endPages != nil {
		s.endPages()
	}
}

// drainTime returns the time that requests in flight have to end at shutdown. The client on
// standard input calls it at its end.
func (s *httpService) drainTime() time.Duration {
	s.app.reloading.Lock()
	defer s.app.reloading.Unlock()
	return s.http.Timeouts.Drain
}

// pending returns the settings in effect that take full effect after a restart only. Nil has none.
func (s *httpService) pending() (all []control.Pending) {
	switch {
	case s == nil:
	case s.http.Sessions.Store != s.store && s.app.process.opts.Dirs.sessionDir(s.http) != s.sessions:
		all = append(all, control.Pending{
			Setting: "gateway.http.sessions.store",
			Effect:  "the sessions stay in " + sessionPlaces[s.store] + " until a restart",
		})
	case s.app.process.opts.Dirs.sessionDir(s.http) != s.sessions:
		all = append(all, control.Pending{
			Setting: "gateway.http.listen",
			Effect:  "the sessions stay in the files of the address before; a restart begins others",
		})
	}
	return all
}

// sessionPlaces says where each kind of session store keeps the sessions.
var sessionPlaces = map[string]string{"disk": "their files", "memory": "memory"}

// newPending returns the settings that were not pending before.
func newPending(now, before []control.Pending) (added []control.Pending) {
	for _, p := range now {
		if !slices.Contains(before, p) {
			added = append(added, p)
		}
	}
	return added
}

// offerPages offers login pages if clients are on this machine, and else ends them.
func (s *httpService) offerPages() {
	local := clientsAreLocal(s.at.socket.Addr(), s.http.Hosts)
	switch {
	case local && s.endPages == nil:
		s.endPages = s.app.process.pages.offer(s.ctx, s.app.process.opts.Lookup)
	case !local && s.endPages != nil:
		s.endPages()
		s.endPages = nil
	}
}

// An httpChange is what an httpService will serve: at another address, with other
// certificates, or with other settings. prepare makes it, on the goroutine of a reload; apply
// or discard ends it.
type httpChange struct {
	service  *httpService
	next     config.HTTP
	settings httpserver.Settings
	shares   gateway.Shares
	at       *endpoint
}

// prepare implements [part].
func (s *httpService) prepare(ctx context.Context, next *generation) (change, error) {
	return s.open(ctx, next, next.http)
}

// open loads and opens everything that h needs, for a generation. The caller discards or
// applies the change.
func (s *httpService) open(ctx context.Context, g *generation, h config.HTTP) (*httpChange, error) {
	c := &httpChange{service: s, next: h}
	auth, err := g.authenticator(ctx, h, s.keys)
	if err != nil {
		return nil, err
	}
	c.settings, c.shares = httpSettings(h, g.Config.Gateway.Limits, auth), gatewayShares(h, g.Config, g.opts.WithStdio)
	c.settings.Keys, c.settings.OnlyKeys = usableKeys(h, s.keys)
	c.at, err = s.at.successor(ctx, listenBlock{
		address: h.Listen,
		mode:    h.SocketMode,
		tls:     h.TLS,
		at:      h.At,
		failure: "cannot listen",
		setting: "listen or --http",
	}, s.app.process.opts.Log)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// checkGatewayFiles reads the files that the gateway needs on this machine: certificates,
// keys and key sets. The key of the result says what needs them.
func (g *generation) checkGatewayFiles() map[string]error {
	failed := map[string]error{}
	h := g.Config.Gateway.HTTP
	if h.TLS != nil {
		if _, err := newTLS(h.TLS, g.opts.Log); err != nil {
			failed["gateway tls"] = err
		}
	}
	if c := g.Config.Console; c != nil && c.TLS != nil {
		if _, err := newTLS(c.TLS, g.opts.Log); err != nil {
			failed["console tls"] = err
		}
	}
	for _, source := range keySources(h) {
		if source.File == "" {
			continue // an issuer may be down now
		}
		keys := jwks.NewPool(g.opts.Log)
		if err := keys.Set(source).Prepare(); err != nil {
			failed["gateway keys "+source.String()] = fault.Because(
				fault.ConfigInvalid, err, "the keys of an issuer cannot be read",
			)
		}
		keys.Close()
	}
	return failed
}

// discard closes what prepare has opened.
func (c *httpChange) discard() { c.at.discard() }

// apply makes the change. A listener whose address or TLS changes is retired before the
// settings change, so that its clients stay under the rules for its address.
func (c *httpChange) apply() {
	s := c.service
	moves := !c.at.shared || (c.at.secure == nil) != (s.at.secure == nil)
	switch {
	case moves:
		s.listener.Retire()
	case c.at.secure != nil:
		s.listener.SetTLS(c.at.secure)
	}
	s.server.Apply(c.settings)
	s.app.Gateway.SetShares(c.shares)
	s.app.process.approvals.SetShare(approvalShare(c.next, s.app.process.opts.WithStdio))
	s.keys.Keep(keySources(c.next))
	if moves {
		c.accept()
		return
	}
	if c.next.SocketMode != s.http.SocketMode {
		if err := s.at.socket.SetMode(c.next.SocketMode); err != nil {
			s.app.process.opts.Log.Error("the mode of the socket was not changed", "error", err)
		}
	}
	s.http, s.at = c.next, c.at
	s.offerPages()
}

// accept begins to accept clients at the endpoint of the change. A socket that it replaces
// is closed.
func (c *httpChange) accept() {
	s := c.service
	replaced := s.at
	s.http, s.at = c.next, c.at
	s.offerPages()
	s.listening(s.at.socket.Addr(), s.http)
	s.listener = s.server.Start(s.at.socket.Turn(), s.at.secure)
	if replaced != nil && !c.at.shared {
		_ = replaced.socket.Close()
	}
}
