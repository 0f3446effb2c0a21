package authn

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

const (
	aliceToken = "alice-0123456789abcdef"
	bobToken   = "bob-0123456789abcdef"
)

// newTestTokens accepts the tokens of alice and bob.
func newTestTokens() *Tokens {
	return NewTokens([]StaticToken{
		{Token: aliceToken, Subject: "alice", Tenant: "acme", Roles: []string{"dev"}},
		{Token: bobToken, Subject: "bob", Tenant: "default"},
	})
}

// newRequest returns a request with the given headers, each a name and a value.
func newRequest(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

var (
	alice = Principal{Subject: "alice", Tenant: "acme", Method: "static_token", Roles: []string{"dev"}}
	bob   = Principal{Subject: "bob", Tenant: "default", Method: "static_token"}
)

// TestTokensReadsBothHeaders sends right, wrong, empty, malformed and missing
// tokens in each of the two headers, in both, and in neither.
func TestTokensReadsBothHeaders(t *testing.T) {
	const authorization, own = "Authorization", "Mcp-Auth-Token"
	for name, c := range map[string]struct {
		headers []string
		want    Principal
		err     error
	}{
		"right, bearer":            {[]string{authorization, "Bearer " + aliceToken}, alice, nil},
		"right, own":               {[]string{own, aliceToken}, alice, nil},
		"the second":               {[]string{authorization, "Bearer " + bobToken}, bob, nil},
		"the second, own":          {[]string{own, bobToken}, bob, nil},
		"the scheme in lower case": {[]string{authorization, "bearer " + aliceToken}, alice, nil},
		"the scheme in upper case": {[]string{authorization, "BEARER " + aliceToken}, alice, nil},
		"several spaces":           {[]string{authorization, "Bearer   " + aliceToken}, alice, nil},
		"header in lower case":     {[]string{"mcp-auth-token", aliceToken}, alice, nil},
		"missing":                  {nil, Principal{}, ErrMissing},
		"wrong, bearer": {[]string{authorization, "Bearer carol-0123456789abcdef"},
			Principal{}, ErrWrong},
		"wrong, own":           {[]string{own, "carol-0123456789abcdef"}, Principal{}, ErrWrong},
		"wrong, other case":    {[]string{own, strings.ToUpper(aliceToken)}, Principal{}, ErrWrong},
		"the beginning":        {[]string{own, aliceToken[:len(aliceToken)-1]}, Principal{}, ErrWrong},
		"one character":        {[]string{own, aliceToken[:1]}, Principal{}, ErrWrong},
		"one more":             {[]string{own, aliceToken + "0"}, Principal{}, ErrWrong},
		"as long as can be":    {[]string{own, strings.Repeat("a", maxToken)}, Principal{}, ErrWrong},
		"with the scheme, own": {[]string{own, "Bearer " + aliceToken}, Principal{}, ErrMalformed},
		"too long":             {[]string{own, strings.Repeat("a", maxToken+1)}, Principal{}, ErrMalformed},
		"dots": {[]string{authorization, "Bearer " + strings.Repeat(".", 1<<20)},
			Principal{}, ErrMalformed},
		"empty, bearer":          {[]string{authorization, "Bearer "}, Principal{}, ErrMalformed},
		"empty, only the scheme": {[]string{authorization, "Bearer"}, Principal{}, ErrMalformed},
		"empty, bearer, spaces":  {[]string{authorization, "Bearer    "}, Principal{}, ErrMalformed},
		"empty, own":             {[]string{own, ""}, Principal{}, ErrMalformed},
		"empty, no scheme":       {[]string{authorization, ""}, Principal{}, ErrMalformed},
		"no scheme":              {[]string{authorization, aliceToken}, Principal{}, ErrMalformed},
		"another scheme":         {[]string{authorization, "Basic " + aliceToken}, Principal{}, ErrMissing},
		"a scheme that begins so": {[]string{authorization, "Bearers " + aliceToken}, Principal{},
			ErrMalformed},
		"a scheme before the scheme": {[]string{authorization, "Basic Bearer " + aliceToken},
			Principal{}, ErrMissing},
		"an unknown scheme": {[]string{authorization, "Token " + aliceToken}, Principal{}, ErrMalformed},
		"a tab instead of a space": {[]string{authorization, "Bearer\t" + aliceToken}, Principal{},
			ErrMalformed},
		"a space before": {[]string{authorization, " Bearer " + aliceToken}, Principal{},
			ErrMalformed},
		"a space in it": {[]string{authorization, "Bearer " + aliceToken + " x"}, Principal{},
			ErrMalformed},
		"a space after it":      {[]string{own, aliceToken + " "}, Principal{}, ErrMalformed},
		"a line break after it": {[]string{own, aliceToken + "\n"}, Principal{}, ErrMalformed},
		"a NUL after it":        {[]string{own, aliceToken + "\x00"}, Principal{}, ErrMalformed},
		"not ASCII":             {[]string{own, aliceToken + "é"}, Principal{}, ErrMalformed},
		"not UTF-8":             {[]string{own, aliceToken + "\xff"}, Principal{}, ErrMalformed},
		"two in one": {[]string{authorization, "Bearer " + aliceToken + ", Bearer " + bobToken},
			Principal{}, ErrMalformed},
		"twice": {[]string{authorization, "Bearer " + aliceToken, authorization, "Bearer " + aliceToken},
			Principal{}, ErrMalformed},
		"twice, own": {[]string{own, aliceToken, own, aliceToken}, Principal{}, ErrMalformed},
		"both": {[]string{authorization, "Bearer " + aliceToken, own, aliceToken},
			Principal{}, ErrMalformed},
		"both, of two": {[]string{authorization, "Bearer " + aliceToken, own, bobToken},
			Principal{}, ErrMalformed},
		"both, one empty": {[]string{authorization, "Bearer " + aliceToken, own, ""}, Principal{},
			ErrMalformed},
		"both, one of another scheme": {[]string{authorization, "Basic eDp5", own, aliceToken}, Principal{},
			ErrMalformed},
		"wrong and right": {[]string{authorization, "Bearer x", authorization, "Bearer " + aliceToken},
			Principal{}, ErrMalformed},
		"a cookie": {[]string{"Cookie", "token=" + aliceToken}, Principal{}, ErrMissing},
		"Proxy-Authorization": {[]string{"Proxy-Authorization", "Bearer " + aliceToken},
			Principal{}, ErrMissing},
		"X-Forwarded-User":                   {[]string{"X-Forwarded-User", "alice"}, Principal{}, ErrMissing},
		"X-Forwarded-User and a wrong token": {[]string{"X-Forwarded-User", "alice", own, "x"}, Principal{}, ErrWrong},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newTestTokens().Authenticate(newRequest(c.headers...))
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v; want %+v, %v", got, err, c.want, c.err)
			}
			if err != nil && (strings.Contains(err.Error(), "0123") || len(err.Error()) > 100) {
				t.Errorf("the error contains the token: %v", err)
			}
		})
	}
}

// TestTokensIgnoresURLAndBody checks that a token in a URL or a body is never
// read.
func TestTokensIgnoresURLAndBody(t *testing.T) {
	for _, url := range []string{
		"/mcp?access_token=" + aliceToken, "/mcp?token=" + aliceToken,
		"/mcp?Authorization=Bearer+" + aliceToken, "/mcp?Mcp-Auth-Token=" + aliceToken,
		"/mcp/" + aliceToken, "http://x:" + aliceToken + "@127.0.0.1/mcp", "/mcp#" + aliceToken,
	} {
		body := strings.NewReader("access_token=" + aliceToken)
		r := httptest.NewRequest(http.MethodPost, url, body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p, err := newTestTokens().Authenticate(r); !errors.Is(err, ErrMissing) || p.Subject != "" {
			t.Errorf("%s: %+v, %v", url, p, err)
		}
		if body.Len() != len("access_token="+aliceToken) || r.Form != nil {
			t.Errorf("%s: the body was read", url)
		}
	}
}

// TestTokensWithoutUsableTokensRefusesAll checks an empty list, and a list with
// an empty token.
func TestTokensWithoutUsableTokensRefusesAll(t *testing.T) {
	for _, list := range [][]StaticToken{nil, {{Token: "", Subject: "empty"}}} {
		for _, headers := range [][]string{nil, {"Mcp-Auth-Token", ""}, {"Authorization", "Bearer "},
			{"Mcp-Auth-Token", "x"}} {
			if p, err := NewTokens(list).Authenticate(newRequest(headers...)); err == nil || p.Subject != "" {
				t.Errorf("%v: %+v", headers, p)
			}
		}
	}
}

// TestKeyIdentifiesPrincipals checks that different principals have different
// keys, and that two tokens of one subject have the same key.
func TestKeyIdentifiesPrincipals(t *testing.T) {
	one := NewTokens([]StaticToken{
		{Token: "old-0123456789abcdef", Subject: "alice", Tenant: "acme", Roles: []string{"dev"}},
		{Token: "new-0123456789abcdef", Subject: "alice", Tenant: "acme"},
	})
	before, err := one.Authenticate(newRequest("Mcp-Auth-Token", "old-0123456789abcdef"))
	after, again := one.Authenticate(newRequest("Mcp-Auth-Token", "new-0123456789abcdef"))
	if err != nil || again != nil || before.Key() != after.Key() {
		t.Errorf("two tokens of one subject: %v, %v: keys %s and %s", err, again, before.Key(), after.Key())
	}
	principals := []Principal{
		alice, bob, Local(), Anonymous(), {},
		{Subject: "alice", Tenant: "default", Method: "static_token"},
		{Subject: "alice", Tenant: "acme", Method: "jwt"},
		{Subject: `alice" "x`, Tenant: "acme", Method: "static_token"},
		{Subject: `x`, Tenant: "acme", Method: `static_token" "alice`},
		{Subject: `x`, Tenant: `acme" "static_token`, Method: "alice"},
		{Subject: "alice\x00", Tenant: "acme", Method: "static_token"},
		{Subject: "alice\xff", Tenant: "acme", Method: "static_token"},
		{Subject: "alice\\xff", Tenant: "acme", Method: "static_token"},
		{Subject: "alice\ufffd", Tenant: "acme", Method: "static_token"},
		{Subject: "Alice", Tenant: "acme", Method: "static_token"},
	}
	seen := map[string]Principal{}
	for _, p := range principals {
		if other, both := seen[p.Key()]; both {
			t.Errorf("%+v and %+v have the same key %s", p, other, p.Key())
		}
		seen[p.Key()] = p
	}
}

// FuzzToken checks for arbitrary headers that only a known token in its place
// authenticates, and that no error repeats a token.
func FuzzToken(f *testing.F) {
	for _, seed := range [][2]string{
		{"Bearer " + aliceToken, ""}, {"", bobToken}, {"Bearer  x", ""}, {"bearer", "x"}, {"Basic " + aliceToken, ""},
		{"Bearer\t" + aliceToken, ""},
		{"Bearer " + aliceToken + "\r\n", ""}, {"Bearer " + aliceToken + "," + bobToken, ""}, {aliceToken, ""},
	} {
		f.Add(seed[0], seed[1])
	}
	tokens := newTestTokens()
	f.Fuzz(func(t *testing.T, authorization, own string) {
		r := newRequest()
		if authorization != "" {
			r.Header["Authorization"] = []string{authorization}
		}
		if own != "" {
			r.Header["Mcp-Auth-Token"] = []string{own}
		}
		p, err := tokens.Authenticate(r)
		token := own
		if authorization != "" {
			var scheme string
			scheme, token, _ = strings.Cut(authorization, " ")
			token = strings.TrimLeft(token, " ")
			if own != "" || !strings.EqualFold(scheme, "Bearer") {
				token = ""
			}
		}
		in := token == aliceToken || token == bobToken
		if in != (err == nil) || in && p.Subject == "" || !in && p.Key() != (Principal{}).Key() {
			t.Errorf("%q and %q: %+v, %v", authorization, own, p, err)
		}
		if err == nil {
			return
		}
		if !errors.Is(err, ErrMissing) && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrWrong) {
			t.Errorf("%q and %q: %v", authorization, own, err)
		}
		if len(token) > 20 && strings.Contains(err.Error(), token) {
			t.Errorf("the error repeats the token: %v", err)
		}
	})
}
