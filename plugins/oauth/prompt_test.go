package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// noTerminal is a user without a terminal.
type noTerminal struct{ sdk.Person }

func (noTerminal) Prompt(context.Context, sdk.Prompt) (map[string]string, error) {
	return nil, &sdk.Error{Code: sdk.Unimplemented, Reason: "no_terminal",
		Message: "there is a question, and no terminal to ask it on"}
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e.Hint
	}
	return ""
}

// enters returns a user who enters a client.
func enters(id, secret string) *plugintest.Host {
	return &plugintest.Host{Browser: plugintest.Follow,
		Answers: map[string]string{"client_id": id, "client_secret": secret}}
}

// at sets the ports of the listeners.
func (d *fixture) at(ports ...string) *fixture {
	d.authorizer.host.Person = &promptUser{Person: d.authorizer.host.Person, manualBrowser: newTablet(ports...)}
	return d
}

// A promptUser is a user with a terminal and a manualBrowser.
type promptUser struct {
	sdk.Person
	manualBrowser *manualBrowser
}

func (b *promptUser) OpenURL(ctx context.Context, address, why string) error {
	return b.manualBrowser.OpenURL(ctx, address, why)
}

func (b *promptUser) Callback(ctx context.Context, path string) (sdk.Callback, error) {
	return b.manualBrowser.Callback(ctx, path)
}

// TestEnteredClient: without another client the user is asked for one, once until a
// logout. AUO-01, AUO-05
func TestEnteredClient(t *testing.T) {
	for name, one := range map[string]struct {
		settings string
		meta     func(map[string]any)
		register http.HandlerFunc
		secret   string
		title    []string
	}{
		"not offered": {meta: without("registration_endpoint"), title: []string{"does not register clients"}},
		"refused": {register: plugintest.Reply(400, map[string]any{"error": "access_denied"}), secret: "s3cret",
			title: []string{"failed (access_denied)"}},
		"never": {settings: `{"registration":"never"}`, secret: "s3cret", title: []string{"set to never"}},
		"no document": {settings: `{"client_metadata_url":"https://app.example/c"}`,
			meta: without("registration_endpoint"), title: []string{"does not register clients"}},
		"documented": {
			meta:  both(without("registration_endpoint"), set("service_documentation", "https://docs.example/apps")),
			title: []string{" (see https://docs.example/apps)"},
		},
		"a script in it": {meta: both(without("registration_endpoint"),
			set("service_documentation", "javascript:alert(1)")), title: []string{"/callback, and enter"}},
	} {
		v := newVendor(t)
		v.Metadata = one.meta
		if one.register != nil {
			v.Instead("/register", one.register)
		}
		if one.settings == "" {
			one.settings = `{}`
		}
		host := enters(" by-hand ", one.secret)
		newFixture(t, v, host, one.settings).at("8085").login(t)
		asked := host.Prompts()
		if len(asked) != 1 {
			t.Fatalf("%s: asked %d times", name, len(asked))
		}
		for _, want := range append(one.title, hostOf(v.Issuer), "http://127.0.0.1:8085/callback") {
			if !strings.Contains(asked[0].Title, want) {
				t.Errorf("%s: asked with %q, which lacks %q", name, asked[0].Title, want)
			}
		}
		if len(asked[0].Title) > 300 || len(asked[0].Fields) != 2 || asked[0].Fields[0].Secret ||
			!asked[0].Fields[1].Secret {
			t.Errorf("%s: asked for %+v", name, asked[0])
		}
		form := v.forms()[0]
		if v.logins()[0].Get("client_id") != "by-hand" || one.secret != "" != (form.Get("basic") == "by-hand:s3cret") {
			t.Errorf("%s: logged in with %v and %v", name, v.logins()[0], form)
		}

		// The next process knows the client and uses its port.
		next := newFixture(t, v, host, one.settings).at("8090", "8085")
		next.login(t)
		if len(host.Prompts()) != 1 || v.logins()[1].Get("redirect_uri") != "http://127.0.0.1:8085/callback" {
			t.Errorf("%s: asked again, or came back to %s", name, v.logins()[1].Get("redirect_uri"))
		}
		v.Expire()
		if status, err := next.request(t); status != 200 || err != nil {
			t.Errorf("%s: a refresh: %d, %v", name, status, err)
		}

		if err := next.Logout(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := host.Secrets(); len(left) > 0 {
			t.Errorf("%s: after the logout there is %v", name, left)
		}
		newFixture(t, v, host, one.settings).at("8090").login(t)
		if len(host.Prompts()) != 2 {
			t.Errorf("%s: the logout did not forget the client", name)
		}
	}
}

func both(changes ...func(map[string]any)) func(map[string]any) {
	return func(m map[string]any) {
		for _, change := range changes {
			change(m)
		}
	}
}

// TestInvalidClientInput: missing or invalid input ends the login, and no client is
// stored.
func TestInvalidClientInput(t *testing.T) {
	for name, one := range map[string]struct {
		host *plugintest.Host
		code sdk.Code
		want string // the reason
	}{
		"empty":     {host: enters("", ""), code: sdk.Invalid, want: "no_client"},
		"blank":     {host: enters(" \t", "s3cret"), code: sdk.Invalid, want: "no_client"},
		"cancelled": {host: &plugintest.Host{}, code: sdk.Canceled},
		"half an answer": {host: &plugintest.Host{Answers: map[string]string{"client_id": "me"}},
			code: sdk.Canceled},
		"an arrow key":        {host: enters("me\x1b[A", ""), code: sdk.Invalid, want: "bad_client"},
		"another alphabet":    {host: enters("me", "geheim\u00e9"), code: sdk.Invalid, want: "bad_client"},
		"beyond all measures": {host: enters(strings.Repeat("x", idMost+1), ""), code: sdk.Invalid, want: "bad_client"},
	} {
		v := newVendor(t)
		v.Metadata = without("registration_endpoint")
		d := newFixture(t, v, one.host, `{}`)
		_, err := d.Login(t.Context(), nil)
		if sdk.CodeOf(err) != one.code || reason(err) != one.want || strings.Contains(err.Error(), "geheim") ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
		if len(d.host.Opened()) > 0 || len(d.host.Secrets()) > 0 {
			t.Errorf("%s: opened %v, kept %v", name, d.host.Opened(), d.host.Secrets())
		}
	}
}

// TestPromptWithoutTerminal: without a terminal the error lists all alternatives.
func TestPromptWithoutTerminal(t *testing.T) {
	v := newVendor(t)
	v.Metadata = both(without("registration_endpoint"), set("service_documentation", "https://docs.example/apps"))
	d := newFixture(t, v, nil, `{}`)
	d.authorizer.host.Person = noTerminal{d.authorizer.host.Person}
	_, err := d.Login(t.Context(), nil)
	if reason(err) != "no_client" {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{hostOf(v.Issuer), "client_id in the auth block",
		"client_secret", "terminal", `auth "bearer"`, "https://docs.example/apps"} {
		if hint := hintOf(err); !strings.Contains(hint, want) {
			t.Errorf("the hint %q lacks %q", hint, want)
		}
	}
}

// TestRefusedClientIsAskedForAgain: a refused client is asked for again. An accepted one
// is kept after temporary errors.
func TestRefusedClientIsAskedForAgain(t *testing.T) {
	v := newVendor(t)
	v.Metadata = without("registration_endpoint")
	host := enters("mistyped", "")
	refuse := plugintest.Reply(401, map[string]any{"error": "invalid_client"})
	v.Instead("/token", refuse)
	d := newFixture(t, v, host, `{}`).at("8085")
	for times := 1; times <= 2; times++ {
		if _, err := d.Login(t.Context(), nil); reason(err) != "client_refused" ||
			!strings.Contains(hintOf(err), "asks for the client again") {
			t.Errorf("a client that is refused: %v", err)
		}
		if len(host.Prompts()) != times || len(host.Secrets()) > 0 {
			t.Errorf("asked %d times, kept %v", len(host.Prompts()), host.Secrets())
		}
	}
	v.Instead("/token", nil)
	v.Tokens = stale
	d.login(t)

	kept := maps.Clone(host.Secrets())
	v.Instead("/token", plugintest.Reply(503, nil))
	if _, err := newFixture(t, v, host, `{}`).at("8085").Login(t.Context(), nil); sdk.CodeOf(err) != sdk.Unavailable ||
		!maps.Equal(host.Secrets(), kept) {
		t.Errorf("unavailable: %v, left %v", err, host.Secrets())
	}
	if _, err := newFixture(t, v, host, `{}`).at("8090").Login(t.Context(), nil); reason(err) != "callback_port" ||
		!strings.Contains(hintOf(err), "--callback-port 8085") {
		t.Errorf("without its port: %v", err)
	}
	v.Instead("/token", refuse)
	if _, err := newFixture(t, v, host, `{}`).Authorize(t.Context(),
		sdk.AuthRequest{URL: v.URL}); sdk.CodeOf(err) != sdk.NeedsLogin || len(host.Secrets()) > 0 {
		t.Errorf("a client that is no longer known: %v, left %v", err, host.Secrets())
	}

	// Another authorization server does not receive the client.
	v.Instead("/token", nil)
	d.login(t)
	before := len(host.Prompts())
	v.Move(t)
	d.login(t)
	if len(host.Prompts()) != before+1 {
		t.Error("the client of one authorization server was shown to another")
	}
}

// TestEnteredClientForDevice: a device login asks for a client too, but has no redirect
// address.
func TestEnteredClientForDevice(t *testing.T) {
	hurry(t)
	v := newVendor(t)
	v.Metadata = both(without("registration_endpoint"),
		func(m map[string]any) { m["device_authorization_endpoint"] = v.Issuer + "/device" })
	v.Instead("/device", plugintest.Reply(200, map[string]any{"device_code": "dc", "user_code": "AB",
		"verification_uri": "http://127.0.0.1:1/", "interval": 0.001}))
	host := enters("by-hand", "")
	host.Browser = nil
	for range 2 {
		newFixture(t, v, host, `{"grant":"device"}`).login(t)
	}
	asked := host.Prompts()
	if len(asked) != 1 || strings.Contains(asked[0].Title, "redirect") || v.forms()[1].Get("client_id") != "by-hand" {
		t.Errorf("asked %+v, logged in with %v", asked, v.forms())
	}
}
