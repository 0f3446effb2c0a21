package main

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestErrorDescriptions: an error has the description of the token endpoint, quoted, without
// invisible characters and bounded.
func TestErrorDescriptions(t *testing.T) {
	for description, want := range map[any]string{
		"client_secret_post expected": `answered invalid_grant: "client_secret_post expected"`,
		"der Zugriff ist gesperrt: ü": `answered invalid_grant: "der Zugriff ist gesperrt: ü"`,
		"a \"quote\"":                 `answered invalid_grant: "a \"quote\""`,
		" \r\n ":                      `answered invalid_grant`,
		"":                            `answered invalid_grant`,
		nil:                           `answered invalid_grant`,
		12:                            `answered invalid_grant`,
		true:                          `answered invalid_grant`,
		"\x1b[2J\u202eabc\u200b\r\nX": `answered invalid_grant: "\x1b[2J\u202eabc\u200b\r\nX"`,
		"\x00\u2066\ufeff":            `answered invalid_grant: "\x00\u2066\ufeff"`,
		strings.Repeat("ab", 5000):    `answered invalid_grant: "` + strings.Repeat("ab", 128) + `"…`,
		strings.Repeat("ü", 5000):     `answered invalid_grant: "` + strings.Repeat("ü", 128) + `"…`,
		"a" + strings.Repeat("ü", 99): `answered invalid_grant: "a` + strings.Repeat("ü", 99) + `"`,
	} {
		for _, status := range []int{200, 400, 401} {
			v := newVendor(t)
			v.Instead("/token", plugintest.Reply(status, map[string]any{"error": "invalid_grant", "error_description": description}))
			_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
			if reason(err) != "token_refused" || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%d %.80q: %v, want %s", status, description, err, want)
			}
		}
	}
}

// TestDescriptionsWithoutSecrets: an error does not repeat secrets of the request, however the
// authorization server writes them.
func TestDescriptionsWithoutSecrets(t *testing.T) {
	const secret = "s3:cr/et+1"
	client := `"client_id":"me","client_secret":"` + secret + `"`
	pair := "me:" + url.QueryEscape(secret)
	for name, one := range map[string]struct {
		settings string
		echo     func(r *http.Request) string
		hidden   string
	}{
		"a secret":              {`{` + client + `}`, func(*http.Request) string { return secret }, secret},
		"a secret in a form":    {`{` + client + `}`, func(*http.Request) string { return url.QueryEscape(secret) }, url.QueryEscape(secret)},
		"a header":              {`{` + client + `}`, func(r *http.Request) string { return r.Header.Get("Authorization") }, base64.StdEncoding.EncodeToString([]byte(pair))},
		"the content of one":    {`{` + client + `}`, func(*http.Request) string { return pair }, url.QueryEscape(secret)},
		"a secret in the body":  {`{` + client + `,"client_auth":"client_secret_post"}`, func(r *http.Request) string { return r.PostForm.Encode() }, url.QueryEscape(secret)},
		"a code":                {`{}`, func(r *http.Request) string { return r.PostForm.Get("code") }, "CODE"},
		"a verifier":            {`{}`, func(r *http.Request) string { return r.PostForm.Get("code_verifier") }, "VERIFIER"},
		"a whole form":          {`{}`, func(r *http.Request) string { return r.PostForm.Encode() }, "VERIFIER"},
		"twice":                 {`{}`, func(r *http.Request) string { return strings.Repeat(r.PostForm.Get("code")+",", 9) }, "CODE"},
		"at the bound":          {`{}`, func(r *http.Request) string { return strings.Repeat("x", shownMost-5) + r.PostForm.Get("code") }, "CODE"},
		"a subject token":       {`{"grant":"token_exchange","subject_token":"abc.def"}`, func(r *http.Request) string { return "bad: " + r.PostForm.Get("subject_token") }, "abc.def"},
		"an assertion":          {`{"grant":"jwt_bearer","subject_token":"e30.e30.x"}`, func(r *http.Request) string { return "bad: " + r.PostForm.Get("assertion") }, "e30.e30.x"},
		"the secret of a robot": {`{"grant":"client_credentials",` + client + `}`, func(*http.Request) string { return "<" + secret + ">" }, secret},
		"a short secret":        {`{"client_id":"me","client_secret":"xyz"}`, func(*http.Request) string { return "not xyz" }, "not"},
	} {
		v := newVendor(t)
		var sent url.Values
		v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			sent = r.PostForm
			answer(w, 400, map[string]any{"error": "invalid_scope", "error_description": "echo " + one.echo(r)})
		})
		d := newFixture(t, v, nil, one.settings)
		var err error
		if strings.Contains(one.settings, "grant") {
			_, err = d.request(t)
		} else {
			_, err = d.Login(t.Context(), nil)
		}
		hidden := strings.NewReplacer("CODE", sent.Get("code"), "VERIFIER", sent.Get("code_verifier")).Replace(one.hidden)
		if reason(err) != "token_refused" || hidden == "" || strings.Contains(err.Error(), hidden) || strings.Contains(err.Error(), hidden[:min(6, len(hidden))]) {
			t.Errorf("%s: %v", name, err)
		}
		if masked := strings.Contains(err.Error(), "***"); masked == (name == "a short secret") && name != "at the bound" {
			t.Errorf("%s: masked %t: %v", name, masked, err)
		}
	}
}
