package main

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// newAuthorizer returns an authorizer with the given settings.
func newAuthorizer(t *testing.T, settings string) *authorizer {
	t.Helper()
	s := plugin().Auths["command"]
	if err := s.Validate(t.Context(), []byte(settings)); err != nil {
		t.Fatal(err)
	}
	a, err := s.Start(t.Context(), &sdk.AuthServer{}, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return a.(*authorizer)
}

// TestReadOutput reads every form of output and rejects the invalid ones without
// repeating them.
func TestReadOutput(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	bearer := map[string]string{"Authorization": "Bearer abc"}
	for _, c := range []struct {
		settings, text string
		headers        map[string]string
		lasts          time.Duration
	}{
		{`{"command":["x"]}`, `{"token":"abc"}`, bearer, 0},
		{`{"command":["x"]}`, " \n{\"token\":\"abc\",\"later\":[1]}\n", bearer, 0},
		{`{"command":["x"]}`, `{"token":"abc","token_type":"bearer","expires_in":3600}`, bearer, time.Hour},
		{`{"command":["x"]}`, `{"token":"abc","token_type":"","expires_in":0.5}`, bearer, time.Second / 2},
		{`{"command":["x"]}`, `{"token":"abc","expires_in":1e300}`, bearer, 100 * 365 * 24 * time.Hour},
		{`{"command":["x"]}`, `{"token":"abc","token_type":"DPoP"}`, map[string]string{"Authorization": "DPoP abc"}, 0},
		{`{"command":["x"]}`, `{"token":"abc","expires_at":"2026-01-02T05:04:05+01:00"}`, bearer, time.Hour},
		{`{"command":["x"],"header":"X-Key","scheme":""}`, `{"token":"abc"}`, map[string]string{"X-Key": "abc"}, 0},
		{`{"command":["x"]}`,
			`{"headers":{"X-A":"1","x-b":"two words"}}`, map[string]string{"X-A": "1", "x-b": "two words"}, 0},
		{`{"command":["x"]}`,
			`{"headers":{"X-A":"1"},"token":"abc"}`, map[string]string{"X-A": "1", "Authorization": "Bearer abc"}, 0},
		{`{"command":["x"],"format":"token"}`, "abc\n", bearer, 0},
		{`{"command":["x"],"format":"token","scheme":"Token"}`,
			"abc", map[string]string{"Authorization": "Token abc"}, 0},
	} {
		cred, err := newAuthorizer(t, c.settings).read([]byte(c.text), now)
		if err != nil || !maps.Equal(cred.Headers, c.headers) {
			t.Errorf("%s: %v, %v", c.text, cred.Headers, err)
		}
		if lasts := cred.Expires.Sub(now); c.lasts == 0 && !cred.Expires.IsZero() || c.lasts != 0 && lasts != c.lasts {
			t.Errorf("%s lasts %s", c.text, lasts)
		}
	}
	for text, says := range map[string]string{
		"": "printed nothing", " \n": "printed nothing",
		"s3cret":                         "did not print one JSON object",
		`"s3cret"`:                       "did not print one JSON object",
		`["s3cret"]`:                     "did not print one JSON object",
		`null`:                           "did not print one JSON object",
		`{"token":"s3cret"`:              "did not print one JSON object",
		`{"token":"s3cret"} {}`:          "did not print one JSON object",
		`{"token":["s3cret"]}`:           "did not print one JSON object",
		`{"token":"s","expires_in":"9"}`: "did not print one JSON object",
		`{}`:                             "without headers and token",
		`{"token":"","headers":{}}`:      "without headers and token",
		`{"access_token":"s3cret"}`:      "without headers and token",
		`{"token":"s3\ncret"}`:           "cannot be sent",
		`{"token":"s3crät"}`:             "cannot be sent",
		`{"token":"s3cret","token_type":"a\r\nb"}`:                                 "cannot be sent",
		`{"headers":{"Host":"s3cret"}}`:                                            "cannot be sent",
		`{"headers":{"Mcp-Session-Id":"s3cret"}}`:                                  "cannot be sent",
		`{"headers":{"A B":"s3cret"}}`:                                             "cannot be sent",
		`{"headers":{"A":"s3cret","a":"s3cret"}}`:                                  "cannot be sent",
		`{"headers":{"authorization":"s3cret"},"token":"s3cret"}`:                  "cannot be sent",
		`{"headers":{"A":"s3cret","B":""}}`:                                        "a header without a value",
		`{"headers":{` + headerMembers(33) + `}}`:                                  "more than 32 headers",
		`{"token":"s3cret","expires_in":0}`:                                        "already expired",
		`{"token":"s3cret","expires_in":-1e300}`:                                   "already expired",
		`{"token":"s3cret","expires_at":"2026-01-02T03:04:05Z"}`:                   "already expired",
		`{"token":"s3cret","expires_at":"tomorrow"}`:                               "not an RFC 3339 time such as",
		`{"token":"s3cret","expires_at":"2026-01-02T05:04:05Z","expires_in":9}`:    "both expires_at and expires_in",
		`{"token":"s3cret","account":"` + strings.Repeat("a", maxAccount+1) + `"}`: "an account of more than 200 bytes",
	} {
		cred, err := newAuthorizer(t, `{"command":["/x/helper"]}`).read([]byte(text), now)
		if err == nil || err.Reason != "command_output" || !strings.Contains(err.Message, `the program "helper" `) ||
			!strings.Contains(err.Message, says) || strings.Contains(err.Message, "s3cr") {
			t.Errorf("%s: %v, %v; want %q", text, cred.Headers, err, says)
		}
	}
	for text, says := range map[string]string{" \n": "printed nothing",
		"s3cret\nsecond": "more than one line", "{\"a\":\x01}": "cannot be sent"} {
		if _, err := newAuthorizer(t, `{"command":["x"],"format":"token"}`).read([]byte(text), now); err == nil ||
			!strings.Contains(err.Message, says) || strings.Contains(err.Message, "s3cret") {
			t.Errorf("%q: %v; want %q", text, err, says)
		}
	}
}

// headerMembers returns n members of the object "headers".
func headerMembers(n int) string {
	var all []string
	for i := range n {
		all = append(all, `"X-`+strings.Repeat("a", i+1)+`":"s3cret"`)
	}
	return strings.Join(all, ",")
}
