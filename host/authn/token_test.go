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
	alices = "alice-0123456789abcdef"
	bobs   = "bob-0123456789abcdef"
)

func twoTokens() *Tokens {
	return NewTokens([]StaticToken{
		{Token: alices, Subject: "alice", Tenant: "acme", Roles: []string{"dev"}},
		{Token: bobs, Subject: "bob", Tenant: "default"},
	})
}

// ask is a request with the given headers, each a name and a value.
func ask(headers ...string) *http.Request {
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

// TestTokens: a right, a wrong, an empty and a missing token in each of the two
// headers, and what is neither.
func TestTokens(t *testing.T) {
	const authorization, own = "Authorization", "Mcp-Auth-Token"
	for name, c := range map[string]struct {
		headers []string
		want    Principal
		err     error
	}{
		"right, bearer":                {[]string{authorization, "Bearer " + alices}, alice, nil},
		"right, own":                   {[]string{own, alices}, alice, nil},
		"the second":                   {[]string{authorization, "Bearer " + bobs}, bob, nil},
		"the second, own":              {[]string{own, bobs}, bob, nil},
		"the scheme in lower case":     {[]string{authorization, "bearer " + alices}, alice, nil},
		"the scheme in upper case":     {[]string{authorization, "BEARER " + alices}, alice, nil},
		"several spaces":               {[]string{authorization, "Bearer   " + alices}, alice, nil},
		"header in lower case":         {[]string{"mcp-auth-token", alices}, alice, nil},
		"missing":                      {nil, Principal{}, ErrMissing},
		"wrong, bearer":                {[]string{authorization, "Bearer carol-0123456789abcdef"}, Principal{}, ErrWrong},
		"wrong, own":                   {[]string{own, "carol-0123456789abcdef"}, Principal{}, ErrWrong},
		"wrong, other case":            {[]string{own, strings.ToUpper(alices)}, Principal{}, ErrWrong},
		"the beginning":                {[]string{own, alices[:len(alices)-1]}, Principal{}, ErrWrong},
		"one character":                {[]string{own, alices[:1]}, Principal{}, ErrWrong},
		"one more":                     {[]string{own, alices + "0"}, Principal{}, ErrWrong},
		"as long as can be":            {[]string{own, strings.Repeat("a", maxToken)}, Principal{}, ErrWrong},
		"with the scheme, own":         {[]string{own, "Bearer " + alices}, Principal{}, ErrMalformed},
		"too long":                     {[]string{own, strings.Repeat("a", maxToken+1)}, Principal{}, ErrMalformed},
		"dots":                         {[]string{authorization, "Bearer " + strings.Repeat(".", 1<<20)}, Principal{}, ErrMalformed},
		"empty, bearer":                {[]string{authorization, "Bearer "}, Principal{}, ErrMalformed},
		"empty, only the scheme":       {[]string{authorization, "Bearer"}, Principal{}, ErrMalformed},
		"empty, bearer, spaces":        {[]string{authorization, "Bearer    "}, Principal{}, ErrMalformed},
		"empty, own":                   {[]string{own, ""}, Principal{}, ErrMalformed},
		"empty, no scheme":             {[]string{authorization, ""}, Principal{}, ErrMalformed},
		"no scheme":                    {[]string{authorization, alices}, Principal{}, ErrMalformed},
		"another scheme":               {[]string{authorization, "Basic " + alices}, Principal{}, ErrMalformed},
		"a scheme that begins so":      {[]string{authorization, "Bearers " + alices}, Principal{}, ErrMalformed},
		"a scheme before the scheme":   {[]string{authorization, "Basic Bearer " + alices}, Principal{}, ErrMalformed},
		"a tab instead of a space":     {[]string{authorization, "Bearer\t" + alices}, Principal{}, ErrMalformed},
		"a space before":               {[]string{authorization, " Bearer " + alices}, Principal{}, ErrMalformed},
		"a space in it":                {[]string{authorization, "Bearer " + alices + " x"}, Principal{}, ErrMalformed},
		"a space after it":             {[]string{own, alices + " "}, Principal{}, ErrMalformed},
		"a line break after it":        {[]string{own, alices + "\n"}, Principal{}, ErrMalformed},
		"a NUL after it":               {[]string{own, alices + "\x00"}, Principal{}, ErrMalformed},
		"not ASCII":                    {[]string{own, alices + "é"}, Principal{}, ErrMalformed},
		"not UTF-8":                    {[]string{own, alices + "\xff"}, Principal{}, ErrMalformed},
		"two in one":                   {[]string{authorization, "Bearer " + alices + ", Bearer " + bobs}, Principal{}, ErrMalformed},
		"twice":                        {[]string{authorization, "Bearer " + alices, authorization, "Bearer " + alices}, Principal{}, ErrMalformed},
		"twice, own":                   {[]string{own, alices, own, alices}, Principal{}, ErrMalformed},
		"both":                         {[]string{authorization, "Bearer " + alices, own, alices}, Principal{}, ErrMalformed},
		"both, of two":                 {[]string{authorization, "Bearer " + alices, own, bobs}, Principal{}, ErrMalformed},
		"both, one empty":              {[]string{authorization, "Bearer " + alices, own, ""}, Principal{}, ErrMalformed},
		"both, one of another scheme":  {[]string{authorization, "Basic eDp5", own, alices}, Principal{}, ErrMalformed},
		"wrong and right":              {[]string{authorization, "Bearer x", authorization, "Bearer " + alices}, Principal{}, ErrMalformed},
		"a cookie":                     {[]string{"Cookie", "token=" + alices}, Principal{}, ErrMissing},
		"what a proxy was told":        {[]string{"Proxy-Authorization", "Bearer " + alices}, Principal{}, ErrMissing},
		"what a proxy says":            {[]string{"X-Forwarded-User", "alice"}, Principal{}, ErrMissing},
		"what a proxy says, and wrong": {[]string{"X-Forwarded-User", "alice", own, "x"}, Principal{}, ErrWrong},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := twoTokens().Authenticate(ask(c.headers...))
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v; want %+v, %v", got, err, c.want, c.err)
			}
			if err != nil && (strings.Contains(err.Error(), "0123") || len(err.Error()) > 100) {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

// TestTokenInURL: what stands in a URL or a body is never read.
func TestTokenInURL(t *testing.T) {
	for _, url := range []string{
		"/mcp?access_token=" + alices, "/mcp?token=" + alices, "/mcp?Authorization=Bearer+" + alices, "/mcp?Mcp-Auth-Token=" + alices,
		"/mcp/" + alices, "http://x:" + alices + "@127.0.0.1/mcp", "/mcp#" + alices,
	} {
		body := strings.NewReader("access_token=" + alices)
		r := httptest.NewRequest(http.MethodPost, url, body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p, err := twoTokens().Authenticate(r); !errors.Is(err, ErrMissing) || p.Subject != "" {
			t.Errorf("%s: %+v, %v", url, p, err)
		}
		if body.Len() != len("access_token="+alices) || r.Form != nil {
			t.Errorf("%s: the body was read", url)
		}
	}
}

// TestNoTokens: where there are none, nobody has one; an empty one in the list
// lets nobody in either.
func TestNoTokens(t *testing.T) {
	for _, list := range [][]StaticToken{nil, {{Token: "", Subject: "nobody"}}} {
		for _, headers := range [][]string{nil, {"Mcp-Auth-Token", ""}, {"Authorization", "Bearer "}, {"Mcp-Auth-Token", "x"}} {
			if p, err := NewTokens(list).Authenticate(ask(headers...)); err == nil || p.Subject != "" {
				t.Errorf("%v: %+v", headers, p)
			}
		}
	}
}

// TestKey: what a session belongs to tells everybody from everybody else, and
// one subject's tokens not from each other.
func TestKey(t *testing.T) {
	one := NewTokens([]StaticToken{
		{Token: "old-0123456789abcdef", Subject: "alice", Tenant: "acme", Roles: []string{"dev"}},
		{Token: "new-0123456789abcdef", Subject: "alice", Tenant: "acme"},
	})
	before, err := one.Authenticate(ask("Mcp-Auth-Token", "old-0123456789abcdef"))
	after, again := one.Authenticate(ask("Mcp-Auth-Token", "new-0123456789abcdef"))
	if err != nil || again != nil || before.Key() != after.Key() {
		t.Errorf("%v, %v: %s, then %s", err, again, before.Key(), after.Key())
	}
	everybody := []Principal{
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
	for _, p := range everybody {
		if other, both := seen[p.Key()]; both {
			t.Errorf("%+v and %+v are both %s", p, other, p.Key())
		}
		seen[p.Key()] = p
	}
}

// FuzzToken: whatever the headers hold, only a token in its place lets anybody
// in, and no error repeats what was sent.
func FuzzToken(f *testing.F) {
	for _, seed := range [][2]string{
		{"Bearer " + alices, ""}, {"", bobs}, {"Bearer  x", ""}, {"bearer", "x"}, {"Basic " + alices, ""}, {"Bearer\t" + alices, ""},
		{"Bearer " + alices + "\r\n", ""}, {"Bearer " + alices + "," + bobs, ""}, {alices, ""},
	} {
		f.Add(seed[0], seed[1])
	}
	tokens := twoTokens()
	f.Fuzz(func(t *testing.T, authorization, own string) {
		r := ask()
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
		in := token == alices || token == bobs
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
			t.Errorf("%v", err)
		}
	})
}
