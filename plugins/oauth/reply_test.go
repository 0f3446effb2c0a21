package main

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// status makes the usual handler of a path answer with another status.
func status(v *vendor, path string, code int) {
	v.Instead(path, func(w http.ResponseWriter, r *http.Request) {
		v.Usual(&otherStatus{ResponseWriter: w, code: code}, r)
	})
}

// An otherStatus is a response whose status is always code.
type otherStatus struct {
	http.ResponseWriter
	code int
}

func (o *otherStatus) WriteHeader(int) { o.ResponseWriter.WriteHeader(o.code) }

// TestStatusOfTokens: tokens are taken with every status of success, and with no other one.
//
// deviation: the token endpoint answers with status 201 | takes the tokens with every 2xx | mcp-go#835, kimi-cli#1625
func TestStatusOfTokens(t *testing.T) {
	for code, want := range map[int]string{
		200: "", 201: "", 202: "", 203: "", 206: "", 226: "", 299: "",
		204: "bad_reply", 300: "redirect_refused", 307: "redirect_refused", 400: "http_status", 401: "http_status",
		403: "http_status", 404: "http_status",
		409: "http_status", 429: "http_status", 500: "http_status", 503: "http_status", 600: "http_status",
	} {
		v := newVendor(t)
		status(v, "/token", code)
		d := newFixture(t, v, nil, `{}`)
		if _, err := d.Login(t.Context(), nil); reason(err) != want || (err == nil) != (want == "") {
			t.Errorf("%d: %v, want %q", code, err, want)
		}
	}
}

// TestSuccessWithoutToken: a status of success without a token is no success.
func TestSuccessWithoutToken(t *testing.T) {
	for _, code := range []int{200, 201, 202, 204} {
		for body, want := range map[string]string{
			``: "bad_reply", `{}`: "bad_reply", `<html>`: "bad_reply",
			`{"access_token":""}`: "bad_reply", `[{"access_token":"at"}]`: "bad_reply",
			`{"access_token":"at"`: "bad_reply", `{"error":"invalid_grant"}`: "token_refused",
			`{"access_token":"at","error":"invalid_grant"}`: "token_refused",
		} {
			if code == 204 {
				want = "bad_reply"
			}
			v := newVendor(t)
			v.Instead("/token", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(code)
				_, _ = w.Write([]byte(body))
			})
			if _, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil); reason(err) != want {
				t.Errorf("%d %s: %v, want %q", code, body, err, want)
			}
		}
	}
}

// TestStatusOfRegistrations: a registration succeeds with status 200 or 201 only.
func TestStatusOfRegistrations(t *testing.T) {
	for code, want := range map[int]string{
		200: "", 201: "", 202: "no_client", 204: "no_client", 302: "redirect_refused", 400: "no_client",
		401: "no_client", 403: "no_client",
		429: "http_status", 500: "http_status",
	} {
		v := newVendor(t)
		status(v, "/register", code)
		d := newFixture(t, v, nil, `{}`)
		d.authorizer.host.Person = noTerminal{d.authorizer.host.Person}
		if _, err := d.Login(t.Context(), nil); reason(err) != want || (err == nil) != (want == "") {
			t.Errorf("%d: %v, want %q", code, err, want)
		}
	}
}

// A member is a member of a reply with a value in JSON. An empty value removes it.
type member struct{ name, value string }

// change makes the usual handler of a path answer with other members.
func change(v *vendor, path string, members ...member) {
	v.Instead(path, func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		v.Usual(rec, r)
		reply := map[string]json.RawMessage{}
		_ = json.Unmarshal(rec.Body.Bytes(), &reply)
		for _, m := range members {
			if reply[m.name] = json.RawMessage(m.value); m.value == "" {
				delete(reply, m.name)
			}
		}
		b, _ := json.Marshal(reply)
		w.WriteHeader(rec.Code)
		_, _ = w.Write(b)
	})
}

// wrongTypes are values of types that a text member does not have.
var wrongTypes = []string{`null`, `true`, `12`, `-1.5e3`, `[]`, `["a"]`, `{}`, `{"a":{"b":[1]}}`}

// TestTypesOfTokens: a wrong type in a member of the tokens that is not needed is ignored. An
// error about a needed one says what is wrong.
func TestTypesOfTokens(t *testing.T) {
	unneeded := []string{"scope", "refresh_token", "id_token", "expires_in", "issued_token_type", "error",
		"error_description", "x"}
	for _, name := range unneeded {
		for _, value := range wrongTypes {
			v := newVendor(t)
			change(v, "/token", member{name, value})
			d := newFixture(t, v, nil, `{}`)
			if _, err := d.Login(t.Context(), nil); err != nil {
				t.Errorf("%s: %s: %v", name, value, err)
				continue
			}
			if status, err := d.request(t); status != 200 || err != nil {
				t.Errorf("%s: %s: a request: %d, %v", name, value, status, err)
			}
		}
	}
	long := `"` + strings.Repeat("a", tokenMost+1) + `"`
	for _, one := range []struct{ name, value, want string }{
		{"access_token", ``, "contains no access_token"},
		{"access_token", `null`, "contains no access_token"},
		{"access_token", `""`, "contains no access_token"},
		{"access_token", `true`, "a member access_token that is not a string"},
		{"access_token", `12`, "a member access_token that is not a string"},
		{"access_token", `["at"]`, "a member access_token that is not a string"},
		{"access_token", `{"value":"at"}`, "a member access_token that is not a string"},
		{"access_token", long, "a member access_token of more than 7168 bytes"},
		{"access_token", `"a b"`, "a member access_token with other characters"},
		{"access_token", `"a\r\nX: y"`, "a member access_token with other characters"},
		{"access_token", `"\u00e9"`, "a member access_token with other characters"},
		{"refresh_token", `"a b"`, "a member refresh_token of more than"},
		{"refresh_token", long, "a member refresh_token of more than"},
		{"token_type", `"DPoP"`, "of another type than Bearer"},
		{"token_type", `["Bearer"]`, "of another type than Bearer"},
		{"token_type", `1`, "of another type than Bearer"},
	} {
		v := newVendor(t)
		change(v, "/token", member{one.name, one.value})
		_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
		if reason(err) != "bad_reply" || !strings.Contains(err.Error(), one.want) || len(err.Error()) > 500 {
			t.Errorf("%s: %s: %v, want %q", one.name, one.value, err, one.want)
		}
	}
}

// TestAmbiguousReplies: a reply that is no object or has a name twice is refused as such.
func TestAmbiguousReplies(t *testing.T) {
	for _, body := range []string{``, `[]`, `"at"`, `12`, `<html>`, `{"access_token":"a","access_token":"b"}`,
		`{"access_token":"a"} x`, `{"access_token":"a",}`, "{\"access_token\":\"a\xff\"}"} {
		for path, what := range map[string]string{"/token": "the answer of ", "/register": " to the registration "} {
			v := newVendor(t)
			v.Instead(path, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(strings.ReplaceAll(body, "access_token", "client_id")))
			})
			_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
			if reason(err) != "bad_reply" || !strings.Contains(err.Error(), what) ||
				!strings.Contains(err.Error(), noObject) {
				t.Errorf("%s %s: %v", path, body, err)
			}
		}
	}
}

// TestContentTypeOfTokens: the error for tokens that are not JSON has the host and the
// Content-Type.
func TestContentTypeOfTokens(t *testing.T) {
	for kind, want := range map[string]string{
		"application/x-www-form-urlencoded": ` to the token request has the Content-Type "application/x-www-form-urlencoded" and is not a JSON object`,
		"text/html; charset=utf-8":          ` to the token request has the Content-Type "text/html" and is not a JSON object`,
		"application/json":                  " to the token request is not a JSON object",
		"":                                  " to the token request has no Content-Type and is not a JSON object",
	} {
		v := newVendor(t)
		v.Instead("/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{kind}
			_, _ = w.Write([]byte("access_token=at-s3cret&token_type=bearer"))
		})
		_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
		if reason(err) != "bad_reply" || !strings.Contains(err.Error(), "the answer of "+hostOf(v.Issuer)+want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", kind, err)
		}
	}
}

// TestScopesOfTokens: the granted scopes may be a list. Without valid ones the requested
// scopes count as granted.
//
// deviation: the scope of a token is a list | joins it | -
func TestScopesOfTokens(t *testing.T) {
	for value, want := range map[string]string{
		`"a b"`: "a b", `["a","b"]`: "a b", `["a b","c"]`: "a b c",
		`["a"]`: "a", `[]`: "", `""`: "", `["a","a"]`: "a", `["a\"","b"]`: "b",
		``: "read", `null`: "read", `12`: "read", `true`: "read", `{}`: "read", `{"a":"b"}`: "read", `["a",1]`: "read",
		`[["a"]]`: "read", `[{"a":1}]`: "read",
	} {
		v := newVendor(t)
		change(v, "/token", member{"scope", value})
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		if st, err := d.Status(t.Context()); err != nil || strings.Join(st.Scopes, " ") != want {
			t.Errorf("%s: %v, %v, want %q", value, st.Scopes, err, want)
		}
	}
}

// TestTypesOfRegistrations: a wrong type in a member of a registration that is not needed is
// ignored. An error about a needed one says what is wrong.
//
// deviation: a wrong type in a member of tokens or of a registration that is not needed, such as `"client_secret_expires_at": "0"` | reads numbers in texts, and ignores others | -
func TestTypesOfRegistrations(t *testing.T) {
	unneeded := []string{"client_secret_expires_at", "client_id_issued_at", "token_endpoint_auth_method", "scope",
		"redirect_uris", "grant_types", "client_name", "error", "x"}
	for _, name := range unneeded {
		for _, value := range append([]string{`"0"`, `"never"`, `"2026-01-01T00:00:00Z"`}, wrongTypes...) {
			if name == "error" || name == "token_endpoint_auth_method" && value[0] == '"' {
				continue // a text has a meaning there
			}
			v := newVendor(t)
			change(v, "/register", member{name, value})
			if _, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil); err != nil {
				t.Errorf("%s: %s: %v", name, value, err)
			}
		}
	}
	basic := member{"token_endpoint_auth_method", `"client_secret_basic"`}
	long := `"` + strings.Repeat("s", secretMax+1) + `"`
	for _, one := range []struct {
		members []member
		want    string
	}{
		{[]member{{"client_id", ``}}, "contains no client_id"},
		{[]member{{"client_id", `null`}}, "contains no client_id"},
		{[]member{{"client_id", `""`}}, "contains no client_id"},
		{[]member{{"client_id", `12345`}}, "a member client_id that is not a string"},
		{[]member{{"client_id", `["a"]`}}, "a member client_id that is not a string"},
		{[]member{{"client_id", `{}`}}, "a member client_id that is not a string"},
		{[]member{{"client_id", `"` + strings.Repeat("a", idMost+1) + `"`}},
			"a member client_id of more than 2048 bytes"},
		{[]member{{"client_secret", `12345`}, {"token_endpoint_auth_method", ``}},
			"a member client_secret that is not a string"},
		{[]member{{"client_secret", `["s3cret"]`}, basic}, "a member client_secret that is not a string"},
		{[]member{{"client_secret", `true`}, basic}, "a member client_secret that is not a string"},
		{[]member{{"client_secret", long}, basic}, "a member client_secret of more than 4096 bytes"},
	} {
		v := newVendor(t)
		change(v, "/register", one.members...)
		_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
		if reason(err) != "bad_reply" || !strings.Contains(err.Error(), one.want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.80v: %v, want %q", one.members, err, one.want)
		}
	}
	for _, value := range append(wrongTypes, long) {
		v := newVendor(t)
		change(v, "/register", member{"client_secret", value}, member{"token_endpoint_auth_method", `"none"`})
		d := newFixture(t, v, nil, `{}`)
		if _, err := d.Login(t.Context(), nil); err != nil ||
			strings.Contains(d.host.Secrets()[clientKey(v.Issuer)], `"secret"`) {
			t.Errorf("a public client with the secret %.80s: %v", value, err)
		}
	}
}

// TestExpiryOfSecrets: the expiry of a secret may be a text with a number. A client whose
// secret expires soon registers again.
func TestExpiryOfSecrets(t *testing.T) {
	for value, registered := range map[string]int{
		`0`: 1, `"0"`: 1, `4102444800`: 1, `"4102444800"`: 1, `4102444800.5`: 1, ``: 1, `null`: 1, `"never"`: 1,
		`"2000-01-01T00:00:00Z"`: 1, `-1`: 1, `"NaN"`: 1, `1e300`: 1,
		`1`: 2, `"1"`: 2, `946684800`: 2, `"946684800"`: 2, `"946684800.5"`: 2,
	} {
		v := newVendor(t)
		change(v, "/register", member{"client_secret", `"s3cret"`}, member{"client_secret_expires_at", value})
		host := &plugintest.Host{Browser: plugintest.Follow}
		services := host.Services()
		services.Person = newTablet("8085")
		for range 2 {
			a, err := startWith(t, v.URL, services, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Login(t.Context(), nil); err != nil {
				t.Errorf("%s: %v", value, err)
			}
		}
		if n := v.seen("/register"); n != registered {
			t.Errorf("%s: registered %d times, want %d", value, n, registered)
		}
	}
}

// TestTypesOfDeviceLogins: numbers of a device login may be texts, and a wrong type in a
// member that is not needed is ignored.
func TestTypesOfDeviceLogins(t *testing.T) {
	hurry(t)
	usual := map[string]string{"device_code": `"dc"`, "user_code": `"ABCD"`,
		"verification_uri": `"http://127.0.0.1:1/device"`, "expires_in": `600`, "interval": `0.001`}
	for _, one := range []struct{ name, value, want string }{
		{"expires_in", `"600"`, ""}, {"expires_in", `null`, ""}, {"expires_in", `[]`, ""}, {"expires_in", `"soon"`, ""},
		{"interval", `"0.001"`, ""}, {"verification_uri_complete", `{}`, ""}, {"verification_uri_complete", `12`, ""},
		{"message", `[1]`, ""}, {"device_code", `12`, "contains no valid device_code"},
		{"device_code", `["dc"]`, "contains no valid device_code"},
		{"device_code", `""`, "contains no valid device_code"}, {"user_code", `1234`, "contains no user_code"},
		{"user_code", `null`, "contains no user_code"}, {"user_code", `{}`, "contains no user_code"},
		{"verification_uri", `12`, "is missing"}, {"verification_uri", `["http://127.0.0.1:1/device"]`, "is missing"},
		{"device_code\":\"a\",\"device_code", `"b"`, noObject},
	} {
		v := newVendor(t)
		v.Metadata = func(m map[string]any) { m["device_authorization_endpoint"] = v.Issuer + "/device" }
		v.Instead("/device", func(w http.ResponseWriter, _ *http.Request) {
			m := maps.Clone(usual)
			m[one.name] = one.value
			var members []string
			for name, value := range m {
				members = append(members, `"`+name+`":`+value)
			}
			_, _ = w.Write([]byte("{" + strings.Join(members, ",") + "}"))
		})
		v.Instead("/token",
			func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, map[string]any{"access_token": "at"}) })
		_, err := newFixture(t, v, &plugintest.Host{}, `{"grant":"device"}`).Login(t.Context(), nil)
		if (err == nil) != (one.want == "") || err != nil && !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %s: %v, want %q", one.name, one.value, err, one.want)
		}
	}
}

// TestTypesOfAccounts: a wrong type in one claim does not hide the others.
func TestTypesOfAccounts(t *testing.T) {
	for claims, want := range map[string]string{
		`{"email":"ann@example.com","sub":1}`: "ann@example.com", `{"email":["a"],"preferred_username":"ann"}`: "ann",
		`{"email":{},"preferred_username":7,"sub":"s-1"}`: "s-1",
		`{"email":1}`: "", `{"sub":["s"]}`: "", `{}`: "", `[]`: "", `{"sub":"a","sub":"b"}`: "",
		`{"email":"\u202e"}`: "",
	} {
		if got := account("e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"); got != want {
			t.Errorf("%s: %q, want %q", claims, got, want)
		}
	}
}
