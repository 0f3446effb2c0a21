package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// An account is an auth provider with numbered tokens, and the server's view of
// them. The tests use the host's own credential broker.
type account struct {
	mu         sync.Mutex
	token      int // guarded by mu; the provider's token; 0: not logged in
	good       int // guarded by mu; the token that the server accepts
	renews     bool
	authorized int // guarded by mu
	challenged []sdk.Challenge
}

func (a *account) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.authorized++
	if a.token == 0 {
		return sdk.Credential{}, nil
	}
	return sdk.Credential{Headers: map[string]string{"Authorization": fmt.Sprintf("Bearer %d", a.token)}}, nil
}

func (a *account) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.challenged = append(a.challenged, c)
	if a.token == 0 {
		return sdk.ChallengeResult{NeedsLogin: true, Reason: "nobody is logged in"}, nil
	}
	if a.renews {
		a.token++
	}
	return sdk.ChallengeResult{Retry: a.renews}, nil
}

// takes reports whether the server accepts a request, and otherwise sends a 401
// response.
func (a *account) takes(w http.ResponseWriter, r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Header.Get("Authorization") == fmt.Sprintf("Bearer %d", a.good) {
		return true
	}
	w.Header().Add("WWW-Authenticate", `Bearer resource_metadata="https://x/"`)
	w.Header().Add("WWW-Authenticate", `Basic realm="x"`)
	w.WriteHeader(http.StatusUnauthorized)
	return false
}

// has sets the provider's token and the token that the server accepts.
func (a *account) has(token, good int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token, a.good = token, good
}

// guarded starts a server that requires the account's valid token.
func guarded(t *testing.T, a *account, answer func(w http.ResponseWriter, r *http.Request, body string) bool) *server {
	return answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		return !a.takes(w, r) || answer != nil && answer(w, r, body)
	})
}

// connectAs is connect with an auth provider behind the host's credential
// broker.
func connectAs(t *testing.T, a sdk.Authorizer, url string, more ...string) *client {
	t.Helper()
	b := credential.New(credential.Options{Server: "remote", Auth: a})
	t.Cleanup(b.Close)
	return connectWith(t, b, url, more...)
}

func connectWith(t *testing.T, c sdk.Credentials, url string, more ...string) *client {
	t.Helper()
	cl, err := tryServer(t, &sdk.Server{
		Name: "remote", MaxMessage: ndjson.DefaultLimit, Cache: t.TempDir(), Log: hclog.NewNullLogger(),
		Host: sdk.Host{Credentials: c},
	}, url, more...)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// TestExpiredToken checks that a hundred calls with an expired token cause one
// refresh and all succeed. AUO-10
func TestExpiredToken(t *testing.T) {
	t.Parallel()
	a := &account{token: 1, good: 2, renews: true}
	s := guarded(t, a, nil)
	c := connectAs(t, a, s.url)
	const calls = 100
	for i := range calls {
		c.send(modern(i, "tools/call", `"name":"t"`))
	}
	for range calls {
		if g := c.next(); g.err != nil {
			t.Fatal(g.err)
		}
	}
	if len(a.challenged) != 1 || a.authorized != 2 {
		t.Errorf("%d calls of Authorize, %d of Challenge", a.authorized, len(a.challenged))
	}
	said := a.challenged[0]
	if said.Status != 401 || said.URL != s.url || said.Resource != s.url || said.Method != "POST" ||
		!slices.Equal(said.WWWAuthenticate, []string{`Bearer resource_metadata="https://x/"`, `Basic realm="x"`}) {
		t.Errorf("the challenge was %+v", said)
	}
	if n := len(s.requests()); n > 2*calls {
		t.Errorf("the server got %d requests", n)
	}
}

// TestNeedsLogin checks that a server that requires a login gets one request,
// and that the error explains how to log in. AUO-16
func TestNeedsLogin(t *testing.T) {
	t.Parallel()
	a := &account{good: 1}
	s := guarded(t, a, nil)
	c := connectAs(t, a, s.url)
	for range 10 {
		c.send(initialize)
		f := c.fails("1", "needs_login")
		if f.Err.Code != sdk.NeedsLogin || !strings.Contains(f.Err.Message+f.Err.Hint, "`junctor login remote`") ||
			f.Delivered || f.Ends {
			t.Fatalf("%+v", f.Err)
		}
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("the server got %d requests", n)
	}
}

// TestRefusedAgain checks that a call fails if the new credential is rejected
// too, and that the server then gets no further requests.
func TestRefusedAgain(t *testing.T) {
	t.Parallel()
	for _, renews := range []bool{true, false} {
		a := &account{token: 1, renews: renews}
		s := guarded(t, a, nil)
		c := connectAs(t, a, s.url)
		for i := range 20 {
			c.send(modern(i, "tools/call", `"name":"t"`))
			if f := c.fails(fmt.Sprint(i), "refused"); f.Err.Code != sdk.AuthRequired || f.Delivered ||
				f.Err.Hint == "" {
				t.Fatalf("%+v", f.Err)
			}
		}
		if n := len(s.requests()); n > 2 {
			t.Errorf("the server got %d requests at once", n)
		}
	}
}

// TestNoProvider checks that a missing auth provider is requested once, and
// that the error says what to add to the server block.
func TestNoProvider(t *testing.T) {
	t.Parallel()
	for _, offered := range []sdk.Credentials{nil, &none{}} {
		a := &account{good: 1}
		s := guarded(t, a, nil)
		c := connectWith(t, offered, s.url)
		for range 3 {
			c.send(initialize)
			if f := c.fails("1", "http_status"); f.Err.Code != sdk.AuthRequired ||
				!strings.Contains(f.Err.Hint, `add auth "oauth" {}`) {
				t.Fatalf("%+v", f.Err)
			}
		}
		if n, ok := offered.(*none); ok && n.asked != 1 {
			t.Errorf("%d calls of Authorize", n.asked)
		}
	}
}

// none is a host without an auth block for the server.
type none struct{ asked int }

func (n *none) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	n.asked++
	return sdk.Credential{}, sdk.Errorf(sdk.Unimplemented, "there is no auth block")
}

func (n *none) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	n.asked++
	return sdk.ChallengeResult{}, sdk.Errorf(sdk.Unimplemented, "there is no auth block")
}

// TestCascade checks the precedence of headers: configuration, stored
// credential, auth provider. A scheme without a token is no credential. AUO-01
func TestCascade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configured  string
		token, good int
		want        []string
	}{
		"configured":           {"Bearer 7", 1, 7, []string{"Bearer 7"}},
		"stored":               {"Bearer 7", 1, 1, []string{"Bearer 7", "Bearer 1"}},
		"renewed":              {"Bearer 7", 1, 2, []string{"Bearer 7", "Bearer 1", "Bearer 2"}},
		"empty":                {"Bearer ", 1, 1, []string{"Bearer 1"}},
		"a key without scheme": {"key", 1, 1, []string{"key", "Bearer 1"}},
		"nothing stored":       {"Bearer 7", 0, 1, []string{"Bearer 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &account{token: c.token, good: c.good, renews: true}
			s := guarded(t, a, nil)
			cl := connectAs(t, a, s.url, fmt.Sprintf(`"headers":{"Authorization":%q,"X-Mine":"y"}`, c.configured))
			cl.send(modern(1, "tools/call", `"name":"t"`))
			if c.token == 0 {
				cl.fails("1", "needs_login")
			} else {
				cl.want(result(1))
				cl.send(modern(2, "tools/call", `"name":"t"`)) // needs no challenge
				cl.want(result(2))
				c.want = append(c.want, c.want[len(c.want)-1])
			}
			var got []string
			for _, r := range s.requests() {
				got = append(got, r.Get("Authorization"))
				if r.Get("X-Mine") != "y" {
					t.Error("another header of the configuration is missing")
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the server received %q: %+v", got, s.requests())
			}
		})
	}
}

// TestStreams checks that the GET stream, its resumption and the DELETE of the
// session carry the credential. B25
func TestStreams(t *testing.T) {
	t.Parallel()
	a := &account{token: 1, good: 1, renews: true}
	broke := make(chan struct{})
	s := guarded(t, a, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		switch {
		case r.Method == "DELETE":
			return true
		case r.Method != "GET":
			return false
		case r.Header.Get("Last-Event-ID") == "":
			events(w, "id: e1\n"+data(`{"jsonrpc":"2.0","method":"notifications/one"}`))
			<-broke
			return true
		}
		events(w, data(`{"jsonrpc":"2.0","method":"notifications/two"}`))
		<-r.Context().Done()
		return true
	})
	c := connectAs(t, a, s.url)
	c.shake()
	c.want(`{"jsonrpc":"2.0","method":"notifications/one"}`)
	a.has(1, 2)
	close(broke)
	c.want(`{"jsonrpc":"2.0","method":"notifications/two"}`)
	s.await("resumption", func(r seen) bool {
		return r.verb == "GET" && r.Get("Last-Event-ID") == "e1" && r.Get("Authorization") == "Bearer 2"
	})
	c.close()
	s.await("end", func(r seen) bool { return r.verb == "DELETE" && r.Get("Authorization") == "Bearer 2" })
	if len(a.challenged) != 1 || a.challenged[0].Method != "GET" {
		t.Errorf("challenges: %+v", a.challenged)
	}
}

// TestScope checks that a call can demand a wider scope.
func TestScope(t *testing.T) {
	t.Parallel()
	a := &account{token: 1, good: 1, renews: true}
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, `"admin"`) || r.Header.Get("Authorization") == "Bearer 2" {
			return false
		}
		if strings.Contains(body, `"says so"`) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="admin"`)
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	c := connectAs(t, a, s.url)
	c.send(modern(1, "tools/call", `"name":"admin"`))
	c.fails("1", "http_status") // the response does not demand another scope
	c.send(modern(2, "tools/call", `"name":"admin","arguments":{"x":"says so"}`))
	c.want(result(2))
	if len(a.challenged) != 1 || a.challenged[0].Status != 403 ||
		a.challenged[0].WWWAuthenticate[0] != `Bearer error="insufficient_scope", scope="admin"` {
		t.Errorf("challenges: %+v", a.challenged)
	}
}

// TestNotPassedThrough checks that no content of a message of a gateway's
// client becomes a header. U8
func TestNotPassedThrough(t *testing.T) {
	t.Parallel()
	a := &account{token: 1, good: 1}
	s := guarded(t, a, nil)
	c := connectAs(t, a, s.url)
	const down = `"Authorization":"Bearer DOWN","Cookie":"a=DOWN","headers":{"Authorization":"Bearer DOWN"},"X-Forwarded-For":"DOWN","Mcp-Session-Id":"DOWN"`
	c.send(strings.Replace(modern(1, "tools/call", `"name":"t","arguments":{`+down+`},`+down), `"_meta":{`,
		`"_meta":{`+down+`,`, 1))
	c.want(result(1))
	for name, values := range s.requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), "DOWN") {
			t.Errorf("%s is %q", name, values)
		}
	}
	if h := s.requests()[0].Header; h.Get("Authorization") != "Bearer 1" {
		t.Errorf("the headers are %v", h)
	}
}

// TestLeavingProvider checks that a cancelled request does not wait for a
// provider.
func TestLeavingProvider(t *testing.T) {
	t.Parallel()
	s := answering(t, nil)
	h := slow{asked: make(chan struct{})}
	c := connectWith(t, h, s.url)
	c.send(modern(1, "tools/call", `"name":"t"`))
	<-h.asked
	begun := time.Now()
	c.close()
	if d := time.Since(begun); d > patience/2 || len(s.requests()) != 0 {
		t.Errorf("closed after %s and %d requests", d, len(s.requests()))
	}
}

// slow is a host whose auth provider does not answer. It is asked once.
type slow struct{ asked chan struct{} }

func (s slow) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	close(s.asked)
	<-ctx.Done()
	return sdk.Credential{}, ctx.Err()
}

func (slow) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	panic("not reached")
}
