package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// authRequest returns a request for an authorizer with the given behaviour.
func (h *testHost) authRequest(do, arg string) AuthRequest {
	h.t.Helper()
	settings, err := json.Marshal(map[string]string{"do": do, "arg": arg})
	if err != nil {
		h.t.Fatal(err)
	}
	return AuthRequest{
		Spec: h.spec("", ""), Component: "evil", Server: "s", URL: "https://s.example/mcp", Tenant: "t",
		Settings: func(context.Context) ([]byte, error) { return settings, nil },
	}
}

func (h *testHost) authorizer(r AuthRequest) *Authorizer {
	a := h.Authorizer(r)
	h.t.Cleanup(a.Close)
	return a
}

// presents returns a header of the credential. It fails the test if there is none.
func (a *Authorizer) presents(t *testing.T, name string) string {
	t.Helper()
	c, err := a.Authorize(t.Context(), sdk.AuthRequest{})
	if err != nil {
		t.Error(err)
	}
	return c.Headers[name]
}

// TestAuthorizer checks that an authorizer starts on first use, that concurrent callers
// share one start, and that it restarts after its process has ended.
func TestAuthorizer(t *testing.T) {
	h := newHost(t)
	host := &plugintest.Host{Answers: map[string]string{"user": "alice"}}
	host.Keep("token", plugintest.Canary)
	r := h.authRequest("slow", "treasure")
	r.Grant = host.Services()
	asked := 0
	settings := r.Settings
	r.Settings = func(ctx context.Context) ([]byte, error) { asked++; return settings(ctx) }
	a := h.authorizer(r)
	if len(h.Status()) > 0 || asked > 0 {
		t.Errorf("before first use: %+v", h.Status())
	}
	var all sync.WaitGroup
	var processes [50]string
	for i := range processes {
		all.Go(func() { processes[i] = a.presents(t, "X-Process") })
	}
	all.Wait()
	if same := slices.Compact(processes[:]); len(same) != 1 || !strings.HasSuffix(same[0], " 1") || asked != 1 {
		t.Errorf("processes and their authorizers: %q, %d settings", same, asked)
	}
	if got := a.presents(t, "X-Server"); got != "s https://s.example/mcp t" {
		t.Errorf("the authorizer got %q", got)
	}
	if s := h.Status(); s[0].Connections != 0 || s[0].Starts != 1 {
		t.Errorf("an idle authorizer keeps its process in use: %+v", s)
	}
	if who, err := a.Login(t.Context(), nil); who != "alice" || err != nil {
		t.Errorf("login: %q, %v", who, err)
	}
	if err := a.Logout(t.Context()); err != nil || len(host.Secrets()) > 0 {
		t.Errorf("logout: %v, left %v", err, host.Secrets())
	}
	kill(t, h.pid(), syscall.SIGKILL)
	eventually.NoError(t, func() error {
		c, err := a.Authorize(t.Context(), sdk.AuthRequest{})
		if got := c.Headers["X-Process"]; err == nil && (got == processes[0] || !strings.HasSuffix(got, " 1")) {
			t.Errorf("got %q after %q", got, processes[0])
		}
		return err
	})
	a.Close()
	a.Close()
	if _, closed := host.Secrets()["closed"]; !closed {
		t.Error("the authorizer was not closed, or could not use the host's services while closing")
	}
	_, err := a.Authorize(t.Context(), sdk.AuthRequest{})
	mustFail(t, err, fault.UpstreamStopped, "is closed")
}

// TestAuthorizerTexts checks that displayed texts are short, on one line and without
// secrets.
func TestAuthorizerTexts(t *testing.T) {
	h := newHost(t)
	h.Conceal(func(s string) string { return strings.ReplaceAll(s, "treasure", "***") })
	a := h.authorizer(h.authRequest("", "treasure"))
	st, err := a.Status(t.Context())
	if err != nil || st.State != "unknown" || st.Account != "alice ***" || st.Expires.Unix() != 5 {
		t.Errorf("status %+v, %v", st, err)
	}
	res, err := a.Challenge(t.Context(), sdk.Challenge{Attempt: 1})
	if err != nil || !res.Retry || !strings.HasPrefix(res.Reason, "*** [31m") || len(res.Reason) > textSize+4 ||
		!slices.Equal(res.Scopes, []string{"repo"}) {
		t.Errorf("challenge %+v, %v", res, err)
	}
	c, err := a.Authorize(t.Context(), sdk.AuthRequest{Method: "account", Resource: strings.Repeat("é\x00", 300)})
	if err != nil || len(c.Account) > nameSize+4 || strings.Contains(c.Account, "\x00") {
		t.Errorf("account %q, %v", c.Account, err)
	}
	_, err = a.Authorize(t.Context(), sdk.AuthRequest{Method: "login", Resource: "treasure"})
	f := mustFail(t, err, fault.UpstreamLogin, "the token *** is old", "log in")
	if f.Plugin != "evil" || sdk.CodeOf(err) != sdk.NeedsLogin {
		t.Errorf("got %#v", f)
	}
}

// TestAuthorizerErrors checks that each failure is reported and does not affect the next
// call.
func TestAuthorizerErrors(t *testing.T) {
	h := newHost(t)
	h.limits.backoffFirst, h.limits.crashes = time.Millisecond, 100
	for _, c := range []struct {
		name, do, method string
		change           func(*AuthRequest)
		code             fault.Code
		words            string
	}{
		{name: "settings that cannot be looked up", code: fault.Internal, words: "no such secret",
			change: func(r *AuthRequest) {
				r.Settings = func(context.Context) ([]byte, error) {
					return nil, fault.New(fault.Internal, "no such secret")
				}
			}},
		{name: "settings that nobody can explain", code: fault.Internal, words: "no such file",
			change: func(r *AuthRequest) {
				r.Settings = func(context.Context) ([]byte, error) { return nil, errors.New("no such file") }
			}},
		{name: "settings that are refused", do: "invalid", code: fault.UpstreamSettings, words: "do: is not allowed"},
		{name: "no such provider", code: fault.PluginBroken, words: `no auth provider "other"`,
			change: func(r *AuthRequest) { r.Component = "other" }},
		{name: "no such program", code: fault.PluginNotFound, change: func(r *AuthRequest) { r.Spec.Path += "-not" }},
		{name: "a start that panics", do: "panic", code: fault.PluginBroken, words: "the author's mistake"},
		{name: "a start that ends the process", do: "exit", code: fault.PluginExited, words: "exited with status 7"},
		{name: "a start that asks for what is not granted", do: "secret", code: fault.PluginBroken,
			words: "does not offer secrets"},
		{name: "a panic", method: "panic", code: fault.PluginBroken, words: "the author's mistake"},
		{name: "the end of the process", method: "exit", code: fault.PluginExited, words: "exited with status 7"},
		{name: "a secret that is not granted", method: "secret", code: fault.PluginBroken,
			words: "does not offer secrets"},
		{name: "too many headers", method: "many", code: fault.PluginBroken, words: `plugin "evil"`},
		{name: "too much", method: "large", code: fault.PluginBroken, words: "the limit is 65536"},
		{name: "one header twice", method: "twice", code: fault.PluginBroken, words: "Authorization twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := h.authRequest(c.do, "treasure")
			if c.change != nil {
				c.change(&r)
			}
			a := h.authorizer(r)
			for range 2 { // the first failure leaves no state
				_, err := a.Authorize(h.soon(), sdk.AuthRequest{Method: c.method})
				mustFail(t, err, c.code, c.words)
			}
			if c.method != "" {
				eventually.NoError(t, func() error {
					_, err := a.Authorize(h.soon(), sdk.AuthRequest{})
					return err
				})
			}
			a.Close()
		})
	}
}

// TestAuthorizerCancellation checks that calls end with their context, and when the
// authorizer is closed.
func TestAuthorizerCancellation(t *testing.T) {
	h := newHost(t)
	a := h.authorizer(h.authRequest("", ""))
	a.presents(t, "")
	for _, method := range []string{"hang", "wait"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		takes(t, method, time.Second, func() {
			if _, err := a.Authorize(ctx, sdk.AuthRequest{Method: method}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", method, err)
			}
		})
		cancel()
	}
	done := make(chan error, 1)
	go func() {
		_, err := a.Authorize(context.Background(), sdk.AuthRequest{Method: "hang"})
		done <- err
	}()
	eventually.True(t, "it asks", func() bool { return h.Status()[0].Connections > 0 })
	takes(t, "Close", 2*time.Second, a.Close)
	mustFail(t, <-done, fault.UpstreamStopped)

	stuck := h.authorizer(h.authRequest("hang", ""))
	stuck.limit = 100 * time.Millisecond
	takes(t, "a start that hangs", 2*time.Second, func() {
		_, err := stuck.Authorize(t.Context(), sdk.AuthRequest{})
		mustFail(t, err, fault.PluginUnresponsive, "was not ready within 100ms")
	})
	stays := h.authorizer(h.authRequest("stay", ""))
	stays.presents(t, "")
	h.limits.closeStream = 200 * time.Millisecond
	takes(t, "closing what stays", 2*time.Second, stays.Close)
	if s := h.Status(); s[0].Starts != 1 {
		t.Errorf("the process did not survive: %+v", s)
	}
}

// TestCapabilities checks that a capability is invalid in another process, if guessed,
// and after it was revoked.
func TestCapabilities(t *testing.T) {
	h := newHost(t)
	drawers := map[string]*Authorizer{}
	for _, name := range []string{"a", "b"} {
		host := new(plugintest.Host)
		host.Keep("key", "treasure of "+name)
		r := h.authRequest("", "")
		r.Spec.Alone, r.Grant = name, host.Services()
		drawers[name] = h.authorizer(r)
	}
	ask := func(a *Authorizer, method, capability string) (string, error) {
		c, err := a.Authorize(h.soon(), sdk.AuthRequest{Method: method, URL: capability, Resource: "key"})
		return c.Headers["X"], err
	}
	a, b := drawers["a"], drawers["b"]
	for name, drawer := range drawers {
		if got, err := ask(drawer, "secret", ""); got != "treasure of "+name || err != nil {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	own, err := ask(a, "capability", "")
	if err != nil || len(own) < 20 {
		t.Fatalf("capability %q, %v", own, err)
	}
	if got, err := ask(a, "stolen", own); got != "treasure of a" || err != nil {
		t.Errorf("its own: %q, %v", got, err)
	}
	for what, capability := range map[string]string{"that of another process": own,
		"one that was guessed": "guessed", "none": ""} {
		got, err := ask(b, "stolen", capability)
		if got != "" || sdk.CodeOf(err) != sdk.Denied {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	l := a.current.link
	other := h.authorizer(AuthRequest{Spec: a.spec, Component: "evil", Server: "other"})
	if got, err := ask(other, "secret", ""); got != "" || err == nil {
		t.Errorf("a neighbour without a grant has %q, %v", got, err)
	}
	a.Close()
	if got, err := ask(other, "stolen", own); got != "" || sdk.CodeOf(err) != sdk.Denied {
		t.Errorf("one that was revoked: %q, %v", got, err)
	}
	if _, ok := l.Grant(own); ok {
		t.Error("the capability was not revoked")
	}
	kill(t, h.pid(), syscall.SIGKILL)
}

// TestAuthorizerIdle checks that an idle process is stopped and restarted on demand.
func TestAuthorizerIdle(t *testing.T) {
	h := newHost(t, func(h *testHost) { h.limits.idle = 20 * time.Millisecond })
	a := h.authorizer(h.authRequest("", ""))
	first := a.presents(t, "X-Process")
	eventually.True(t, "it has stopped", func() bool { return h.Status()[0].State == Stopped })
	if second := a.presents(t, "X-Process"); second == first {
		t.Errorf("got %q twice", first)
	}
}

// slowPerson is a user who never answers.
type slowPerson struct{ sdk.Person }

func (slowPerson) Prompt(ctx context.Context, _ sdk.Prompt) (map[string]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestRequestLimits checks that a plugin with too many requests gets errors, and that a
// plugin with too large requests is killed.
func TestRequestLimits(t *testing.T) {
	h := newHost(t)
	h.limits.backoffFirst = time.Millisecond
	r := h.authRequest("", "")
	r.Grant = sdk.Host{Person: slowPerson{}, Secrets: new(plugintest.Host).Services().Secrets}
	a := h.authorizer(r)
	takes(t, "the flood", 5*time.Second, func() {
		c, err := a.Authorize(h.soon(), sdk.AuthRequest{Method: "flood"})
		if refused, _ := strconv.Atoi(c.Headers["X-Refused"]); err != nil || refused < 1 || refused > 744 {
			t.Errorf("%d of 1000 were refused, %v", refused, err)
		}
	})
	a.presents(t, "")
	_, err := a.Authorize(h.soon(), sdk.AuthRequest{Method: "shout"})
	mustFail(t, err, fault.PluginBroken, "the limit is 131072")
	eventually.NoError(t, func() error {
		_, err := a.Authorize(h.soon(), sdk.AuthRequest{})
		return err
	})
}

// TestSharedProcess checks that a connection and an authorizer share a process, and that
// closing the authorizer does not affect the connection's challenges.
func TestSharedProcess(t *testing.T) {
	h := newHost(t)
	a := h.authorizer(h.authRequest("", ""))
	c := h.mustOpen(h.request("", "", ""))
	a.presents(t, "")
	c.echoes(t)
	a.Close()
	c.echoes(t)
	if s := h.Status(); len(s) != 1 || s[0].Starts != 1 || s[0].Connections != 1 {
		t.Errorf("status %+v", s)
	}
}
