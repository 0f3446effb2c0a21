package plugintest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Usual handles a request of the authorization server correctly, even if
// Instead replaced the handler of its path. Handlers that fail only sometimes
// can call it.
func (v *Vendor) Usual(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case MetadataPath:
		Reply(http.StatusOK, v.Document())(w, r)
	case "/register":
		v.register(w, r)
	case "/authorize":
		v.authorize(w, r)
	case "/token":
		v.token(w, r)
	case "/revoke":
		_ = r.ParseForm()
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.refresh, r.PostForm.Get("token"))
		delete(v.access, r.PostForm.Get("token"))
	default:
		http.NotFound(w, r)
	}
}

// Document returns the metadata of the authorization server after the changes
// of Metadata.
func (v *Vendor) Document() map[string]any {
	m := map[string]any{
		"issuer": v.Issuer, "authorization_endpoint": v.Issuer + "/authorize", "token_endpoint": v.Issuer + "/token",
		"registration_endpoint": v.Issuer + "/register", "revocation_endpoint": v.Issuer + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
	}
	if v.Metadata != nil {
		v.Metadata(m)
	}
	return m
}

// register registers a public client (RFC 7591) without checking its metadata.
func (v *Vendor) register(w http.ResponseWriter, r *http.Request) {
	var m map[string]any
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		refuse(w, "invalid_client_metadata")
		return
	}
	v.mu.Lock()
	v.clients++
	id := fmt.Sprintf("client-%d", v.clients)
	v.mu.Unlock()
	Reply(http.StatusCreated, map[string]any{"client_id": id, "token_endpoint_auth_method": "none"})(w, r)
}

// authorize handles the authorization page. It consents at once.
func (v *Vendor) authorize(w http.ResponseWriter, r *http.Request) {
	q, code := r.URL.Query(), rand.Text()
	v.mu.Lock()
	v.codes[code] = q
	v.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {v.Issuer}}
	if v.Redirect != nil {
		v.Redirect(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token handles the token endpoint.
func (v *Vendor) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	scope, wrong := v.grant(r)
	if wrong != "" {
		refuse(w, wrong)
		return
	}
	m := map[string]any{
		"access_token": "at-" + rand.Text(), "token_type": "Bearer", "refresh_token": "rt-" + rand.Text(),
		"expires_in": 3600,
	}
	if scope != "" {
		m["scope"] = scope
	}
	if v.Tokens != nil {
		v.Tokens(r.PostForm, m)
	}
	access, _ := m["access_token"].(string)
	refresh, rotated := m["refresh_token"].(string)
	if !rotated {
		refresh = r.PostForm.Get("refresh_token")
	}
	v.keep(access, v.access)
	v.keep(refresh, v.refresh)
	Reply(http.StatusOK, m)(w, r)
}

// Issue issues an access token without a login. The token is valid.
func (v *Vendor) Issue() (access string) {
	access = "at-" + rand.Text()
	v.keep(access, v.access)
	return access
}

// keep adds a token to the valid tokens.
func (v *Vendor) keep(token string, good map[string]bool) {
	if token == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	good[token] = true
	v.issued = append(v.issued, token)
}

// grant checks the code of a login or the refresh token, and invalidates it.
// Every other grant type succeeds: checking its request is up to the test.
func (v *Vendor) grant(r *http.Request) (scope, wrong string) {
	form := r.PostForm
	v.mu.Lock()
	defer v.mu.Unlock()
	switch form.Get("grant_type") {
	case "":
		return "", "invalid_request"
	case "authorization_code":
		login := v.codes[form.Get("code")]
		delete(v.codes, form.Get("code"))
		if !answers(r, login) {
			return "", "invalid_grant"
		}
		return login.Get("scope"), ""
	case "refresh_token":
		if !v.refresh[form.Get("refresh_token")] {
			return "", "invalid_grant"
		}
		delete(v.refresh, form.Get("refresh_token"))
	}
	return form.Get("scope"), ""
}

// answers reports whether a token request belongs to the client that began the
// login.
func answers(r *http.Request, login url.Values) bool {
	form := r.PostForm
	id := form.Get("client_id")
	if user, _, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
	}
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	return login != nil && base64.RawURLEncoding.EncodeToString(sum[:]) == login.Get("code_challenge") &&
		form.Get("redirect_uri") == login.Get("redirect_uri") && id == login.Get("client_id")
}

// refuse responds with an OAuth error whose description contains an escape
// sequence. Plugins must not print it.
func refuse(w http.ResponseWriter, code string) {
	Reply(http.StatusBadRequest, map[string]any{"error": code, "error_description": "\x1b[2Jgone"})(w, nil)
}
