package plugintest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// visits sends a request to a vendor without following redirects.
func visits(t testing.TB, method, address, token string, form url.Values) (
	status int, h http.Header, m map[string]any,
) {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_ = json.NewDecoder(res.Body).Decode(&m)
	return res.StatusCode, res.Header, m
}

// begun begins a login and returns the form of the token request.
func begun(t testing.TB, v *Vendor) url.Values {
	t.Helper()
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"client_id": {"me"}, "redirect_uri": {"http://127.0.0.1:1/done"}, "state": {"s"}, "scope": {"read"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
	}
	status, h, _ := visits(t, "GET", v.Issuer+"/authorize?"+q.Encode(), "", nil)
	back, err := url.Parse(h.Get("Location"))
	if status != http.StatusFound || err != nil || back.Query().Get("state") != "s" ||
		back.Query().Get("iss") != v.Issuer {
		t.Fatalf("redirected with %d to %s", status, h.Get("Location"))
	}
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {"me"},
		"redirect_uri": {"http://127.0.0.1:1/done"}, "code_verifier": {verifier},
	}
}

// TestVendor checks that correct requests succeed, that codes and refresh
// tokens are valid once, and that incorrect requests are rejected.
func TestVendor(t *testing.T) {
	v := NewVendor(t)
	if status, _, _ := visits(t, "POST", v.URL, v.Issue(), nil); status != http.StatusOK {
		t.Errorf("with a token from elsewhere: %d", status)
	}
	v.Expire()
	status, h, _ := visits(t, "POST", v.URL, "", nil)
	if status != http.StatusUnauthorized || h.Get("WWW-Authenticate") != v.Bearer("") ||
		!strings.Contains(v.Bearer(""), ResourcePath) {
		t.Fatalf("without a token: %d, %v", status, h)
	}
	for name, change := range map[string]func(f url.Values){
		"another verifier": func(f url.Values) { f.Set("code_verifier", "x") },
		"no verifier":      func(f url.Values) { f.Del("code_verifier") },
		"another client":   func(f url.Values) { f.Set("client_id", "you") },
		"another redirect": func(f url.Values) { f.Set("redirect_uri", "http://127.0.0.1:1/") },
		"another code":     func(f url.Values) { f.Set("code", "x") },
		"no grant":         func(f url.Values) { f.Del("grant_type") },
		"a stolen token":   func(f url.Values) { f.Set("grant_type", "refresh_token"); f.Set("refresh_token", "x") },
	} {
		form := begun(t, v)
		change(form)
		if status, _, m := visits(t, "POST", v.Issuer+"/token", "", form); status != http.StatusBadRequest ||
			m["error"] == nil {
			t.Errorf("%s: %d, %v", name, status, m)
		}
	}
	if v.Good() != 0 {
		t.Fatal("a token was issued")
	}

	form := begun(t, v)
	_, _, first := visits(t, "POST", v.Issuer+"/token", "", form)
	access, _ := first["access_token"].(string)
	if status, _, _ := visits(t, "POST", v.URL, access, nil); status != http.StatusOK || first["scope"] != "read" {
		t.Fatalf("with %v: %d", first, status)
	}
	if status, _, _ := visits(t, "POST", v.Issuer+"/token", "", form); status != http.StatusBadRequest {
		t.Errorf("using a code twice: %d", status)
	}
	v.Expire()
	if status, _, _ := visits(t, "POST", v.URL, access, nil); status != http.StatusUnauthorized {
		t.Errorf("using an expired token: %d", status)
	}
	again := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first["refresh_token"].(string)}}
	for _, want := range []int{http.StatusOK, http.StatusBadRequest} {
		if status, _, _ := visits(t, "POST", v.Issuer+"/token", "", again); status != want {
			t.Errorf("a refresh: %d, want %d", status, want)
		}
	}
	if n := len(v.Grants("refresh_token")); n != 3 {
		t.Errorf("counted %d refreshes", n)
	}
	visits(t, "POST", v.Issuer+"/revoke", "", again)
	v.Instead("/mcp", v.Refuse)
	if status, h, _ := visits(t, "POST", v.URL, v.Issue(), nil); status != http.StatusUnauthorized ||
		h.Get("WWW-Authenticate") != v.Bearer("") {
		t.Errorf("with Refuse for all requests: %d, %v", status, h)
	}
	if all := v.Issued(); len(all) != 6 || all[1] != access || all[2] != first["refresh_token"] {
		t.Errorf("issued %v", all)
	}
	if v.Good() != 3 {
		t.Errorf("%d tokens are valid", v.Good())
	}
}

// TestVendorIsWrong checks that each field changes its own response only.
func TestVendorIsWrong(t *testing.T) {
	v := NewVendor(t)
	v.Challenge = "Basic"
	v.Resource = func(m map[string]any) { m["resource"] = "elsewhere" }
	v.Metadata = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
	v.Redirect = func(q url.Values) { q.Set("error", "access_denied") }
	v.Tokens = func(form url.Values, m map[string]any) {
		m["access_token"] = "of " + form.Get("client_id")
		delete(m, "refresh_token")
	}
	v.Inside = Reply(http.StatusTeapot, nil)
	origin := strings.TrimSuffix(v.URL, "/mcp")
	if _, h, _ := visits(t, "POST", v.URL, "", nil); h.Get("WWW-Authenticate") != "Basic" {
		t.Errorf("the challenge is %v", h)
	}
	if _, _, m := visits(t, "GET", origin+ResourcePath, "", nil); m["resource"] != "elsewhere" {
		t.Errorf("the server publishes %v", m)
	}
	if _, _, m := visits(t, "GET", v.Issuer+MetadataPath, "", nil); m["code_challenge_methods_supported"] != nil ||
		m["issuer"] != v.Issuer {
		t.Errorf("the authorization server publishes %v", m)
	}
	if _, h, _ := visits(t, "GET", v.Issuer+"/authorize?redirect_uri=http://127.0.0.1:1/", "",
		nil); !strings.Contains(h.Get("Location"), "error=access_denied") {
		t.Errorf("sent back to %v", h)
	}
	alone := url.Values{"grant_type": {"client_credentials"}, "client_id": {"me"}}
	if _, _, m := visits(t, "POST", v.Issuer+"/token", "", alone); m["access_token"] != "of me" || v.Good() != 1 {
		t.Errorf("issued %v", m)
	}
	if status, _, _ := visits(t, "POST", v.URL, "of me", nil); status != http.StatusTeapot {
		t.Errorf("inside is %d", status)
	}

	v.Instead("/token", Reply(http.StatusBadGateway, nil))
	if status, _, _ := visits(t, "POST", v.Issuer+"/token", "", alone); status != http.StatusBadGateway {
		t.Errorf("instead: %d", status)
	}
	v.Instead("/token", nil)
	if status, _, _ := visits(t, "POST", v.Issuer+"/token", "", alone); status != http.StatusOK {
		t.Errorf("as usual again: %d", status)
	}
	old := v.Issuer
	v.Move(t)
	if _, _, m := visits(t, "GET", old+MetadataPath, "", nil); old == v.Issuer || m["issuer"] != v.Issuer {
		t.Errorf("after the move from %s the metadata is %v", old, m)
	}
	if status, _, _ := visits(t, "POST", v.Issuer+"/register", "",
		url.Values{"a": {strings.Repeat("x", vendorBody)}}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge body: %d", status)
	}
	if status, _, _ := visits(t, "POST", v.Issuer+"/register", "", nil); status != http.StatusBadRequest {
		t.Errorf("a registration without a body: %d", status)
	}
}
