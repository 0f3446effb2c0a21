package host

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/logbuffer"
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
// App.reloading guards its fields. ServeConsole makes it and ends it.
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

// A consoleAt is where the console is served. It is immutable; App.shown is replaced as a
// whole.
type consoleAt struct {
	server *console.Server
	url    string          // without a path
	local  bool            // its browsers are on this machine
	secure *httpserver.TLS // nil: no TLS
	keys   *jwks.Pool
}

// ServeConsole serves the console if the configuration has one, also after a reload, until
// stop is called. stop waits for the pages in progress. It is called once. The caller must call
// stop.
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

// A consoleChange is what a consoleService will serve. prepare makes it, on the goroutine of a
// reload; apply or discard ends it.
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
	var before *endpoint
	if s.at != nil {
		before = s.at.endpoint
	}
	at, err := before.successor(ctx, listenBlock{
		address: c.next.Listen,
		tls:     c.next.TLS,
		at:      c.next.At,
		failure: "the console cannot listen",
		setting: "listen in the console block",
	}, s.app.process.opts.Log)
	if err != nil {
		return err
	}
	c.settings.Address = at.socket.Addr()
	if !at.shared || at.secure != before.secure {
		c.listener = &consoleListener{config: c.next, log: s.app.process.opts.Log, endpoint: at}
	}
	return nil
}

// discard closes what prepare has opened.
func (c *consoleChange) discard() {
	if c.listener != nil {
		c.listener.discard()
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
	if c.listener.shared {
		s.at.leave()
	} else {
		s.at.close()
	}
	s.at = c.listener
	s.at.serve(s.server)
}
