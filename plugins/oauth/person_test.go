package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A manualBrowser is a user whose browser reports redirects instead of following them,
// after some answers to other logins. Its listeners have the given ports in order.
type manualBrowser struct {
	strays []string
	ports  []string
	open   int
	heard  chan string
}

func newTablet(ports ...string) *manualBrowser {
	return &manualBrowser{ports: ports, heard: make(chan string, 100)}
}

func (p *manualBrowser) OpenURL(ctx context.Context, address, _ string) error {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	u, err := res.Location()
	if err != nil {
		return err
	}
	for _, q := range append(p.strays, u.RawQuery) {
		p.heard <- q
	}
	return nil
}

func (p *manualBrowser) Prompt(context.Context, sdk.Prompt) (map[string]string, error) {
	return nil, sdk.Errorf(sdk.Canceled, "no answer")
}

func (p *manualBrowser) Callback(_ context.Context, path string) (sdk.Callback, error) {
	if p.open == len(p.ports) {
		return nil, sdk.Errorf(sdk.Unavailable, "every port is busy")
	}
	p.open++
	return &told{manualBrowser: p, url: "http://127.0.0.1:" + p.ports[p.open-1] + path}, nil
}

type told struct {
	*manualBrowser
	url string
}

func (c *told) URL() string { return c.url }

func (c *told) Wait(ctx context.Context) (string, error) {
	select {
	case q := <-c.heard:
		return q, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (c *told) Close() error { c.open--; return nil }

// newFixtureWith starts the plugin for a user.
func newFixtureWith(t testing.TB, v *vendor, p *manualBrowser, attributes string) *fixture {
	t.Helper()
	d := newFixture(t, v, nil, attributes)
	d.authorizer.host.Person = p
	return d
}

// TestAnswersToOtherLogins: answers to other logins are ignored, up to a limit. AUO-06
func TestAnswersToOtherLogins(t *testing.T) {
	strays := []string{"", "code=x", "code=x&state=", "code=x&state=wrong", "state=%zz",
		"error=access_denied&state=wrong", "state=a&state=b"}
	for name, one := range map[string]struct {
		strays []string
		want   string
	}{
		"some": {strays, ""},
		"many": {strings.Split(strings.Repeat("code=x&state=wrong ", strayMost), " ")[:strayMost], "login_refused"},
	} {
		v, p := newVendor(t), newTablet("8085")
		p.strays = one.strays
		d := newFixtureWith(t, v, p, `{}`)
		if _, err := d.Login(t.Context(), nil); reason(err) != one.want {
			t.Errorf("%s: %v", name, err)
		}
		if p.open != 0 {
			t.Errorf("%s: the listener is still open", name)
		}
	}
}

// TestRedirectURL: a registered redirect address is used, or the error says why not.
// AUO-07
func TestRedirectURL(t *testing.T) {
	for _, one := range []struct {
		url   string
		ports []string
		want  string
	}{
		{"http://localhost:8087/done", []string{"8085", "8086", "8087", "8088"}, ""},
		{"http://127.0.0.1:8085/callback", []string{"8085"}, ""},
		{"http://127.0.0.1:9000/callback", []string{"8085", "8086"}, "callback_port"},
		{"http://127.0.0.1:8085/callback", nil, "callback_port"},
	} {
		v, p := newVendor(t), newTablet(one.ports...)
		d := newFixtureWith(t, v, p, `{"client_id":"me","redirect_url":"`+one.url+`"}`)
		if _, err := d.Login(t.Context(), nil); reason(err) != one.want {
			t.Errorf("%s: %v", one.url, err)
		}
		if p.open != 0 {
			t.Errorf("%s: %d listeners are still open", one.url, p.open)
		}
		if one.want == "" && v.logins()[0].Get("redirect_uri") != one.url {
			t.Errorf("%s: asked to come back to %s", one.url, v.logins()[0].Get("redirect_uri"))
		}
	}
}

// TestLoginNotCompleted: a login ends at its timeout, and the next one registers a new
// client.
func TestLoginNotCompleted(t *testing.T) {
	v, p := newVendor(t), newTablet("8085")
	d := newFixtureWith(t, v, p, `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	v.Instead("/authorize", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://127.0.0.1:8085/callback?state=x")
		w.WriteHeader(302)
	})
	if _, err := d.Login(ctx, nil); err == nil {
		t.Error("logged in")
	}
	for key := range d.host.Secrets() {
		t.Errorf("%s was kept", key)
	}
}

// A reader is a user who records why a page is opened.
type reader struct {
	*manualBrowser
	why string
}

func (r *reader) OpenURL(ctx context.Context, address, why string) error {
	r.why = why
	return r.manualBrowser.OpenURL(ctx, address, why)
}

// TestPageOfAnotherHost: the user is told which authorization server sends them to a page
// of another host.
func TestPageOfAnotherHost(t *testing.T) {
	for name, endpoint := range map[string]func(v *vendor) string{
		"its own": func(v *vendor) string { return v.Issuer + "/authorize" },
		"of another": func(v *vendor) string {
			return strings.Replace(v.Issuer, "127.0.0.1", "localhost", 1) + "/authorize"
		},
	} {
		v, p := newVendor(t), newTablet("8085")
		v.Metadata = set("authorization_endpoint", endpoint(v))
		d, r := newFixtureWith(t, v, p, `{}`), &reader{manualBrowser: p}
		d.authorizer.host.Person = r
		d.login(t)
		want := "log in to vendor"
		if name == "of another" {
			want += " (" + hostOf(v.Issuer) + " sends you to a page of localhost:" +
				hostOf(v.Issuer)[len("127.0.0.1:"):] + ")"
		}
		if r.why != want {
			t.Errorf("%s: %q", name, r.why)
		}
	}
}
