package host

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// The limits of the connections to the console.
const (
	consoleHeaderTime  = 10 * time.Second
	consoleBodyTime    = 10 * time.Second
	consoleIdleTime    = time.Minute
	consoleSendTime    = 10 * time.Second
	consoleStopTime    = 2 * time.Second // for the pages in progress
	consoleConnections = 32              // of one address of another machine
)

// ConsoleOptions configure [App.ServeConsole].
type ConsoleOptions struct {
	// Listening is called with each address before the first page is served there. link is
	// a one-time link, or empty if other machines reach the console.
	Listening func(address, link string)
	// Optional makes the process go on without a console if that cannot be opened: another
	// process of the same configuration may have the address.
	Optional bool
	// Records are the newest records of the log, for its page; nil: it shows none.
	Records *logbuffer.Buffer
	// Reload reads the configuration again, as [control.Process] does; nil: the console cannot.
	// by names the person or program that asks.
	Reload func(ctx context.Context, by string) (*control.Reloaded, *control.Failure)
}

// A consoleService serves the console. Reload replaces its settings and its listener.
// App.reloading guards its fields.
type consoleService struct {
	ConsoleOptions
	app     *App
	ctx     context.Context // ends with the service
	started time.Time
	keys    *jwks.Pool
	work    sync.WaitGroup // logins, servers that connect again, and the charts
	server  *console.Server

	config *config.Console // in effect; nil: the console is off
	at     *consoleListener
}

// A consoleAt is where the console is served.
type consoleAt struct {
	server *console.Server
	url    string          // without a path
	local  bool            // its browsers are on this machine
	secure *httpserver.TLS // nil: no TLS
	keys   *jwks.Pool
}

// ServeConsole serves the console if the configuration has one, also after a reload, until
// stop is called. stop waits for the pages in progress.
func (a *App) ServeConsole(ctx context.Context, o ConsoleOptions) (stop func(), err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &consoleService{
		ConsoleOptions: o,
		app:            a,
		ctx:            ctx,
		started:        time.Now(),
		keys:           jwks.NewPool(a.process.opts.Log),
	}
	c, err := s.prepare(ctx, a.current.Load())
	if err != nil {
		cancel()
		s.keys.Close()
		return nil, err
	}
	a.console = s
	c.apply()
	return func() {
		a.reloading.Lock()
		a.console = nil
		a.shown.Store(nil)
		a.reloading.Unlock()
		cancel()
		s.at.close()
		s.work.Wait()
		s.keys.Close()
	}, nil
}

// ConsoleLink returns a link to the console.
func (a *App) ConsoleLink() (*control.ConsoleLink, error) {
	at := a.shown.Load()
	if at == nil {
		return nil, fault.New(fault.ConsoleOff, "the console is off").WithHint(
			"write console { } in the configuration, and run `junctor reload`",
		)
	}
	if path, end, ok := at.server.Link(); ok {
		return &control.ConsoleLink{URL: at.url + path, Expires: &end}, nil
	}
	return &control.ConsoleLink{URL: at.url + "/"}, nil
}

// consoleURL returns the address of the console, or "" if it is off.
func (r report) consoleURL() string {
	if at := r.a.shown.Load(); at != nil {
		return at.url + "/"
	}
	return ""
}

// A consoleChange is what a consoleService will serve.
type consoleChange struct {
	service  *consoleService
	next     *config.Console
	sources  []jwks.Source
	settings console.Settings
	listener *consoleListener // nil: that of the service stays
}

// prepare implements [part]. It opens everything that the console of a generation needs.
func (s *consoleService) prepare(ctx context.Context, g *generation) (change, error) {
	c := &consoleChange{service: s, next: g.Config.Console}
	if c.next == nil {
		return c, nil
	}
	err := c.open(ctx, g)
	if err != nil && s.Optional {
		s.app.process.opts.Log.Warn("the console is off in this process", "error", err)
		return &consoleChange{service: s}, nil
	}
	return c, err
}

// open builds the settings of the change, and opens the listener if it is another one. If
// it fails, nothing is open.
func (c *consoleChange) open(ctx context.Context, g *generation) error {
	s := c.service
	clients := g.Config.Gateway.HTTP
	clients.TLS = c.next.TLS // certificates are those of this listener
	auth, err := g.authenticator(ctx, clients, s.keys)
	if err != nil {
		return err
	}
	c.sources = keySources(clients)
	c.settings = console.Settings{
		Admins:   c.next.Admins,
		Viewers:  c.next.Viewers,
		Approver: s.app.Approvals().IsApprover,
		Barred:   s.app.Approvals().Bars,
		Auth:     auth,
		Hosts:    c.next.Hosts,
	}
	if s.at.serves(c.next) {
		c.settings.Address = s.at.socket.Addr()
		return nil
	}
	if c.listener, err = s.listen(ctx, c.next); err != nil {
		return err
	}
	c.settings.Address = c.listener.socket.Addr()
	return nil
}

// listen opens the listener for a console block.
func (s *consoleService) listen(ctx context.Context, c *config.Console) (*consoleListener, error) {
	l := &consoleListener{config: c, log: s.app.process.opts.Log}
	var err error
	if c.TLS != nil {
		if l.secure, err = newTLS(c.TLS, s.app.process.opts.Log); err != nil {
			return nil, err
		}
	}
	if s.at != nil && s.at.config.Listen == c.Listen {
		l.socket, l.shares = s.at.socket, true
		return l, nil
	}
	if l.socket, err = httpserver.Listen(ctx, c.Listen, 0); err != nil {
		return nil, &fault.Error{
			Code:    fault.ListenAddress,
			At:      c.At.String(),
			Message: "the console cannot listen: " + err.Error(),
			Err:     err,
			Hint: "end the process that uses the address, if there is one, " +
				"or choose another address with listen in the console block",
		}
	}
	return l, nil
}

// discard closes what prepare has opened.
func (c *consoleChange) discard() {
	if c.listener != nil && !c.listener.shares {
		_ = c.listener.socket.Close()
	}
}

// apply makes the change.
func (c *consoleChange) apply() {
	s := c.service
	s.config = c.next
	switch {
	case c.next == nil:
		s.app.shown.Store(nil)
		s.at.close()
		s.at = nil
		return
	case s.server == nil:
		s.server = console.New(console.Options{
			Sources:  s.sources(),
			Settings: c.settings,
			Log:      s.app.process.opts.Log,
			Hide:     s.app.process.redactor.hide,
			Version:  s.app.process.opts.Version,
			Foreign:  otherUser,
			Refused:  s.noteRefused,
		})
		s.work.Go(func() { s.server.Run(s.ctx) })
	default:
		s.server.Apply(c.settings)
	}
	s.keys.Keep(c.sources)
	moved := c.listener != nil
	if moved {
		c.replace()
	}
	s.at.config = c.next
	at := &consoleAt{
		server: s.server,
		url:    s.at.url(),
		local:  clientsAreLocal(s.at.socket.Addr(), c.next.Hosts),
		secure: s.at.secure,
		keys:   s.keys,
	}
	s.app.shown.Store(at)
	if !moved {
		return
	}
	link := ""
	if path, _, ok := s.server.Link(); ok {
		link = at.url + path
	}
	s.Listening(at.url+"/", link)
}

// replace begins to serve at the listener of the change, and ends the one before.
func (c *consoleChange) replace() {
	s := c.service
	if c.listener.shares {
		s.at.leave()
	} else {
		s.at.close()
	}
	s.at = c.listener
	s.at.serve(s.server)
}

// A consoleListener serves the console at one address, with or without TLS.
type consoleListener struct {
	config *config.Console
	log    hclog.Logger
	secure *httpserver.TLS // nil: no TLS
	socket *httpserver.Socket
	shares bool // the socket is that of the listener before

	http   *http.Server
	conns  *httpconn.Listener
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// serves reports whether the listener is the one for a console block.
func (l *consoleListener) serves(c *config.Console) bool {
	if l == nil || l.config.Listen != c.Listen || (l.config.TLS == nil) != (c.TLS == nil) {
		return false
	}
	return c.TLS == nil || slices.Equal(filesOf(l.config.TLS), filesOf(c.TLS))
}

// serve answers requests with a server.
func (l *consoleListener) serve(server *console.Server) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	var secure *tls.Config
	if l.secure != nil {
		secure = l.secure.Config()
	}
	l.conns = httpconn.Listen(l.socket.Turn(), httpconn.Options{
		TLS: secure,
		Log: l.log,
		Limits: httpconn.Limits{
			Header:     consoleHeaderTime,
			Body:       consoleBodyTime,
			Idle:       consoleIdleTime,
			Send:       consoleSendTime,
			PerAddress: consoleConnections,
		},
		AddressKey: consoleAddress,
	})
	l.http = &http.Server{
		Handler: l.checked(server), TLSConfig: secure, MaxHeaderBytes: console.MaxHeader, IdleTimeout: consoleIdleTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    l.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	l.conns.Attach(l.http)
	l.work.Go(func() { l.conns.Run(ctx) })
	l.work.Go(func() {
		if err := l.http.Serve(l.conns); err != nil && ctx.Err() == nil {
			l.log.Debug("the console serves no further connections", "error", err)
		}
	})
}

// checked refuses requests with a certificate that is not accepted any longer, and bounds
// the time for a body.
func (l *consoleListener) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpconn.SetTLS(r)
		if r.ContentLength != 0 {
			httpconn.LimitBody(w, r, time.Now().Add(consoleBodyTime))
			r.Body = &limitedBody{r.Body, func() { httpconn.UnlimitBody(w, r) }}
		}
		if l.secure != nil && !l.secure.Accepts(r.TLS) {
			http.Error(w, "The client certificate is not accepted.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// A limitedBody ends the time limit of a body at its end: a tool call may take longer.
type limitedBody struct {
	io.ReadCloser
	ended func()
}

// Read reads from the body.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended()
	}
	return n, err
}

// consoleAddress returns the network of a client. Those of this machine are not limited.
func consoleAddress(remote string) (key netip.Prefix, counted bool) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil || at.Addr().Unmap().IsLoopback() {
		return netip.Prefix{}, false
	}
	addr := at.Addr().Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, err := addr.Prefix(bits)
	return p, err == nil
}

// leave ends the pages and leaves the socket open.
func (l *consoleListener) leave() {
	_ = l.conns.Close()
	limited, cancel := context.WithTimeout(context.Background(), consoleStopTime)
	defer cancel()
	l.cancel()
	if l.http.Shutdown(limited) != nil {
		_ = l.http.Close()
	}
	l.conns.Wait()
	l.work.Wait()
}

// close ends the pages and closes the socket. It does nothing for nil.
func (l *consoleListener) close() {
	if l == nil {
		return
	}
	l.leave()
	_ = l.socket.Close()
}

// url returns the address for a browser, without a path.
func (l *consoleListener) url() string {
	u := url.URL{Scheme: "http", Host: l.socket.Addr().String()}
	if l.secure != nil {
		u.Scheme = "https"
	}
	tcp, ok := l.socket.Addr().(*net.TCPAddr)
	if !ok {
		return u.String()
	}
	_, port, _ := net.SplitHostPort(tcp.String())
	switch {
	case len(l.config.Hosts) > 0 && !tcp.IP.IsLoopback():
		u.Host = l.config.Hosts[0]
		if _, _, err := net.SplitHostPort(u.Host); err != nil {
			u.Host = net.JoinHostPort(u.Host, port)
		}
	case tcp.IP.IsUnspecified():
		u.Host = net.JoinHostPort("localhost", port)
	}
	return u.String()
}
