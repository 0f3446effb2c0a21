package plugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

func (c Auth) checks() []check {
	about := func(what string, run func(t testing.TB, s *subject, c *Auth)) check {
		return check{"auth " + c.Name + " " + what, func(t testing.TB, s *subject) { run(t, s, &c) }}
	}
	return []check{
		about("refusals",
			func(t testing.TB, s *subject, c *Auth) { checkRefusals(t, s, component{"auth", c.Name}, c.Refused) }),
		about("secret", checkAuthSecret),
		about("start", checkStart),
		about("authorize", checkAuthorize),
		about("cancel", checkAuthCancel),
		about("login", checkLogin),
		about("refused services", checkRefusedServices),
		about("stop", checkStop),
	}
}

func (c *Auth) host(t testing.TB) *Host {
	if c.Host == nil {
		return nil
	}
	return c.Host(t)
}

// callContext returns a context that bounds one call to patience.
func callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// startAuth starts an authorizer for a case.
func (l *link) startAuth(t testing.TB, c *Auth, capability string) *wire.RemoteAuthorizer {
	t.Helper()
	ctx, cancel := callContext()
	defer cancel()
	l.opened++
	handle := fmt.Sprintf("h%d", l.opened)
	err := l.AuthStart(ctx, wire.AuthStartArgs{
		Component: c.Name, Server: "plugintest", Handle: handle, Settings: []byte(c.Settings), Capability: capability,
	})
	if l.note(err) != nil {
		t.Fatalf("starting: %v", err)
	}
	return l.Authorizer(handle)
}

// checkAuthCancel checks that Authorize ends soon after its context is done.
func checkAuthCancel(t testing.TB, s *subject, c *Auth) {
	hanging := *c
	if c.Hang != nil {
		hanging.Settings = c.Hang(t)
	}
	l := s.start(t, c.host(t))
	l.login(t, c, l.startAuth(t, c, capabilityAll)) // else the provider has nothing to wait for
	a := l.startAuth(t, &hanging, capabilityAll)
	for _, wait := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		_, err := a.Authorize(ctx, c.Request)
		cancel()
		late, ok := errors.AsType[*wire.LateError](l.note(err))
		if c.Hang != nil && wait > time.Millisecond && sdk.CodeOf(err) != sdk.Deadline &&
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Authorize does not wait until it is cancelled, as the settings of Hang demand: %v", err)
		}
		ctx, cancel = context.WithTimeout(context.Background(), interrupted)
		if ok && !late.Answered(ctx) {
			t.Errorf("Authorize still runs %s after it was cancelled", interrupted)
		}
		cancel()
	}
}

// authorize requests a credential and compares it with the case.
func (l *link) authorize(t testing.TB, c *Auth, a *wire.RemoteAuthorizer) error {
	t.Helper()
	ctx, cancel := callContext()
	defer cancel()
	cred, err := a.Authorize(ctx, c.Request)
	if l.note(err) != nil {
		return err
	}
	_ = l.note(&sdk.Error{Message: "account " + cred.Account}) // displayed to the user
	for what, pair := range map[string][2]map[string]string{"header": {cred.Headers, c.Want.Headers},
		"query": {cred.Query, c.Want.Query}} {
		for name, want := range pair[1] {
			if got := pair[0][name]; got != want {
				t.Errorf("%s %s is %q, want %q", what, name, got, want)
			}
		}
	}
	if len(cred.Headers)+len(cred.Query) == 0 {
		t.Error("the credential has neither headers nor query parameters")
	}
	return nil
}

// login logs in if the case demands it.
func (l *link) login(t testing.TB, c *Auth, a *wire.RemoteAuthorizer) {
	t.Helper()
	if !c.Login {
		return
	}
	ctx, cancel := callContext()
	defer cancel()
	account, err := a.Login(ctx, c.Request.Scopes)
	if l.note(err) != nil {
		t.Fatalf("logging in: %v", err)
	}
	_ = l.note(&sdk.Error{Message: "account " + account})
	if c.Account != "" && account != c.Account {
		t.Errorf("logged in as %q, want %q", account, c.Account)
	}
}

// checkAuthSecret checks that no secret from settings or prompts is printed.
func checkAuthSecret(t testing.TB, s *subject, c *Auth) {
	host := c.host(t)
	schema := s.schema(t, component{"auth", c.Name})
	if sensitive(&schema) && !strings.Contains(c.Settings, Canary) {
		t.Error("the provider has sensitive settings: set one of them to Canary in Settings")
	}
	l := s.start(t, host)
	complain(t, l, component{"auth", c.Name}, c.Settings)
	a := l.startAuth(t, c, capabilityAll)
	l.login(t, c, a)
	if err := l.authorize(t, c, a); err != nil {
		t.Errorf("authorizing: %v", err)
	}
	ctx, cancel := callContext()
	defer cancel()
	st, err := a.Status(ctx)
	_ = l.note(err)
	_ = l.note(&sdk.Error{Message: st.State + " " + st.Account, Output: st.Scopes})
	_, err = a.Challenge(ctx,
		sdk.Challenge{AuthRequest: c.Request, Status: 401, WWWAuthenticate: []string{"Bearer"}, Attempt: 1})
	_ = l.note(err)
}

// checkStart checks that Start does not ask the user and may be repeated.
func checkStart(t testing.TB, s *subject, c *Auth) {
	host := c.host(t)
	l := s.start(t, host)
	for range 2 {
		l.startAuth(t, c, capabilityAll)
	}
	if host != nil && len(host.Prompts())+len(host.Opened()) > 0 {
		t.Errorf("starting asked the user: %v %v", host.Prompts(), host.Opened())
	}
}

// checkAuthorize checks concurrent calls of Authorize, the answer to a
// challenge and the error before a login.
func checkAuthorize(t testing.TB, s *subject, c *Auth) {
	l := s.start(t, c.host(t))
	a := l.startAuth(t, c, capabilityAll)
	if c.Login {
		if err := l.authorize(t, c, a); sdk.CodeOf(err) != sdk.NeedsLogin {
			t.Errorf("before the login Authorize must fail with the code %s: %v", sdk.NeedsLogin, err)
		}
	}
	l.login(t, c, a)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := l.authorize(t, c, a); err != nil {
				t.Errorf("authorizing: %v", err)
			}
		})
	}
	wg.Wait()
	ctx, cancel := callContext()
	defer cancel()
	res, err := a.Challenge(ctx, sdk.Challenge{AuthRequest: c.Request, Status: 401,
		WWWAuthenticate: []string{`Bearer error="invalid_token"`}, Attempt: 1})
	if l.note(err) != nil {
		t.Errorf("challenge: %v", err)
	}
	if res.Retry && res.NeedsLogin {
		t.Error("the answer to a challenge has both Retry and NeedsLogin")
	}
}

// checkLogin checks that a login lasts until the logout, also across a restart.
func checkLogin(t testing.TB, s *subject, c *Auth) {
	host := c.host(t)
	l := s.start(t, host)
	a := l.startAuth(t, c, capabilityAll)
	ctx, cancel := callContext()
	defer cancel()
	if !c.Login {
		if _, err := a.Login(ctx, nil); l.note(err) != nil && sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("Login of a provider without a login must fail with the code %s: %v", sdk.Unimplemented, err)
		}
		return
	}
	l.login(t, c, a)
	st, err := a.Status(ctx)
	if l.note(err) != nil || st.State != "ready" && st.State != "unknown" {
		t.Errorf("after the login the status is %+v, %v", st, err)
	}
	again := s.start(t, host)
	later := again.startAuth(t, c, capabilityAll)
	if err := again.authorize(t, c, later); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if err := again.note(later.Logout(ctx)); err != nil {
		t.Errorf("logging out: %v", err)
	}
	if err := again.authorize(t, c, later); sdk.CodeOf(err) != sdk.NeedsLogin {
		t.Errorf("after the logout Authorize must fail with the code %s: %v", sdk.NeedsLogin, err)
	}
	for key, value := range host.Secrets() {
		if strings.Contains(value, Canary) {
			t.Errorf("after the logout the secret %q is still stored", key)
		}
	}
}

// checkRefusedServices checks that a provider returns errors, without panic or
// hang, if the host grants no services or does not know the capability.
func checkRefusedServices(t testing.TB, s *subject, c *Auth) {
	l := s.start(t, c.host(t))
	for _, capability := range []string{capabilityNothing, "unknown"} {
		ctx, cancel := callContext()
		defer cancel()
		handle := "refused " + capability
		err := l.note(l.AuthStart(ctx,
			wire.AuthStartArgs{Component: c.Name, Handle: handle, Settings: []byte(c.Settings),
				Capability: capability}))
		errs := map[string]error{"starting": err}
		if err == nil {
			a := l.Authorizer(handle)
			_, errs["authorizing"] = a.Authorize(ctx, c.Request)
			_, errs["logging in"] = a.Login(ctx, nil)
			errs["logging out"] = a.Logout(ctx)
			_, errs["status"] = a.Status(ctx)
			if c.Login && errs["logging in"] == nil {
				t.Error("a login succeeded without the service Person")
			}
		}
		for what, err := range errs {
			if code := sdk.CodeOf(l.note(err)); err != nil &&
				(code == sdk.Panicked || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("%s without services: %v", what, err)
			}
		}
	}
	ctx, cancel := callContext()
	defer cancel()
	if err := l.Health(ctx); err != nil {
		t.Errorf("health after these calls: %v", err)
	}
}

// checkStop checks that Stop releases the resources of an authorizer, even
// while it waits for a user who does not answer.
func checkStop(t testing.TB, s *subject, c *Auth) {
	round := func(l *link) {
		for range 5 {
			a := l.startAuth(t, c, capabilityAll)
			l.login(t, c, a)
			if err := l.authorize(t, c, a); err != nil {
				t.Errorf("authorizing: %v", err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			_, _ = a.Login(ctx, nil) // cancelled after 50 ms
			cancel()
			ctx, cancel = callContext()
			for range 2 {
				if err := l.note(a.Stop(ctx)); err != nil {
					t.Errorf("stopping: %v", err)
				}
			}
			if _, err := a.Authorize(ctx, c.Request); err == nil {
				t.Error("a stopped authorizer still authorizes")
			}
			cancel()
		}
	}
	l := s.start(t, c.host(t))
	round(l)
	if s.path != "" {
		before := resourcesOf(l.process.pid())
		round(l)
		eventually(t, func() string { return resourcesOf(l.process.pid()).beyond(before) })
		return
	}
	l.stop(t)
	before := ownResources()
	l = s.start(t, c.host(t))
	round(l)
	l.stop(t)
	eventually(t, func() string { return ownResources().beyond(before) })
}
