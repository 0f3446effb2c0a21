package httpclient

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

// gives is a host with a fixed credential and a fixed answer to challenges.
type gives struct {
	cred    sdk.Credential
	err     error
	said    sdk.ChallengeResult
	saidErr error

	attempts []int
}

func (g *gives) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	return g.cred, g.err
}

func (g *gives) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	g.attempts = append(g.attempts, c.Attempt)
	return g.said, g.saidErr
}

func key(value string) sdk.Credential {
	return sdk.Credential{Headers: map[string]string{"X-Key": value}}
}

func clientOf(t *testing.T, address string, g *gives, plain bool) *Client {
	t.Helper()
	c, err := NewClient(Options{URL: address, Credentials: g, AllowPlain: plain, Connect: time.Second,
		Log: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestCarried checks which requests may carry a credential. U4, U7
func TestCarried(t *testing.T) {
	for _, c := range []struct {
		name, url, to string
		plain         bool
		cred          sdk.Credential
		refused       string
	}{
		{"https", "https://x.example/", "", false, key("k"), ""},
		{"this machine", "http://localhost:1/", "", false, key("k"), ""},
		{"loopback", "http://127.0.0.1:1/", "", false, key("k"), ""},
		{"plain", "http://x.example/", "", false, key("k"), "unencrypted"},
		{"plain query",
			"http://x.example/", "", false, sdk.Credential{Query: map[string]string{"k": "v"}}, "unencrypted"},
		{"plain and allowed", "http://x.example/", "", true, key("k"), ""},
		{"plain and empty", "http://x.example/", "", false, sdk.Credential{Account: "ada"}, ""},
		{"same origin", "https://x.example/sse", "https://X.example:443/post", false, key("k"), ""},
		{"another host", "https://x.example/", "https://y.example/", false, key("k"), "not for https://y.example"},
		{"another port",
			"https://x.example/", "https://x.example:444/", false, key("k"), "not for https://x.example:444"},
		{"another scheme", "https://x.example/", "http://x.example/", true, key("k"), "not for http://x.example"},
		{"host header",
			"https://x.example/", "", false, sdk.Credential{Headers: map[string]string{"host": "y"}}, "cannot be sent"},
		{"session", "https://x.example/", "", false, sdk.Credential{Headers: map[string]string{"Mcp-Session-Id": "y"}},
			"cannot be sent"},
		{"two lines", "https://x.example/", "", false, key("a\r\nX-Evil: b"), "cannot be sent"},
		{"no name",
			"https://x.example/", "", false, sdk.Credential{Headers: map[string]string{"a b": "y"}}, "cannot be sent"},
	} {
		client := clientOf(t, c.url, &gives{cred: c.cred}, c.plain)
		r := Request{Method: "POST"}
		if c.to != "" {
			r.URL, _ = url.Parse(c.to)
		}
		_, err := client.authorize(t.Context(), r)
		if c.refused == "" && err != nil || c.refused != "" &&
			(err == nil || !strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "X-Evil")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestQuery checks that a credential may be part of the URL, and that errors do
// not contain it.
func TestQuery(t *testing.T) {
	var got atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got.Store(r.URL.String())
	}))
	defer s.Close()
	g := &gives{cred: sdk.Credential{Query: map[string]string{"key": "a&b=c", "have": "other"}}}
	for path, want := range map[string]string{"/": "/?key=a%26b%3Dc&have=other",
		"/p?have=1": "/p?have=1&key=a%26b%3Dc"} {
		c := clientOf(t, s.URL+path, g, false)
		res, _, err := c.Do(t.Context(), Request{Method: "GET"})
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if u, err := url.Parse(want); err != nil || got.Load() != strings.Replace(want, u.RawQuery, ordered(u), 1) {
			t.Errorf("%s arrives as %s", path, got.Load())
		}
	}
	s.Close()
	if _, _, err := clientOf(t, s.URL, g, false).Do(t.Context(), Request{Method: "GET"}); err == nil ||
		strings.Contains(err.Error(), "a%26b") {
		t.Error(err)
	}
}

// ordered returns the expected query: the existing parameters, then the others
// sorted by name.
func ordered(u *url.URL) string {
	if strings.HasPrefix(u.RawQuery, "have=1") {
		return u.RawQuery
	}
	return u.Query().Encode()
}

// TestRefused checks the result of a rejected credential for each answer of the
// provider.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name     string
		status   int
		said     sdk.ChallengeResult
		saidErr  error
		requests int32
		attempts int
		code     sdk.Code // of the error; empty: Do returns the response
		text     string
	}{
		{"again", 401, sdk.ChallengeResult{Retry: true}, nil, 2, 2, sdk.AuthRequired, "401"},
		{"no",
			401,
			sdk.ChallengeResult{Reason: "it is what there is"}, nil, 1, 1, sdk.AuthRequired, "it is what there is"},
		{"a login",
			401, sdk.ChallengeResult{NeedsLogin: true, Reason: "run this"}, nil, 1, 1, sdk.NeedsLogin, "run this"},
		{"both",
			401, sdk.ChallengeResult{NeedsLogin: true, Retry: true}, nil, 1, 1, sdk.NeedsLogin, "a login is required"},
		{"no answer", 401, sdk.ChallengeResult{}, sdk.Errorf(sdk.Unavailable, "the issuer is down"), 1, 1,
			sdk.Unavailable, "the issuer is down"},
		{"no provider", 401, sdk.ChallengeResult{}, sdk.Errorf(sdk.Unimplemented, "no"), 1, 1, "", ""},
		{"scope", 403, sdk.ChallengeResult{Retry: true}, nil, 2, 2, "", ""},
		{"scope and a login",
			403, sdk.ChallengeResult{NeedsLogin: true}, nil, 1, 1, sdk.NeedsLogin, "a login is required"},
		{"no scope", 403, sdk.ChallengeResult{}, nil, 1, 1, "", ""},
		{"not about credentials", 404, sdk.ChallengeResult{Retry: true}, nil, 1, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.Header().Set("WWW-Authenticate", `Bearer error=insufficient_scope`)
				w.WriteHeader(c.status)
			}))
			defer s.Close()
			g := &gives{cred: key("k"), said: c.said, saidErr: c.saidErr}
			res, sent, err := clientOf(t, s.URL, g, false).Do(t.Context(), Request{Method: "POST", Body: []byte("x")})
			if requests.Load() != c.requests || len(g.attempts) != c.attempts || c.attempts == 2 && g.attempts[1] != 2 {
				t.Errorf("%d requests, attempts %v", requests.Load(), g.attempts)
			}
			e, ok := errors.AsType[*sdk.Error](err)
			switch {
			case c.code == "":
				if err != nil || res.StatusCode != c.status || !sent {
					t.Errorf("%v, %t, %v", res, sent, err)
				} else {
					_ = res.Body.Close()
				}
			case !ok || sent || e.Code != c.code || !strings.Contains(e.Message+" "+e.Hint, c.text):
				t.Errorf("%t, %#v", sent, err)
			}
		})
	}
}

// TestNothingIsSent checks that no request is sent if the provider fails.
func TestNothingIsSent(t *testing.T) {
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer s.Close()
	for _, failure := range []*sdk.Error{
		sdk.Errorf(sdk.NeedsLogin, "run this"), sdk.Errorf(sdk.Unavailable, "down"), sdk.Errorf(sdk.Denied, "no"),
		sdk.Errorf(sdk.Internal, "oops"),
	} {
		_, sent, err := clientOf(t, s.URL, &gives{err: failure}, false).Do(t.Context(), Request{Method: "POST"})
		if sent || sdk.CodeOf(err) != failure.Code || requests.Load() != 0 {
			t.Errorf("%s: %t, %v, %d requests", failure, sent, err, requests.Load())
		}
	}
}
