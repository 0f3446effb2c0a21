package console

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/limit"
)

// TestRequestsOfOtherPagesAreRefused sends what a page of another origin can make the
// browser of an admin send. The cookie and the token of the forms are right.
func TestRequestsOfOtherPagesAreRefused(t *testing.T) {
	s := newSite(t, newFake(), nil)
	b := s.browser(t).signInByLink()
	token, port := b.csrf(), s.portOf()
	form := func() url.Values { return url.Values{"csrf": {token}, "server": {"files"}} }
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				r.Header.Add(pairs[i], pairs[i+1])
			}
		}
	}
	for name, change := range map[string]func(*http.Request){
		"evil origin":                  header("Origin", "https://evil.example.com"),
		"another port":                 header("Origin", "http://127.0.0.1:1"),
		"another name of this address": header("Origin", "http://localhost:"+port),
		"another scheme":               header("Origin", "https://127.0.0.1:"+port),
		"null":                         header("Origin", "null"),
		"null of another site":         header("Origin", "null", "Sec-Fetch-Site", "cross-site"),
		"null of a neighbour":          header("Origin", "null", "Sec-Fetch-Site", "same-site"),
		"null, two sites": header("Origin", "null", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site",
			"cross-site"),
		"empty origin":          header("Origin", ""),
		"two origins":           header("Origin", "http://127.0.0.1:"+port, "Origin", "http://127.0.0.1:"+port),
		"a page without origin": header("Sec-Fetch-Site", "cross-site"),
		"its neighbour":         header("Sec-Fetch-Site", "same-site"),
		"rebound name":          host("evil.example.com:" + port),
		"rebound name, with its origin": func(r *http.Request) {
			host("evil.example.com:" + port)(r)
			header("Origin", "http://evil.example.com:"+port)(r)
		},
		"rebound name, null of itself": func(r *http.Request) {
			host("evil.example.com")(r)
			header("Origin", "null", "Sec-Fetch-Site", "same-origin")(r)
		},
		"name that begins with localhost": host("localhost.evil.example.com:" + port),
		"name that begins with 127":       host("127.0.0.1.evil.example.com:" + port),
		"no port":                         host("127.0.0.1"),
		"wrong port":                      host("127.0.0.1:1"),
		"unspecified address":             host("0.0.0.0:" + port),
		"another address":                 host("192.0.2.1:" + port),
	} {
		for _, c := range []struct{ method, path string }{{"POST", b.base + "restart"}, {"GET", b.base + "servers"},
			{"GET", "/"}, {"POST", "/login"}, {"GET", "/open?key=x"}, {"HEAD", b.base + "servers"}} {
			var f url.Values
			if c.method == http.MethodPost {
				f = form()
				f.Set("token", "token-of-alice")
			}
			resp, text := b.do(c.method, c.path, f, change)
			if resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 || strings.Contains(text, token) {
				t.Errorf("%s, %s %s: %s", name, c.method, c.path, resp.Status)
			}
			for h := range resp.Header {
				if strings.HasPrefix(h, "Access-Control-") {
					t.Errorf("%s: the header %s", name, h)
				}
			}
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("done: %q", did)
	}
	// The page of the session itself sends these.
	for name, change := range map[string]func(*http.Request){
		"no browser":       nil,
		"same origin":      header("Origin", s.http.URL, "Sec-Fetch-Site", "same-origin"),
		"null of the page": header("Origin", "null", "Sec-Fetch-Site", "same-origin"),
	} {
		if resp, text := b.do("POST", b.base+"restart", form(), change); resp.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
	}
	if did := s.done(); !slices.Equal(did,
		slices.Repeat([]string{"restart files by the user of this machine, in the console"}, 3)) {
		t.Errorf("done: %q", did)
	}
}

// TestFormsOfOtherSessionsAreRefused sends forms without the token of the session, and in
// other ways than a form of a page.
func TestFormsOfOtherSessionsAreRefused(t *testing.T) {
	s := newSite(t, newFake(), nil)
	b, other := s.browser(t).signInByLink(), s.browser(t).signIn("token-of-alice")
	token := b.csrf()
	for name, c := range map[string]struct {
		form   url.Values
		change func(*http.Request)
		status int
	}{
		"no token":          {url.Values{"server": {"files"}}, nil, 403},
		"empty token":       {url.Values{"csrf": {""}, "server": {"files"}}, nil, 403},
		"wrong token":       {url.Values{"csrf": {strings.Repeat("A", len(token))}, "server": {"files"}}, nil, 403},
		"part of the token": {url.Values{"csrf": {token[:5]}, "server": {"files"}}, nil, 403},
		"token of another":  {url.Values{"csrf": {other.csrf()}, "server": {"files"}}, nil, 403},
		"two tokens":        {url.Values{"csrf": {token, token}, "server": {"files"}}, nil, 403},
		"token in the query": {url.Values{"server": {"files"}},
			func(r *http.Request) { r.URL.RawQuery = "csrf=" + token }, 403},
		"as text": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"as JSON": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, 415},
		"as parts": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Set("Content-Type", "multipart/form-data; boundary=x") }, 415},
		"without a type": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		"a large form":     {url.Values{"csrf": {token}, "server": {strings.Repeat("x", 300<<10)}}, nil, 413},
		"without a cookie": {url.Values{"csrf": {token}}, func(r *http.Request) { r.Header.Del("Cookie") }, 401},
		"the cookie of another": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Set("Cookie", other.cookie[0].Name+"="+other.cookie[0].Value) }, 401},
		"a cookie of that name": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Set("Cookie", b.cookie[0].Name+"=x") }, 401},
		"PUT": {url.Values{"csrf": {token}}, func(r *http.Request) { r.Method = "PUT" }, 405},
		"the name of TLS's": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.Header.Set("Cookie", "__Secure-"+b.cookie[0].Name+"="+b.cookie[0].Value) }, 401},
		"a page without a form": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.URL.Path = b.base + "servers" }, 405},
		"an unknown page": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.URL.Path = b.base + "nothing" }, 404},
		"the page of no session": {url.Values{"csrf": {token}},
			func(r *http.Request) { r.URL.Path = "/s/" + strings.Repeat("A", 26) + "/restart" }, 401},
		"no key at all": {url.Values{"csrf": {token}}, func(r *http.Request) { r.URL.Path = "/s//restart" }, 401},
		"the form as a link": {nil,
			func(r *http.Request) { r.Method, r.URL.RawQuery = "GET", "csrf="+token+"&server=files" }, 405},
	} {
		if resp, text := b.do("POST", b.base+"restart", c.form, c.change); resp.StatusCode != c.status {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("done: %q", did)
	}
}

// TestApproversSeeTheirCalls: a person whom the policy alone names sees and answers the calls
// that wait for them, and nothing else.
func TestApproversSeeTheirCalls(t *testing.T) {
	s := newSite(t, newFake(), nil)
	dora := s.browser(t).signIn("token-of-dora")
	if status, text := dora.get("approvals"); status != http.StatusOK || !strings.Contains(text, "abcdef") ||
		!strings.Contains(text, `value="approve"`) || strings.Contains(text, `href="audit"`) {
		t.Errorf("%d\n%s", status, consoletest.Said(text))
	}
	for name, p := range pages {
		if name == "approvals" || name == "sign-out" {
			continue
		}
		if p.show != nil {
			if status, _ := dora.get(name); status != http.StatusForbidden {
				t.Errorf("GET %s: %d", name, status)
			}
		}
		if p.act != nil {
			if resp, _ := dora.post(name, "server", "files", "tool", "files__read", "subject",
				"bob"); resp.StatusCode != http.StatusForbidden {
				t.Errorf("POST %s: %s", name, resp.Status)
			}
		}
	}
	if resp, _ := dora.post("approvals", "id", "abcdef", "answer", "approve", "reason",
		"CHG-1"); resp.StatusCode != http.StatusSeeOther {
		t.Error(resp.Status)
	}
	if did := s.done(); !slices.Equal(did, []string{"approve abcdef true by dora, in the console"}) {
		t.Errorf("done: %q", did)
	}
}

// TestViewersSeeAndAdminsAct sends every action as a viewer and as an admin.
func TestViewersSeeAndAdminsAct(t *testing.T) {
	f := newFake()
	f.pinned = changedTools()
	s := newSite(t, f, nil)
	viewer, admin := s.browser(t).signIn("token-of-bob"), s.browser(t).signIn("token-of-alice")
	for _, page := range []string{"servers", "server?name=files", "tools", "tool?name=files__read", "access",
		"sessions", "approvals", "logins", "plugins", "limits", "audit", "charts", "log", "events", "policy",
		"configuration", "items"} {
		status, seen := viewer.get(page)
		if status != http.StatusOK {
			t.Errorf("%s as a viewer: %d\n%s", page, status, seen)
		}
		for _, form := range []string{`action="restart"`, `action="approvals"`, `action="logins"`, `action="accept"`,
			`action="plugins"`, `action="configuration#outcome"`, `action="tool#outcome"`} {
			if strings.Contains(seen, form) {
				t.Errorf("%s offers a viewer %s", page, form)
			}
		}
		if status, seen := admin.get(page); status != http.StatusOK {
			t.Errorf("%s as an admin: %d\n%s", page, status, seen)
		}
	}
	actions := [][]string{
		{"restart", "server", "files"},
		{"tool", "tool", "files__read", "arguments", `{"path": "/srv"}`},
		{"item", "kind", "resource", "server", "files", "name", "file:///srv/plan.md"},
		{"approvals", "id", "abcdef", "answer", "approve"},
		{"logins", "server", "github"},
		{"accept", "server", "files", "tool", "write", "digest", "digest of write"},
		{"configuration"},
		{"plugins", "plugin", "acme", "digest", strings.Repeat("cd", 32)},
	}
	for _, a := range actions {
		refused := http.StatusForbidden
		if a[0] == "approvals" { // approvers may be viewers: the page says why this one may not
			refused = http.StatusSeeOther
		}
		if resp, _ := viewer.post(a[0], a[1:]...); resp.StatusCode != refused {
			t.Errorf("%s as a viewer: %s", a[0], resp.Status)
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("a viewer did %q", did)
	}
	for _, a := range actions {
		if resp, text := admin.post(a[0], a[1:]...); resp.StatusCode != http.StatusSeeOther &&
			resp.StatusCode != http.StatusOK {
			t.Errorf("%s as an admin: %s\n%s", a[0], resp.Status, consoletest.Said(text))
		}
	}
	want := []string{"restart files by alice, in the console", `call files__read {"path":"/srv"} as alice at 127.0.0.1`,
		"read file:///srv/plan.md of files as alice at 127.0.0.1", "approve abcdef true by alice, in the console",
		"login github", "accept write digest of write of files by alice, in the console",
		"reload by alice, in the console"}
	if did := s.done(); !slices.Equal(did, want) {
		t.Errorf("an admin did %q", did)
	}
	// A viewer may ask what the policy decides.
	if resp, text := viewer.post("access", "subject", "carol", "tool", "files__read", "roles", "dev, ops",
		"groups", "g"); resp.StatusCode != http.StatusOK || !strings.Contains(text, "deny at junctor.hcl:3:1") {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
	if did := s.done(); did[len(did)-1] != "explain files__read for carol [known dev ops] [g] " {
		t.Errorf("%q", did)
	}
	viewer.post("access", "tool", "files__read", "roles", "dev", "address", "10.0.0.7", "client", "claude", "time",
		"2026-03-01T22:30", "issuer", "https://idp", "scopes", "a b")
	if did := s.done(); did[len(did)-1] != "from 10.0.0.7 claude 2026-03-01T22:30 https://idp [a b]" {
		t.Errorf("%q", did)
	}
}

// TestHeadersOfEveryResponse looks at the headers of pages, assets and refusals.
func TestHeadersOfEveryResponse(t *testing.T) {
	s := newSite(t, newFake(), nil)
	b := s.browser(t).signInByLink()
	for _, path := range []string{"/", "/nothing", "/s/x/servers", b.base + "servers", b.base + "tools",
		b.base + "restart", stylePath, scriptPath, iconPath, "/login"} {
		resp, text := b.do(http.MethodGet, path, nil, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff",
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if got := resp.Header.Get("Cache-Control"); got != "no-store" && !strings.HasPrefix(path, "/static/") {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		for _, inline := range []string{"<script>", " style=", "<style", " onclick", " onload", "http://",
			"javascript:"} {
			if strings.Contains(text, inline) && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				t.Errorf("%s contains %q", path, inline)
			}
		}
	}
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'",
		"frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(contentPolicy, want) || strings.Contains(contentPolicy, "unsafe") {
			t.Errorf("the policy is %q", contentPolicy)
		}
	}
}

// TestReboundNameOfAPublicListener: a listener on all addresses accepts addresses and the
// configured names only.
func TestReboundNameOfAPublicListener(t *testing.T) {
	a := activate(Settings{Address: &net.TCPAddr{IP: net.IPv4zero, Port: 7576}, Hosts: []string{"console.example.com"}})
	if a.local {
		t.Error("the listener counts as local")
	}
	for host, want := range map[string]bool{
		"console.example.com": true, "console.example.com:7576": true, "192.0.2.1:7576": true, "localhost:7576": true,
		"evil.example.com": false, "evil.example.com:7576": false,
		"console.example.com.evil.com": false, "192.0.2.1": false, "": false,
	} {
		r := &http.Request{Host: host, Header: http.Header{}}
		if got := checkOrigin(a, r) == nil; got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

// TestRefusalsCannotFloodTheLog sends refused requests as fast as a program of another user
// can. The log has a bounded number of lines, and says how many are missing.
func TestRefusalsCannotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		s := New(Options{
			Sources:  newFake().sources(),
			Settings: Settings{Address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7576}},
			Log:      hclog.New(&hclog.LoggerOptions{Output: &said}),
		})
		const all = 3 * limit.LinesAtOnce
		for range all {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = "evil.example"
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != http.StatusForbidden {
				t.Fatal(w.Code)
			}
		}
		s.refusals.Close()
		lines := strings.Count(said.String(), "the console refused a request")
		if want := fmt.Sprintf("lines=%d", all-lines); lines == 0 || lines > limit.LinesAtOnce ||
			!strings.Contains(said.String(), want) {
			t.Errorf("%d lines of %d, and the log does not say %s", lines, all, want)
		}
	})
}
