package wire

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// fakeHost implements all services and records the calls.
type fakeHost struct {
	mu      sync.Mutex
	secrets map[string][]byte
	asked   []string

	prompting chan context.Context // if not nil, Prompt sends its context and waits until it is done
	answered  chan error
	redirect  *fakeCallback
}

func (h *fakeHost) note(words ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, strings.Join(words, " "))
}

func (h *fakeHost) Secret(_ context.Context, key string) ([]byte, bool, error) {
	v, ok := h.secrets[key]
	return v, ok, nil
}

func (h *fakeHost) SetSecret(_ context.Context, key string, value []byte, label string) error {
	h.secrets[key] = value
	h.note("set", key, label)
	return nil
}

func (h *fakeHost) DeleteSecret(_ context.Context, key string) error {
	delete(h.secrets, key)
	return nil
}

func (h *fakeHost) OpenURL(_ context.Context, url, why string) error {
	h.note("open", url, why)
	return nil
}

func (h *fakeHost) Prompt(ctx context.Context, p sdk.Prompt) (map[string]string, error) {
	if h.prompting != nil {
		h.prompting <- ctx
		<-ctx.Done()
		h.answered <- ctx.Err()
		return nil, ctx.Err()
	}
	answers := map[string]string{}
	for _, f := range p.Fields {
		answers[f.Name] = f.Label
		if f.Secret {
			answers[f.Name] += " (hidden)"
		}
	}
	return answers, nil
}

func (h *fakeHost) Callback(_ context.Context, path string) (sdk.Callback, error) {
	if path == "/panic" {
		panic("ouch")
	}
	h.redirect = &fakeCallback{url: "http://127.0.0.1:1" + path, closed: make(chan struct{})}
	return h.redirect, nil
}

func (h *fakeHost) Authorize(_ context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	if r.Method == "" {
		return sdk.Credential{}, &sdk.Error{Code: sdk.NeedsLogin, Message: "log in first", Hint: "junctor login"}
	}
	return sdk.Credential{Headers: map[string]string{"Authorization": r.Method + r.URL + r.Resource + r.Subject +
		strings.Join(r.Scopes, ",")},
		Query: map[string]string{"k": "v"}, Account: "alice", Expires: time.Unix(1, 2)}, nil
}

func (h *fakeHost) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{Retry: c.Status == 401, NeedsLogin: c.Attempt == 2,
		Reason: strings.Join(c.WWWAuthenticate, ","), Scopes: c.Scopes}, nil
}

func (h *fakeHost) Event(_ context.Context, name, detail string) error {
	h.note("event", name, detail)
	return nil
}

func (h *fakeHost) all() sdk.Host { return sdk.Host{Secrets: h, Person: h, Credentials: h, Events: h} }

type fakeCallback struct {
	url    string
	closed chan struct{}
}

func (c *fakeCallback) URL() string { return c.url }

func (c *fakeCallback) Wait(ctx context.Context) (string, error) {
	if strings.HasSuffix(c.url, "/never") {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return "code=1", nil
}

func (c *fakeCallback) Close() error {
	close(c.closed)
	return nil
}

// asHost returns the services of a transport that was opened with the given
// capability.
func asHost(t *testing.T, g grants, capability string) (sdk.Host, *pair) {
	t.Helper()
	var host sdk.Host
	p := attach(t, &sdk.Plugin{Transports: map[string]sdk.Transport{"t": opener(func(_ context.Context, s *sdk.Server) (
		sdk.Conn, error,
	) {
		host = s.Host
		return newEcho(), nil
	})}}, g)
	s, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "i", Capability: capability})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return host, p
}

func TestSecrets(t *testing.T) {
	h := &fakeHost{secrets: map[string][]byte{}}
	host, _ := asHost(t, grants{"c": h.all()}, "c")
	if v, found, err := host.Secrets.Secret(t.Context(), "k"); v != nil || found || err != nil {
		t.Errorf("before: %q, %t, %v", v, found, err)
	}
	if err := host.Secrets.SetSecret(t.Context(), "k", []byte("\x00v"), "label"); err != nil {
		t.Error(err)
	}
	if v, found, err := host.Secrets.Secret(t.Context(), "k"); string(v) != "\x00v" || !found || err != nil {
		t.Errorf("set: %q, %t, %v", v, found, err)
	}
	if err := host.Secrets.SetSecret(t.Context(), "empty", nil, ""); err != nil {
		t.Error(err)
	}
	if v, found, err := host.Secrets.Secret(t.Context(), "empty"); len(v) != 0 || !found || err != nil {
		t.Errorf("empty: %q, %t, %v", v, found, err)
	}
	if err := host.Secrets.DeleteSecret(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	if _, found, _ := host.Secrets.Secret(t.Context(), "k"); found {
		t.Error("the secret was not deleted")
	}
}

func TestPerson(t *testing.T) {
	h := &fakeHost{}
	host, _ := asHost(t, grants{"c": h.all()}, "c")
	if err := host.Person.OpenURL(t.Context(), "https://a/", "to log in"); err != nil {
		t.Error(err)
	}
	answers, err := host.Person.Prompt(t.Context(), sdk.Prompt{Title: "t",
		Fields: []sdk.PromptField{{Name: "u", Label: "User"}, {Name: "p", Label: "Password", Secret: true}}})
	if want := map[string]string{"u": "User", "p": "Password (hidden)"}; err != nil ||
		!reflect.DeepEqual(answers, want) {
		t.Errorf("got %v, %v", answers, err)
	}
	c, err := host.Person.Callback(t.Context(), "/cb")
	if err != nil || c.URL() != "http://127.0.0.1:1/cb" {
		t.Fatal(c, err)
	}
	if q, err := c.Wait(t.Context()); q != "code=1" || err != nil {
		t.Errorf("got %q, %v", q, err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	within(t, "the close of the listener", h.redirect.closed)
	if _, err := c.Wait(t.Context()); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("after Close: %v", err)
	}
	if !slices.Equal(h.asked, []string{"open https://a/ to log in"}) {
		t.Errorf("calls of the host: %q", h.asked)
	}
}

func TestCredentials(t *testing.T) {
	h := &fakeHost{}
	host, _ := asHost(t, grants{"c": h.all()}, "c")
	r := sdk.AuthRequest{Method: "M", URL: "U", Resource: "R", Scopes: []string{"a", "b"}, Subject: "S"}
	got, err := host.Credentials.Authorize(t.Context(), r)
	want := sdk.Credential{Headers: map[string]string{"Authorization": "MURSa,b"}, Query: map[string]string{"k": "v"},
		Account: "alice", Expires: time.Unix(1, 2)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = host.Credentials.Authorize(t.Context(), sdk.AuthRequest{})
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.NeedsLogin || e.Hint != "junctor login" {
		t.Errorf("refused with %#v", err)
	}
	res, err := host.Credentials.Challenge(t.Context(),
		sdk.Challenge{AuthRequest: r, Status: 401, WWWAuthenticate: []string{"Bearer", "Basic"}, Attempt: 2})
	if err != nil || !reflect.DeepEqual(res,
		sdk.ChallengeResult{Retry: true, NeedsLogin: true, Reason: "Bearer,Basic", Scopes: []string{"a", "b"}}) {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := host.Events.Event(t.Context(), "degraded", "why"); err != nil ||
		!slices.Equal(h.asked, []string{"event degraded why"}) {
		t.Errorf("%v, calls of the host: %q", err, h.asked)
	}
}

// everything calls each service once.
func everything(ctx context.Context, host sdk.Host) map[string]error {
	errs := map[string]error{}
	_, _, errs["secret"] = host.Secrets.Secret(ctx, "k")
	errs["set"] = host.Secrets.SetSecret(ctx, "k", nil, "")
	errs["delete"] = host.Secrets.DeleteSecret(ctx, "k")
	errs["url"] = host.Person.OpenURL(ctx, "", "")
	_, errs["prompt"] = host.Person.Prompt(ctx, sdk.Prompt{})
	_, errs["callback"] = host.Person.Callback(ctx, "/")
	_, errs["authorize"] = host.Credentials.Authorize(ctx, sdk.AuthRequest{})
	_, errs["challenge"] = host.Credentials.Challenge(ctx, sdk.Challenge{})
	return errs
}

func TestNotGranted(t *testing.T) {
	host, _ := asHost(t, grants{"c": {}}, "c")
	for what, err := range everything(t.Context(), host) {
		if sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := host.Events.Event(t.Context(), "n", "d"); err != nil {
		t.Errorf("an event that the host ignores: %v", err)
	}
}

func TestUnknownCapability(t *testing.T) {
	h := &fakeHost{secrets: map[string][]byte{}}
	host, _ := asHost(t, grants{"c": h.all()}, "guessed")
	errs := everything(t.Context(), host)
	errs["event"] = host.Events.Event(t.Context(), "n", "d")
	for what, err := range errs {
		if sdk.CodeOf(err) != sdk.Denied {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(h.asked) > 0 {
		t.Errorf("calls of the host: %q", h.asked)
	}
}

// TestCallbackOwner checks that only the capability that opened a listener can
// use it.
func TestCallbackOwner(t *testing.T) {
	h := &fakeHost{}
	host, p := asHost(t, grants{"c": h.all(), "d": h.all()}, "c")
	c, err := host.Person.Callback(t.Context(), "/cb")
	if err != nil {
		t.Fatal(err)
	}
	stolen := &callback{services: &services{hostClient: p.server.host, capability: "d"}, handle: c.(*callback).handle}
	if _, err := stolen.Wait(t.Context()); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("another capability got %v", err)
	}
	if err := stolen.Close(); err != nil {
		t.Error(err)
	}
	if q, err := c.Wait(t.Context()); q == "" || err != nil {
		t.Errorf("its owner got %q, %v", q, err)
	}
}

// TestCallbackLeftBehind checks that a listener is closed after its capability
// was revoked, whether or not the plugin closes it.
func TestCallbackLeftBehind(t *testing.T) {
	h := &fakeHost{}
	g := grants{"c": h.all(), "d": h.all()}
	host, p := asHost(t, g, "c")
	late, err := host.Person.Callback(t.Context(), "/late")
	if err != nil {
		t.Fatal(err)
	}
	closedLate := h.redirect.closed
	if _, err := host.Person.Callback(t.Context(), "/never"); err != nil {
		t.Fatal(err)
	}
	closedNever := h.redirect.closed
	delete(g, "c")
	if _, err := late.Wait(t.Context()); sdk.CodeOf(err) != sdk.Denied {
		t.Errorf("waiting without a capability: %v", err)
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	within(t, "the close of the one that is closed late", closedLate)
	if _, err := (&services{hostClient: p.server.host, capability: "d"}).Callback(t.Context(), "/next"); err != nil {
		t.Fatal(err)
	}
	within(t, "the close of the one that nobody closes", closedNever)
}

// TestHostPanics checks that a panic in the host's code does not end the host.
func TestHostPanics(t *testing.T) {
	h := &fakeHost{}
	host, _ := asHost(t, grants{"c": h.all()}, "c")
	if _, err := host.Person.Callback(t.Context(), "/panic"); sdk.CodeOf(err) != sdk.Panicked {
		t.Errorf("got %v", err)
	}
	if err := host.Person.OpenURL(t.Context(), "u", "w"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestAskCanceled checks that cancelling a call of the plugin cancels the
// service in the host.
func TestAskCanceled(t *testing.T) {
	h := &fakeHost{prompting: make(chan context.Context), answered: make(chan error, 1)}
	host, _ := asHost(t, grants{"c": h.all()}, "c")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := host.Person.Prompt(ctx, sdk.Prompt{})
		done <- err
	}()
	within(t, "the prompt", h.prompting)
	cancel()
	if err := within(t, "the end of the call", done); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := within(t, "the end of the prompt", h.answered); !errors.Is(err, context.Canceled) {
		t.Errorf("the context in the host ended with %v", err)
	}
}

// TestPluginDies checks that the end of a plugin cancels its calls and closes
// its listeners.
func TestPluginDies(t *testing.T) {
	h := &fakeHost{prompting: make(chan context.Context), answered: make(chan error, 1)}
	host, p := asHost(t, grants{"c": h.all()}, "c")
	if _, err := host.Person.Callback(t.Context(), "/never"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := host.Person.Prompt(context.Background(), sdk.Prompt{})
		done <- err
	}()
	within(t, "the prompt", h.prompting)
	_ = p.conn.Close()
	if err := within(t, "the end of the prompt", h.answered); !errors.Is(err, context.Canceled) {
		t.Errorf("the context in the host ended with %v", err)
	}
	if err := within(t, "the end of the call", done); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("the call of the plugin returned %v", err)
	}
	within(t, "the close of the listener", h.redirect.closed)
	p.Wait()
}
