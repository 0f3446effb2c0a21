package wire

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A starter is an auth provider without settings.
type starter func(context.Context, *sdk.AuthServer) (sdk.Authorizer, error)

func (starter) Schema() sdk.Schema                     { return sdk.Schema{} }
func (starter) Validate(context.Context, []byte) error { return sdk.AttrErrorf("token", "is empty") }
func (s starter) Start(ctx context.Context, a *sdk.AuthServer, _ []byte) (sdk.Authorizer, error) {
	return s(ctx, a)
}

// token is an authorizer with the required methods only.
type token struct{ closed chan struct{} }

func (token) Authorize(_ context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	if r.URL == "panic" {
		panic("ouch")
	}
	return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + r.URL}}, nil
}

func (token) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{NeedsLogin: c.Status == 401}, nil
}

func (t token) Close() error {
	close(t.closed)
	return nil
}

// account is an authorizer with all optional methods.
type account struct {
	token
	host sdk.Host
}

func (a *account) Login(ctx context.Context, scopes []string) (string, error) {
	answers, err := a.host.Person.Prompt(ctx, sdk.Prompt{Fields: []sdk.PromptField{{Name: "user", Label: "alice"}}})
	if err != nil {
		return "", err
	}
	return answers["user"] + " " + scopes[0], nil
}

func (a *account) Logout(context.Context) error { return sdk.Errorf(sdk.Denied, "never") }

func (a *account) Status(context.Context) (sdk.AuthStatus, error) {
	return sdk.AuthStatus{State: "ready", Account: "alice", Scopes: []string{"s"}, Expires: time.Unix(5, 6),
		Ends: time.Unix(7, 8)}, nil
}

func authPair(t *testing.T, s starter, g grants) *pair {
	return attach(t, &sdk.Plugin{Auths: map[string]sdk.Auth{"a": s}}, g)
}

func TestAuth(t *testing.T) {
	closed := make(chan struct{})
	h := &fakeHost{}
	p := authPair(t, func(_ context.Context, a *sdk.AuthServer) (sdk.Authorizer, error) {
		if a.Name != "s" || a.Tenant != "n" || a.Log == nil {
			t.Errorf("started with %+v", a)
		}
		return &account{token: token{closed}, host: a.Host}, nil
	}, grants{"c": h.all()})
	if err := p.AuthStart(t.Context(),
		AuthStartArgs{Component: "a", Server: "s", Tenant: "n", Handle: "h", Capability: "c"}); err != nil {
		t.Fatal(err)
	}
	a := p.Authorizer("h")
	cred, err := a.Authorize(t.Context(), sdk.AuthRequest{URL: "u"})
	if err != nil || !reflect.DeepEqual(cred, sdk.Credential{Headers: map[string]string{"Authorization": "Bearer u"}}) {
		t.Errorf("authorize: %+v, %v", cred, err)
	}
	res, err := a.Challenge(t.Context(), sdk.Challenge{Status: 401})
	if err != nil || !res.NeedsLogin {
		t.Errorf("challenge: %+v, %v", res, err)
	}
	if who, err := a.Login(t.Context(), []string{"s"}); who != "alice s" || err != nil {
		t.Errorf("login: %q, %v", who, err)
	}
	if err := a.Logout(t.Context()); sdk.CodeOf(err) != sdk.Denied {
		t.Errorf("logout: %v", err)
	}
	st, err := a.Status(t.Context())
	if err != nil || !reflect.DeepEqual(st, sdk.AuthStatus{State: "ready", Account: "alice", Scopes: []string{"s"},
		Expires: time.Unix(5, 6), Ends: time.Unix(7, 8)}) {
		t.Errorf("status: %+v, %v", st, err)
	}
	if _, err := a.Authorize(t.Context(), sdk.AuthRequest{URL: "panic"}); sdk.CodeOf(err) != sdk.Panicked {
		t.Errorf("panic: %v", err)
	}
	for range 2 { // stopping an authorizer that does not exist succeeds
		if err := a.Stop(t.Context()); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	within(t, "the close", closed)
	if _, err := a.Authorize(t.Context(), sdk.AuthRequest{}); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("after stop: %v", err)
	}
	if errs := list(p.Validate(t.Context(), "auth", "a", nil)); len(errs) != 1 || errs[0].Error() != "token: is empty" {
		t.Errorf("validate: %v", errs)
	}
}

// TestAuthLeast checks the answers for an authorizer without optional methods.
func TestAuthLeast(t *testing.T) {
	p := authPair(t, func(context.Context, *sdk.AuthServer) (sdk.Authorizer, error) {
		return struct{ sdk.Authorizer }{token{}}, nil
	}, nil)
	if err := p.AuthStart(t.Context(), AuthStartArgs{Component: "a", Handle: "h"}); err != nil {
		t.Fatal(err)
	}
	a := p.Authorizer("h")
	_, loginErr := a.Login(t.Context(), nil)
	for _, err := range []error{loginErr, a.Logout(t.Context())} {
		if sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("got %v", err)
		}
	}
	if st, err := a.Status(t.Context()); st.State != "unknown" || err != nil {
		t.Errorf("status %+v, %v", st, err)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAuthRefuses(t *testing.T) {
	closed := make(chan struct{})
	p := authPair(t, func(_ context.Context, a *sdk.AuthServer) (sdk.Authorizer, error) {
		switch a.Name {
		case "nil":
			return nil, nil
		case "panic":
			panic("ouch")
		case "error":
			return nil, sdk.AttrErrorf("token", "is empty")
		case "again":
			return token{closed}, nil
		}
		return token{make(chan struct{})}, nil
	}, nil)
	start := func(name, component string) error {
		return p.AuthStart(t.Context(), AuthStartArgs{Component: component, Server: name, Handle: "h"})
	}
	if err := start("first", "a"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, component string
		want            sdk.Code
	}{{"x", "b", sdk.Unimplemented}, {"nil", "a", sdk.Internal}, {"panic", "a", sdk.Panicked},
		{"error", "a", sdk.Invalid}, {"again", "a", sdk.Internal}} {
		if err := start(c.name, c.component); sdk.CodeOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	within(t, "the close of the one too many", closed)
}

// TestAuthShutdown checks that the end of the plugin closes its authorizers,
// and that an authorizer started after the call was cancelled is closed too.
func TestAuthShutdown(t *testing.T) {
	entered, first, late := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p := authPair(t, func(ctx context.Context, a *sdk.AuthServer) (sdk.Authorizer, error) {
		if a.Name == "late" {
			close(entered)
			<-ctx.Done()
			return token{late}, nil
		}
		return token{first}, nil
	}, nil)
	if err := p.AuthStart(t.Context(), AuthStartArgs{Component: "a", Handle: "1"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.AuthStart(ctx, AuthStartArgs{Component: "a", Server: "late", Handle: "2"}) }()
	within(t, "Start", entered)
	cancel()
	if err := within(t, "the end of Start", done); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	within(t, "the close of what came late", late)
	if err := p.Shutdown(t.Context(), patience); err != nil {
		t.Error(err)
	}
	within(t, "the close", first)
	if err := p.AuthStart(t.Context(), AuthStartArgs{Component: "a", Handle: "3"}); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAttach(t *testing.T) {
	p := attach(t, &sdk.Plugin{Transports: map[string]sdk.Transport{"t": opener(openEcho)}}, grants{})
	manifest, err := p.Attach(t.Context(), "again", "")
	want, _ := p.server.plugin.Describe(Majors(), Features)
	if err != nil || !slices.Equal(manifest, want.JSON()) {
		t.Errorf("got %q, %v", manifest, err)
	}
}
