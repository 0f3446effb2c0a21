package console

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestSignInRefusals tries credentials that give no session.
func TestSignInRefusals(t *testing.T) {
	noted := 0
	s := newSite(t, newFake(), func(o *Options) { o.Refused = func(string, string) { noted++ } })
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"no token": {"", 401}, "wrong token": {"token-of-dave", 401},
		"a longer token": {"token-of-alice-x", 401}, "a shorter one": {"token-of-alic", 401},
		"a subject without a role, whose roles sound right": {"token-of-carol", 401},
		"not ASCII": {"tökén-of-älice", 401}, "a huge one": {strings.Repeat("x", 20<<10), 401},
		"a second header in it": {"x\r\nAuthorization: Bearer token-of-alice", 401},
		"a blank before it":     {" \ttoken-of-alice", 401},
	} {
		resp, text := s.browser(t).do(http.MethodPost, "/login", url.Values{"token": {c.token}}, nil)
		if resp.StatusCode != c.status || len(resp.Cookies()) > 0 || c.token != "" && strings.Contains(text, c.token) {
			t.Errorf("%s: %s %v\n%s", name, resp.Status, resp.Cookies(), consoletest.Said(text))
		}
	}
	for name, value := range map[string]string{"wrong": "Bearer x", "no role": "Bearer token-of-carol",
		"another scheme": "Digest x"} {
		resp, _ := s.browser(t).do(http.MethodGet, "/", nil,
			func(r *http.Request) { r.Header.Set("Authorization", value) })
		if resp.StatusCode != http.StatusUnauthorized || len(resp.Cookies()) > 0 {
			t.Errorf("header, %s: %s", name, resp.Status)
		}
	}
	// A token in the address is not looked at: addresses end up in logs.
	if resp, _ := s.browser(t).do(http.MethodGet, "/?token=token-of-alice", nil,
		nil); resp.StatusCode != http.StatusOK ||
		len(resp.Cookies()) > 0 {
		t.Errorf("in the query: %s", resp.Status)
	}
	if resp, _ := s.browser(t).do(http.MethodHead, "/", nil,
		func(r *http.Request) { r.Header.Set("Authorization", "Bearer token-of-alice") }); len(resp.Cookies()) > 0 {
		t.Error("HEAD begins a session")
	}
	if n := s.console.sessions.count(); n != 0 || noted < 10 {
		t.Errorf("%d sessions, %d refusals are noted", n, noted)
	}
	resp, _ := s.browser(t).do(http.MethodGet, "/", nil,
		func(r *http.Request) { r.Header.Set("Authorization", "Bearer token-of-alice") })
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Errorf("a header with the token of an admin: %s", resp.Status)
	}
}

// TestAnonymousSubjectHasNoRole: a client that proved nothing has no role, although the
// configuration names its subject.
func TestAnonymousSubjectHasNoRole(t *testing.T) {
	a := activate(Settings{Admins: subjects("local", ""), Viewers: subjects("local"),
		Address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}})
	for _, p := range []authn.Principal{authn.Anonymous(), authn.Local(), {}} {
		if r := a.roleOf(p); r != outsider {
			t.Errorf("%+v is %s", p, r)
		}
	}
	if r := a.roleOf(authn.Principal{Subject: "local", Method: "jwt"}); r != admin {
		t.Errorf("an authenticated subject is %q", r)
	}
}

// TestLinksWorkOnce uses links twice, late, by guess and in other ways than by opening.
func TestLinksWorkOnce(t *testing.T) {
	s := newSite(t, newFake(), nil)
	path, _, _ := s.console.Link()
	for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodOptions} {
		if resp, _ := s.browser(t).do(method, path, nil, nil); resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, resp.Status)
		}
	}
	for _, wrong := range []string{"/open", "/open?key=", "/open?key=x", path + "x", path[:len(path)-1]} {
		if resp, _ := s.browser(t).do(http.MethodGet, wrong, nil, nil); resp.StatusCode != http.StatusForbidden ||
			len(resp.Cookies()) > 0 {
			t.Errorf("%s: %s", wrong, resp.Status)
		}
	}
	if resp, text := s.browser(t).do(http.MethodGet, path, nil, nil); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s\n%s", resp.Status, consoletest.Said(text))
	}
	if resp, _ := s.browser(t).do(http.MethodGet, path, nil, nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("again: %s", resp.Status)
	}
}

// TestLinksAreForTheirUser: another user of the machine cannot use a link, which stays for
// the user who runs Junctor.
func TestLinksAreForTheirUser(t *testing.T) {
	foreign := true
	s := newSite(t, newFake(),
		func(o *Options) { o.Foreign = func(remote, local string) bool { return foreign && remote != local } })
	path, _, _ := s.console.Link()
	if resp, _ := s.browser(t).do(http.MethodGet, path, nil, nil); resp.StatusCode != http.StatusForbidden ||
		len(resp.Cookies()) > 0 {
		t.Errorf("another user: %s", resp.Status)
	}
	foreign = false
	if resp, _ := s.browser(t).do(http.MethodGet, path, nil, nil); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("the user: %s", resp.Status)
	}
}

// TestLinksAndSessionsEnd lets the time of links and sessions pass.
func TestLinksAndSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l links
		secret, _ := l.add()
		bubble.Sleep(linkLife - time.Second)
		late, _ := l.add()
		if !l.use(secret) {
			t.Error("a link ends early")
		}
		bubble.Sleep(linkLife)
		if l.use(late) {
			t.Error("a link does not end")
		}
		first, _ := l.add()
		for range maxLinks {
			bubble.Sleep(time.Second)
			l.add()
		}
		if len(l.all) != maxLinks || l.use(first) {
			t.Errorf("%d links are kept", len(l.all))
		}

		var table sessionTable
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		one, cookie := table.begin(authn.Local(), true)
		short, secret := table.begin(authn.Principal{Subject: "a", Expires: time.Now().Add(time.Minute)}, false)
		with := func(value string) *http.Request {
			r := r.Clone(t.Context())
			r.AddCookie(&http.Cookie{Name: "junctor-console", Value: value})
			return r
		}
		if table.find(with(cookie), one.key) != one || table.find(with(secret), short.key) != short {
			t.Error("a session is not found")
		}
		bubble.Sleep(time.Minute)
		if table.find(with(secret), short.key) != nil {
			t.Error("a session outlives its credential")
		}
		bubble.Sleep(sessionLife)
		if table.find(with(cookie), one.key) != nil {
			t.Error("a session does not end")
		}
		if table.begin(authn.Local(), true); table.count() != 1 {
			t.Errorf("%d sessions are kept", table.count())
		}
	})
}

// TestSessionsAreBounded: a principal with many sessions loses its own, not those of
// another one.
func TestSessionsAreBounded(t *testing.T) {
	var table sessionTable
	table.begin(authn.Principal{Subject: "admin"}, false)
	for range 3 * maxSessions {
		table.begin(authn.Principal{Subject: "viewer"}, false)
	}
	kept := 0
	for _, s := range table.all {
		if s.who.Subject == "admin" {
			kept++
		}
	}
	if table.count() != maxSessions || kept != 1 {
		t.Errorf("%d sessions, %d of the admin", table.count(), kept)
	}
}

// TestCookie looks at the attributes of the cookie.
func TestCookie(t *testing.T) {
	s := newSite(t, newFake(), nil)
	b := s.browser(t).signInByLink()
	c := b.cookie[0]
	if c.Name != "junctor-console" || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteStrictMode ||
		c.Domain != "" || c.Path != b.base || c.MaxAge < 28790 || c.MaxAge > 28800 {
		t.Errorf("%+v", c)
	}
	secure := httptest.NewRequest(http.MethodGet, "https://console.example.com/", nil)
	w := httptest.NewRecorder()
	(&session{key: "k", expires: time.Now().Add(time.Hour)}).setCookie(w, secure, "x")
	if c := w.Result().Cookies()[0]; c.Name != "__Secure-junctor-console" || !c.Secure || !c.HttpOnly {
		t.Errorf("with TLS: %+v", c)
	}
	// The page of a session is not that of another one of the same browser.
	other := s.browser(t).signInByLink()
	if resp, _ := b.do(http.MethodGet, other.base+"servers", nil,
		func(r *http.Request) { r.AddCookie(c) }); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the cookie of another session: %s", resp.Status)
	}
	if resp, _ := b.post("sign-out"); resp.StatusCode != http.StatusSeeOther || resp.Cookies()[0].MaxAge != -1 {
		t.Errorf("%s %v", resp.Status, resp.Cookies())
	}
	if resp, _ := b.do(http.MethodGet, other.base[:3]+"x/servers", nil,
		nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("after signing out: %s", resp.Status)
	}
}

// TestReloadEndsSessions: a reload ends the sessions of credentials. A session of a link
// stays, unless other machines reach the listener.
func TestReloadEndsSessions(t *testing.T) {
	s := newSite(t, newFake(), nil)
	link, token := s.browser(t).signInByLink(), s.browser(t).signIn("token-of-alice")
	settings := s.console.active.Load().Settings
	s.console.Apply(settings)
	if status, _ := link.get("servers"); status != http.StatusOK {
		t.Errorf("the session of the link: %d", status)
	}
	if status, _ := token.get("servers"); status != http.StatusUnauthorized {
		t.Errorf("the session of the token: %d", status)
	}
	path, _, _ := s.console.Link()
	public := settings
	public.Address = &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7576}
	s.console.Apply(public)
	if s.console.sessions.count() != 0 {
		t.Error("a session of a link stays")
	}
	if _, _, ok := s.console.Link(); ok {
		t.Error("there is a link where other machines reach the listener")
	}
	s.console.Apply(settings)
	if resp, _ := s.browser(t).do(http.MethodGet, path, nil, nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a link of before: %s", resp.Status)
	}
	// A subject that has lost its role.
	bob := s.browser(t).signIn("token-of-bob")
	settings.Viewers = nil
	s.console.active.Store(activate(settings))
	if status, _ := bob.get("servers"); status != http.StatusUnauthorized {
		t.Errorf("a viewer that is none any longer: %d", status)
	}
}

// TestSignInWithoutAuth: without authentication only a link signs in.
func TestSignInWithoutAuth(t *testing.T) {
	s := newSite(t, newFake(), func(o *Options) { o.Settings.Auth = nil })
	if resp, _ := s.browser(t).do(http.MethodPost, "/login", url.Values{"token": {"token-of-alice"}},
		nil); resp.StatusCode != http.StatusForbidden {
		t.Error(resp.Status)
	}
	resp, text := s.browser(t).do(http.MethodGet, "/", nil,
		func(r *http.Request) { r.Header.Set("Authorization", "Bearer token-of-alice") })
	if resp.StatusCode != http.StatusOK || strings.Contains(text, "<form") ||
		!strings.Contains(text, "junctor console") {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
}

// An authFunc is an authenticator.
type authFunc func(*http.Request) (authn.Principal, error)

func (f authFunc) Authenticate(r *http.Request) (authn.Principal, error) { return f(r) }

// TestUnavailableAuth: a token that cannot be checked is not counted as a wrong one.
func TestUnavailableAuth(t *testing.T) {
	s := newSite(t, newFake(), func(o *Options) {
		o.Settings.Auth = authFunc(func(*http.Request) (authn.Principal, error) {
			return authn.Principal{}, fmt.Errorf("the issuer: %w", &authn.UnavailableError{Err: errors.New("down")})
		})
	})
	resp, text := s.browser(t).do(http.MethodPost, "/login", url.Values{"token": {"x"}}, nil)
	if resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(text, "issuer") {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
}

// TestFailedSignInsAreLimited counts by network; programs of this machine share one.
func TestFailedSignInsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a attempts
		for i := range maxAttempts {
			if !a.allow("192.0.2.1:1000") {
				t.Fatalf("attempt %d is refused", i)
			}
			a.fail("192.0.2.1:2000")
		}
		if a.allow("192.0.2.1:3000") {
			t.Error("too many attempts are allowed")
		}
		if !a.allow("192.0.2.2:1000") {
			t.Error("another address is refused")
		}
		for range 100 {
			a.fail("[2001:db8::1]:1")
			a.fail("127.0.0.1:1")
		}
		if a.allow("[2001:db8::2]:1") || !a.allow("[2001:db8:0:1::1]:1") || !a.allow("127.0.0.1:2") {
			t.Error("networks are told apart wrongly")
		}
		for i := range 4 * maxNetworks {
			a.fail(fmt.Sprintf("10.%d.%d.1:1", i>>8, i&255))
		}
		if len(a.all) > maxNetworks {
			t.Errorf("%d networks are remembered", len(a.all))
		}
		bubble.Sleep(attemptsWindow)
		if !a.allow("192.0.2.1:1") {
			t.Error("the window does not end")
		}
	})
}
