package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// canary returns a port that must not receive connections.
func canary(t testing.TB) (port string, hits *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hits = new(atomic.Int32)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, hits
}

func reason(err error) string {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e.Reason
	}
	return ""
}

func set(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

func without(name string) func(map[string]any) {
	return func(m map[string]any) { delete(m, name) }
}

// TestHostileMetadata: a login with hostile metadata ends with an error and connects to
// no other address. U1, U2, U4, U6, AUO-03, AUO-04
func TestHostileMetadata(t *testing.T) {
	port, hits := canary(t)
	huge := strings.Repeat(" ", 2<<20)
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:"+port+"/", http.StatusTemporaryRedirect)
	}
	for name, one := range map[string]struct {
		prm, meta func(map[string]any)
		path      string // replaced by instead
		instead   http.HandlerFunc
		want      string
	}{
		"a script": {meta: set("authorization_endpoint", "javascript:alert(1)"),
			want: "auth_url_rejected"},
		"a file": {meta: set("authorization_endpoint", "file:///etc/passwd"),
			want: "auth_url_rejected"},
		"a shell": {meta: set("authorization_endpoint", "http://x$(touch /tmp/pwn)/"),
			want: "auth_url_rejected"},
		"a shell without a space": {meta: set("authorization_endpoint", "https://x$(reboot)/"),
			want: "auth_url_rejected"},
		"an option":           {meta: set("authorization_endpoint", "--upload-pack=x"), want: "auth_url_rejected"},
		"an option as a host": {meta: set("authorization_endpoint", "https://-x/"), want: "auth_url_rejected"},
		"a password": {meta: set("authorization_endpoint", "https://u:p@h.example/"),
			want: "auth_url_rejected"},
		"a line break": {meta: set("authorization_endpoint", "https://h.example/\r\nX: y"),
			want: "auth_url_rejected"},
		"an escape sequence": {meta: set("authorization_endpoint", "https://h.example/\x1b[2J"),
			want: "auth_url_rejected"},
		"another alphabet": {meta: set("authorization_endpoint", "https://\u0440ay.example/"),
			want: "auth_url_rejected"},
		"plain http elsewhere":     {meta: set("token_endpoint", "http://token.example/"), want: "auth_url_rejected"},
		"a private token endpoint": {meta: set("token_endpoint", "https://10.0.0.1/token"), want: "address_refused"},
		"a registration in a cloud": {meta: set("registration_endpoint", "https://169.254.169.254/latest/"),
			want: "address_refused"},
		"no endpoint":       {meta: without("authorization_endpoint"), want: "auth_url_rejected"},
		"no token endpoint": {meta: without("token_endpoint"), want: "auth_url_rejected"},
		"no PKCE":           {meta: without("code_challenge_methods_supported"), want: "pkce_unsupported"},
		"plain PKCE": {meta: set("code_challenge_methods_supported", []string{"plain"}),
			want: "pkce_unsupported"},
		"another issuer": {meta: set("issuer", "https://honest.example"), want: "issuer_mismatch"},
		"an issuer with a path": {meta: func(m map[string]any) { m["issuer"] = m["issuer"].(string) + "/x" },
			want: "issuer_mismatch"},
		"no issuer":        {meta: without("issuer"), want: "issuer_mismatch"},
		"another type":     {meta: set("issuer", 7), want: "bad_metadata"},
		"another resource": {prm: set("resource", "https://evil.example/mcp"), want: "resource_mismatch"},
		"a neighbour": {prm: func(m map[string]any) { m["resource"] = m["resource"].(string) + "2" },
			want: "resource_mismatch"},
		"no resource": {prm: without("resource"), want: "resource_mismatch"},
		"a private issuer": {prm: set("authorization_servers", []string{"https://192.168.1.1"}),
			want: "address_refused"},
		"an issuer of http": {prm: set("authorization_servers", []string{"http://as.example"}),
			want: "auth_url_rejected"},
		"an issuer without a name": {prm: set("authorization_servers", []string{"https://"}),
			want: "auth_url_rejected"},
		"a huge document": {path: plugintest.ResourcePath, instead: body(huge), want: "answer_too_large"},
		"huge metadata": {path: plugintest.MetadataPath, instead: body(`{"issuer":"` + huge),
			want: "answer_too_large"},
		"half a document": {path: plugintest.ResourcePath, instead: body(`{"resource":`), want: "bad_metadata"},
		"two resources": {path: plugintest.ResourcePath, instead: body(`{"resource":"a","resource":"b"}`),
			want: "bad_metadata"},
		"no document": {path: plugintest.ResourcePath, instead: http.NotFound, want: "bad_metadata"},
		"a page":      {path: plugintest.MetadataPath, instead: body(`<html>`), want: "bad_metadata"},
		"unavailable": {path: plugintest.MetadataPath,
			instead: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, want: "http_status"},
		"a redirect":               {path: plugintest.ResourcePath, instead: away, want: "redirect_refused"},
		"metadata elsewhere":       {path: plugintest.MetadataPath, instead: away, want: "redirect_refused"},
		"a registration elsewhere": {path: "/register", instead: away, want: "redirect_refused"},
		"a token elsewhere":        {path: "/token", instead: away, want: "redirect_refused"},
	} {
		v := newVendor(t)
		v.Resource, v.Metadata = one.prm, one.meta
		if one.path != "" {
			v.Instead(one.path, one.instead)
		}
		d := newFixture(t, v, nil, `{}`)
		_, err := d.Login(t.Context(), nil)
		if reason(err) != one.want {
			t.Errorf("%s: %v (%s), want %s", name, err, reason(err), one.want)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\x1b\r\n") || strings.Contains(err.Error(), "touch")) {
			t.Errorf("%s: the message repeats what it should not: %q", name, err)
		}
		if one.path != "/token" && len(d.host.Opened()) > 0 {
			t.Errorf("%s: %v was opened", name, d.host.Opened())
		}
		for key := range d.host.Secrets() {
			if strings.HasPrefix(key, "login-") {
				t.Errorf("%s: something was kept", name)
			}
		}
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

// TestPublicServerNamesPrivateAddresses: a public server cannot name private addresses.
// U2
func TestPublicServerNamesPrivateAddresses(t *testing.T) {
	port, hits := canary(t)
	host := &plugintest.Host{}
	for address, want := range map[string]string{
		"http://127.0.0.1:" + port + "/":                   "auth_url_rejected",
		"http://169.254.169.254/latest/":                   "auth_url_rejected",
		"http://public.example/":                           "auth_url_rejected",
		"https://127.0.0.1:" + port + "/":                  "address_refused",
		"https://localhost:" + port + "/":                  "address_refused",
		"https://a.localhost.:" + port + "/":               "address_refused",
		"https://[::1]:" + port + "/":                      "address_refused",
		"https://[::ffff:127.0.0.1]:" + port + "/":         "address_refused",
		"https://[64:ff9b::7f00:1]:" + port + "/":          "address_refused",
		"https://[2002:7f00:1::]:" + port + "/":            "address_refused",
		"https://[fd00:ec2::254]/":                         "address_refused",
		"https://[fe80::1%25eth0]/":                        "auth_url_rejected",
		"https://10.0.0.1/":                                "address_refused",
		"https://100.64.0.1/":                              "address_refused",
		"https://0.0.0.0:" + port + "/":                    "address_refused",
		"https://x.example:99999/":                         "auth_url_rejected",
		"https:mcp.example":                                "auth_url_rejected",
		"//mcp.example/":                                   "auth_url_rejected",
		"https://mcp.example/#fragment":                    "auth_url_rejected",
		"https://mcp.example/" + strings.Repeat("x", 5000): "auth_url_rejected",
	} {
		a, err := startWith(t, "https://mcp.example.com/mcp", host.Services(), `{}`)
		if err != nil {
			t.Fatal(err)
		}
		a.hint = readChallenge([]string{`Bearer resource_metadata="` + address + `"`})
		if _, err := a.Login(t.Context(), nil); reason(err) != want {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
	if n := hits.Load(); n > 0 || len(host.Opened()) > 0 {
		t.Errorf("%d connections were made, %v opened", n, host.Opened())
	}
}

// TestCallEndsWithItsContext: a call returns when its context ends.
func TestCallEndsWithItsContext(t *testing.T) {
	v := newVendor(t)
	end := make(chan struct{})
	defer close(end)
	v.Instead(plugintest.ResourcePath, func(http.ResponseWriter, *http.Request) { <-end })
	d := newFixture(t, v, nil, `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Login(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestForgedRedirects: answers of other authorization servers are rejected. U5, RFC 9207
func TestForgedRedirects(t *testing.T) {
	for name, one := range map[string]struct {
		back func(q url.Values)
		meta func(m map[string]any)
		want string
	}{
		"another issuer": {back: func(q url.Values) { q.Set("iss", "https://evil.example") },
			want: "issuer_mismatch"},
		"nearly the issuer": {back: func(q url.Values) { q.Set("iss", q.Get("iss")+"//") }, want: "issuer_mismatch"},
		"no issuer":         {back: func(q url.Values) { q.Del("iss") }, want: "issuer_mismatch"},
		"two issuers": {back: func(q url.Values) { q.Add("iss", "https://evil.example") },
			want: "issuer_mismatch"},
		"not announced": {back: func(q url.Values) { q.Set("iss", "https://evil.example") },
			meta: without("authorization_response_iss_parameter_supported"), want: "issuer_mismatch"},
		"an error of another": {
			back: func(q url.Values) { q.Set("iss", "https://evil.example"); q.Set("error", "access_denied") },
			want: "issuer_mismatch",
		},
		"declined": {back: func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") },
			want: "login_declined"},
		"an error": {
			back: func(q url.Values) { q.Set("error", "server_error"); q.Set("error_description", "call 555") },
			want: "login_refused",
		},
		"an odd error": {back: func(q url.Values) { q.Set("error", "\x1b[2J") }, want: "login_refused"},
		"invisible": {back: func(q url.Values) { q.Set("iss", q.Get("iss")+"\x1b[2J\u202e") },
			want: "issuer_mismatch"},
		"no code":   {back: func(q url.Values) { q.Del("code") }, want: "bad_reply"},
		"two codes": {back: func(q url.Values) { q.Add("code", "x") }, want: "bad_reply"},
	} {
		v := newVendor(t)
		v.Redirect, v.Metadata = one.back, one.meta
		d := newFixture(t, v, nil, `{}`)
		_, err := d.Login(t.Context(), nil)
		if reason(err) != one.want || strings.Contains(err.Error(), "\x1b") ||
			strings.Contains(err.Error(), "call 555") {
			t.Errorf("%s: %v, want %s", name, err, one.want)
		}
		if v.seen("/token") > 0 {
			t.Errorf("%s: the token endpoint was asked", name)
		}
	}
}
