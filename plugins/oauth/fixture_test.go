package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// A vendor is a server with its authorization server.
type vendor struct{ *plugintest.Vendor }

func newVendor(t testing.TB) *vendor {
	t.Helper()
	return &vendor{plugintest.NewVendor(t)}
}

// seen returns the number of requests to a path.
func (v *vendor) seen(path string) int { return len(v.Requests(path)) }

// logins returns the forms of the authorization endpoint and forms those of the token
// endpoint. The field "basic" has the secret of an Authorization header.
func (v *vendor) logins() []url.Values { return formsOf(v.Requests("/authorize")) }
func (v *vendor) forms() []url.Values  { return formsOf(v.Requests("/token")) }

func (v *vendor) grants(kind string) []url.Values { return formsOf(v.Grants(kind)) }

func formsOf(all []plugintest.VendorRequest) (forms []url.Values) {
	for _, one := range all {
		if user, secret, ok := (&http.Request{Header: one.Header}).BasicAuth(); ok {
			one.Form.Set("basic", user+":"+secret)
		}
		forms = append(forms, one.Form)
	}
	return forms
}

func answer(w http.ResponseWriter, status int, m map[string]any) { plugintest.Reply(status, m)(w, nil) }

// A fixture is the plugin with a user.
type fixture struct {
	*authorizer
	host   *plugintest.Host
	vendor *vendor
}

// newFixture starts the plugin for the vendor's server.
func newFixture(t testing.TB, v *vendor, host *plugintest.Host, attributes string) *fixture {
	t.Helper()
	if host == nil {
		host = &plugintest.Host{Browser: plugintest.Follow}
	}
	a, err := startWith(t, v.URL, host.Services(), attributes)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{authorizer: a, host: host, vendor: v}
}

func startWith(t testing.TB, address string, host sdk.Host, attributes string) (*authorizer, error) {
	t.Helper()
	a, err := plugin().Auths["oauth"].Start(t.Context(),
		&sdk.AuthServer{Name: "vendor", URL: address, Log: hclog.NewNullLogger(), Host: host}, []byte(attributes))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = a.(io.Closer).Close() })
	return a.(*authorizer), nil
}

// request sends a request like a transport: with a credential, and again after a oauthError
// if the plugin says so.
func (d *fixture) request(t testing.TB) (status int, err error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		r := sdk.AuthRequest{Method: "POST", URL: d.vendor.URL}
		cred, err := d.Authorize(t.Context(), r)
		if err != nil {
			return 0, err
		}
		req, _ := http.NewRequestWithContext(context.Background(), "POST", d.vendor.URL, strings.NewReader("{}"))
		for name, value := range cred.Headers {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 401 && res.StatusCode != 403 || attempt == 3 {
			return res.StatusCode, nil
		}
		result, err := d.Challenge(t.Context(), sdk.Challenge{AuthRequest: r, Status: res.StatusCode,
			WWWAuthenticate: res.Header.Values("WWW-Authenticate"), Attempt: attempt})
		if err != nil || !result.Retry {
			if err == nil && result.NeedsLogin {
				err = needsLogin(result.Reason)
			}
			return res.StatusCode, err
		}
	}
}

// login logs in and fails the test after an error.
func (d *fixture) login(t testing.TB, scopes ...string) {
	t.Helper()
	if _, err := d.Login(t.Context(), scopes); err != nil {
		t.Fatalf("logging in: %v", err)
	}
}
