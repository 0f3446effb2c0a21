package host

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// BeginLogin begins a login of the local user to a server, or joins the one in progress. It
// returns the address of the page for the user's browser, which has to be on this machine. The
// login ends when ctx does. It blocks until the address is known. The verb login, through the
// control socket, is its user; for clients see loginpages.go.
func BeginLogin(ctx context.Context, a *App, server string) (address string, err error) {
	s, err := loginServer(a, server)
	if err != nil {
		return "", err
	}
	p := a.process.pages.begin(ctx, &a.closing, a.connector(), s)
	return p.awaitAddress(ctx, server)
}

// AwaitLogin waits for the end of a login that BeginLogin began. It returns the account.
func AwaitLogin(ctx context.Context, a *App, server string) (account string, err error) {
	s, err := loginServer(a, server)
	if err != nil {
		return "", err
	}
	p := a.process.pages.at(s.Name, Tenant(s, authn.Local()))
	if p == nil {
		return "", fault.New(fault.Usage, "no login to %s has begun", server).WithHint("run junctor login %s", server)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return "", fault.Because(fault.Interrupted, ctx.Err(), "the wait for the login ended")
	}
	if p.err != nil {
		return "", fault.New(
			fault.LoginFailed, "the login to %s failed: %s", server, p.err,
		).WithHint("run junctor login %s in a terminal", server)
	}
	return p.account, nil
}

// loginServer returns an enabled server with an auth block.
func loginServer(a *App, server string) (*config.Server, error) {
	s, err := a.current.Load().enabledServer(server)
	if err == nil && s.Auth == nil {
		err = fault.New(
			fault.Usage, "server %q has no auth block, so there is nothing to log in to", server,
		).WithHint("junctor auth status lists the servers with logins")
	}
	return s, err
}

// awaitAddress waits for the address of the page of a login to a server, at most for
// loginPageWait.
func (p *loginPage) awaitAddress(ctx context.Context, server string) (string, error) {
	limit := time.NewTimer(loginPageWait)
	defer limit.Stop()
	select {
	case <-p.shown:
	case <-limit.C:
	case <-ctx.Done():
	}
	switch page := p.address(); {
	case page != "" && !p.ended():
		return page, nil
	case p.ended() && p.err != nil:
		return "", fault.New(
			fault.LoginFailed, "the login to %s failed: %s", server, p.err,
		).WithHint("run junctor login %s in a terminal", server)
	}
	return "", fault.New(
		fault.LoginFailed, "the login to %s shows no page that a browser can open here", server,
	).WithHint("run junctor login %s in a terminal", server)
}
