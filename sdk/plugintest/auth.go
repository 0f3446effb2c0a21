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

func (c Auth) questions() []question {
	about := func(what string, ask func(t testing.TB, s *subject, c *Auth)) question {
		return question{"auth " + c.Name + " " + what, func(t testing.TB, s *subject) { ask(t, s, &c) }}
	}
	return []question{
		about("refusals", func(t testing.TB, s *subject, c *Auth) { refusals(t, s, component{"auth", c.Name}, c.Refused) }),
		about("secret", askAuthSecret),
		about("start", askStart),
		about("authorize", askAuthorize),
		about("cancel", askAuthCancel),
		about("login", askLogin),
		about("refused services", askRefusedServices),
		about("stop", askStop),
	}
}

func (c *Auth) host(t testing.TB) *Host {
	if c.Host == nil {
		return nil
	}
	return c.Host(t)
}

// asked bounds one call.
func asked() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// startAuth starts an authorizer.
func (l *link) startAuth(t testing.TB, c *Auth, capability string) *wire.RemoteAuthorizer {
	t.Helper()
	ctx, cancel := asked()
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

// askAuthCancel: nobody waits for an authorizer longer than he wants to, and it
// does not go on for nobody.
func askAuthCancel(t testing.TB, s *subject, c *Auth) {
	hanging := *c
	if c.Hang != nil {
		hanging.Settings = c.Hang(t)
	}
	l := s.start(t, c.host(t))
	a := l.startAuth(t, &hanging, capabilityAll)
	for _, wait := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		_, err := a.Authorize(ctx, c.Request)
		cancel()
		late, ok := errors.AsType[*wire.LateError](l.note(err))
		if c.Hang != nil && wait > time.Millisecond && sdk.CodeOf(err) != sdk.Deadline && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Authorize was to wait until it is cancelled: %v", err)
		}
		ctx, cancel = context.WithTimeout(context.Background(), interrupted)
		if ok && !late.Answered(ctx) {
			t.Errorf("Authorize goes on %s after it was cancelled", interrupted)
		}
		cancel()
	}
}

// authorize asks for a credential and compares it.
func (l *link) authorize(t testing.TB, c *Auth, a *wire.RemoteAuthorizer) error {
	t.Helper()
	ctx, cancel := asked()
	defer cancel()
	cred, err := a.Authorize(ctx, c.Request)
	if l.note(err) != nil {
		return err
	}
	_ = l.note(&sdk.Error{Message: "account " + cred.Account}) // people see it
	for what, pair := range map[string][2]map[string]string{"header": {cred.Headers, c.Want.Headers}, "query": {cred.Query, c.Want.Query}} {
		for name, want := range pair[1] {
			if got := pair[0][name]; got != want {
				t.Errorf("%s %s is %q, want %q", what, name, got, want)
			}
		}
	}
	if len(cred.Headers)+len(cred.Query) == 0 {
		t.Error("the credential holds nothing to present")
	}
	return nil
}

// login logs in, where that is needed.
func (l *link) login(t testing.TB, c *Auth, a *wire.RemoteAuthorizer) {
	t.Helper()
	if !c.Login {
		return
	}
	ctx, cancel := asked()
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

// askAuthSecret: secrets in settings and answers stay there.
func askAuthSecret(t testing.TB, s *subject, c *Auth) {
	host := c.host(t)
	schema := s.schema(t, component{"auth", c.Name})
	if sensitive(&schema) && !strings.Contains(c.Settings, Canary) {
		t.Error("the provider has sensitive settings; let Settings put Canary into one")
	}
	l := s.start(t, host)
	complain(t, l, component{"auth", c.Name}, c.Settings)
	a := l.startAuth(t, c, capabilityAll)
	l.login(t, c, a)
	if err := l.authorize(t, c, a); err != nil {
		t.Errorf("authorizing: %v", err)
	}
	ctx, cancel := asked()
	defer cancel()
	st, err := a.Status(ctx)
	_ = l.note(err)
	_ = l.note(&sdk.Error{Message: st.State + " " + st.Account, Output: st.Scopes})
	_, err = a.Challenge(ctx, sdk.Challenge{AuthRequest: c.Request, Status: 401, WWWAuthenticate: []string{"Bearer"}, Attempt: 1})
	_ = l.note(err)
}

// askStart: making ready waits for no person, and works more than once.
func askStart(t testing.TB, s *subject, c *Auth) {
	host := c.host(t)
	l := s.start(t, host)
	for range 2 {
		l.startAuth(t, c, capabilityAll)
	}
	if host != nil && len(host.Prompts())+len(host.Opened()) > 0 {
		t.Errorf("starting asked a person: %v %v", host.Prompts(), host.Opened())
	}
}

// askAuthorize: many may ask at once, a refusal is answered, and a login is
// asked for where one is needed.
func askAuthorize(t testing.TB, s *subject, c *Auth) {
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
	ctx, cancel := asked()
	defer cancel()
	res, err := a.Challenge(ctx, sdk.Challenge{AuthRequest: c.Request, Status: 401, WWWAuthenticate: []string{`Bearer error="invalid_token"`}, Attempt: 1})
	if l.note(err) != nil {
		t.Errorf("challenge: %v", err)
	}
	if res.Retry && res.NeedsLogin {
		t.Error("a challenge was answered both with another try and with a login")
	}
}

// askLogin: a login lasts until a logout, also across a restart.
func askLogin(t testing.TB, s *subject, c *Auth) {
	host := c.host(t)
	l := s.start(t, host)
	a := l.startAuth(t, c, capabilityAll)
	ctx, cancel := asked()
	defer cancel()
	if !c.Login {
		if _, err := a.Login(ctx, nil); l.note(err) != nil && sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("a provider without a login answers one with the code %s: %v", sdk.Unimplemented, err)
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
			t.Errorf("after the logout %q still holds a secret", key)
		}
	}
}

// askRefusedServices: a host that grants nothing, or does not know the plugin's
// capability, is answered with an error and nothing worse.
func askRefusedServices(t testing.TB, s *subject, c *Auth) {
	l := s.start(t, c.host(t))
	for _, capability := range []string{capabilityNothing, "unknown"} {
		ctx, cancel := asked()
		defer cancel()
		handle := "refused " + capability
		err := l.note(l.AuthStart(ctx, wire.AuthStartArgs{Component: c.Name, Handle: handle, Settings: []byte(c.Settings), Capability: capability}))
		errs := map[string]error{"starting": err}
		if err == nil {
			a := l.Authorizer(handle)
			_, errs["authorizing"] = a.Authorize(ctx, c.Request)
			_, errs["logging in"] = a.Login(ctx, nil)
			errs["logging out"] = a.Logout(ctx)
			_, errs["status"] = a.Status(ctx)
			if c.Login && errs["logging in"] == nil {
				t.Error("a login succeeded without anybody to log in")
			}
		}
		for what, err := range errs {
			if code := sdk.CodeOf(l.note(err)); err != nil && (code == sdk.Panicked || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("%s without services: %v", what, err)
			}
		}
	}
	ctx, cancel := asked()
	defer cancel()
	if err := l.Health(ctx); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// askStop: what an authorizer used is given back, even by one that waits for a
// person who went home.
func askStop(t testing.TB, s *subject, c *Auth) {
	round := func(l *link) {
		for range 5 {
			a := l.startAuth(t, c, capabilityAll)
			l.login(t, c, a)
			if err := l.authorize(t, c, a); err != nil {
				t.Errorf("authorizing: %v", err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			_, _ = a.Login(ctx, nil) // given up soon
			cancel()
			ctx, cancel = asked()
			for range 2 {
				if err := l.note(a.Stop(ctx)); err != nil {
					t.Errorf("stopping: %v", err)
				}
			}
			if _, err := a.Authorize(ctx, c.Request); err == nil {
				t.Error("an authorizer that was stopped still authorizes")
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
