package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/host/loopback"
)

const (
	loginPageWait   = 15 * time.Second // for the address of a page; without it clients get the command to run
	loginRetryPause = time.Minute      // after a failed login, before the next one begins; doubled each time
	// the longest pause; an unattended client must not register OAuth clients all day
	maxLoginRetryPause = time.Hour
)

// loginPages holds the logins that clients send their users to, at most one for
// each server and tenant. The Process has one. Its methods may be called concurrently.
type loginPages struct {
	mu      sync.Mutex
	enabled bool                     // guarded by mu; a browser of a client reaches this machine
	ctx     context.Context          // guarded by mu; context of all logins, valid while enabled
	all     map[[2]string]*loginPage // guarded by mu; by server and tenant
	work    sync.WaitGroup
}

// A loginPage is a login on a page that a client shows to its user. The goroutine of the login
// (runLogin) calls show and end; any number of goroutines wait.
type loginPage struct {
	id    string
	shown chan struct{} // closed when the address is known, or the login has ended
	once  sync.Once
	url   string        // valid once shown is closed; empty: no page
	done  chan struct{} // closed when the login has ended
	err   error         // why the login failed; valid once done is closed
	// account is the one of the login, if the provider names it; valid once done is closed.
	account string
	pause   time.Duration // the pause after the previous failed login; once done is closed, after this one
	again   time.Time     // earliest time of the next login; valid once done is closed
}

// successor returns a new login after p, which may be nil.
func (p *loginPage) successor() *loginPage {
	n := &loginPage{id: rand.Text(), shown: make(chan struct{}), done: make(chan struct{})}
	if p != nil {
		n.pause = p.pause
	}
	return n
}

// show sets the address of the page. Further calls have no effect.
func (p *loginPage) show(address string) {
	p.once.Do(func() {
		p.url = address
		close(p.shown)
	})
}

// wait returns when the login has ended.
func (p *loginPage) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end records the result of the login. After a success it keeps the next login from
// beginning for a second, because requests that the server refused before may still
// ask for one.
func (p *loginPage) end(err error) {
	p.show("") // no effect if the address is known
	wait := time.Second
	if err != nil {
		p.err = errors.New(fault.As(err).Message) // the caller knows the server
		p.pause = min(max(2*p.pause, loginRetryPause), maxLoginRetryPause)
		wait = p.pause
	} else {
		p.pause = 0
	}
	p.again = time.Now().Add(wait)
	close(p.done)
}

// ended reports whether the login has ended.
func (p *loginPage) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// replaceable reports whether another login may begin.
func (p *loginPage) replaceable() bool { return p.ended() && !time.Now().Before(p.again) }

// offer lets clients send their users to login pages until ctx ends, if the browser's redirect
// reaches this machine. end waits for the logins in progress. lookup finds the variables of
// the environment.
func (pages *loginPages) offer(ctx context.Context, lookup func(string) (string, bool)) (end func()) {
	for _, name := range []string{"SSH_CONNECTION", "NO_BROWSER"} {
		if v, _ := lookup(name); v != "" {
			return func() {}
		}
	}
	if login.CI(lookup) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	pages.mu.Lock()
	pages.enabled, pages.ctx = true, ctx
	pages.mu.Unlock()
	return func() {
		pages.mu.Lock()
		pages.enabled = false
		pages.mu.Unlock()
		cancel()
		pages.work.Wait()
	}
}

// at returns the last login at a server for a tenant, or nil.
func (pages *loginPages) at(server, tenant string) *loginPage {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	return pages.all[[2]string{server, tenant}]
}

// clientsAreLocal reports whether clients of an HTTP gateway are on this machine: it
// listens on a loopback address, and has no other host name, as behind a proxy.
func clientsAreLocal(at net.Addr, hosts []string) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback() && !slices.ContainsFunc(hosts, func(h string) bool {
		if name, _, err := net.SplitHostPort(h); err == nil {
			h = name
		}
		return !loopback.Is(h)
	})
}

// loginPage returns the page on which a principal's user logs in to a server. It
// begins a login if none is in progress. The gateway calls it on the goroutine of a request. It
// blocks for at most loginPageWait.
func (c connector) loginPage(ctx context.Context, server string, who authn.Principal) (gateway.Page, bool) {
	servers := c.g.Config.Servers
	i := slices.IndexFunc(servers, func(s *config.Server) bool { return s.Name == server })
	if i < 0 || !mayLogIn(servers[i], who) {
		return gateway.Page{}, false
	}
	p := c.p.pages.offered(c, servers[i], who)
	if p == nil {
		return gateway.Page{}, false
	}
	limit := time.NewTimer(loginPageWait)
	defer limit.Stop()
	select {
	case <-p.shown:
	case <-limit.C:
	case <-ctx.Done():
	}
	select {
	case <-p.shown:
		return gateway.Page{ID: p.id, URL: p.url, Wait: p.wait}, p.url != "" && !p.ended()
	default:
		return gateway.Page{}, false
	}
}

// mayLogIn reports whether a principal may log in to a server: to credentials of its
// own, or as the local user. Clients that authenticate and share credentials may not.
func mayLogIn(s *config.Server, who authn.Principal) bool {
	share := gateway.Share(s.Share)
	own := share == gateway.PerTenant || share == gateway.PerSession
	return s.Auth != nil && (own || who.Method == "local" || who.Method == "none")
}

// offered returns the login in progress at a server of a generation, or begins one; nil if
// pages are disabled.
func (pages *loginPages) offered(by connector, s *config.Server, who authn.Principal) *loginPage {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if !pages.enabled {
		return nil
	}
	return pages.join(pages.ctx, &pages.work, by, s, Tenant(s, who))
}

// begin returns the login in progress at a server, or begins one that ends with ctx, as a part
// of work.
func (pages *loginPages) begin(
	ctx context.Context,
	work *sync.WaitGroup,
	by connector,
	s *config.Server,
) *loginPage {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	return pages.join(ctx, work, by, s, Tenant(s, authn.Local()))
}

// join is begin for a tenant. The caller holds mu.
func (pages *loginPages) join(
	ctx context.Context,
	work *sync.WaitGroup,
	by connector,
	s *config.Server,
	tenant string,
) *loginPage {
	key := [2]string{s.Name, tenant}
	before := pages.all[key]
	if before != nil && !before.replaceable() {
		return before
	}
	if pages.all == nil {
		pages.all = map[[2]string]*loginPage{}
	}
	p := before.successor()
	pages.all[key] = p
	work.Go(func() { by.runLogin(ctx, s, tenant, p) })
	return p
}

// runLogin runs a login at a server of the generation, with the person behind a client. It runs
// on a goroutine of its own.
func (c connector) runLogin(ctx context.Context, s *config.Server, tenant string, p *loginPage) {
	ports, _ := c.g.opts.Lookup("JUNCTOR_CALLBACK_PORTS")
	behind, err := login.NewClient(login.Options{
		Server:   s.Name,
		Loopback: OnLoopback(Address(s)),
		Ports:    cmp.Or(ports, RegisteredPort(s)),
		Lookup:   c.g.opts.Lookup,
	}, p.show)
	account := ""
	if err == nil {
		account, err = c.login(ctx, s, tenant, behind, nil)
	}
	if err == nil {
		c.p.Gateway.Retry(s.Name)
	}
	p.account = account
	p.end(err)
	switch log := c.g.opts.Log.With("server", s.Name, "tenant", tenant); {
	case err == nil:
		log.Info("logged in, on a page that a client has shown", "account", account)
	case p.url == "":
		log.Debug("there is no page that a client could show for a login", "error", err)
	default:
		log.Info("a login on a page that a client has shown did not come to its end", "error", err)
	}
}

// RegisteredPort returns the port of the redirect URI that the user registered, or
// "".
func RegisteredPort(s *config.Server) string {
	var settings struct {
		Redirect string `json:"redirect_url"`
	}
	_ = json.Unmarshal(s.Auth.Settings, &settings) // other providers have no such setting
	u, err := url.Parse(settings.Redirect)
	if err != nil {
		return ""
	}
	return u.Port()
}

// OnLoopback reports whether a server is on this machine.
func OnLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopback.Is(u.Hostname())
}
