package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestMachineGrants: grants without a user obtain a token when the server asks for one,
// renew it, and store nothing.
func TestMachineGrants(t *testing.T) {
	for name, one := range map[string]struct {
		settings string
		form     map[string]string
	}{
		"a secret": {`{"grant":"client_credentials","client_id":"me","client_secret":"s"}`,
			map[string]string{"grant_type": "client_credentials", "basic": "me:s", "scope": "read"}},
		"an exchange": {
			`{"grant":"token_exchange","client_id":"me","subject_token":"abc","audience":"aud","scopes":["x"]}`,
			map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
				"subject_token": "abc", "audience": "aud", "scope": "x",
				"subject_token_type": "urn:ietf:params:oauth:token-type:access_token", "client_id": "me"},
		},
		"an assertion": {`{"grant":"jwt_bearer","subject_token":"a.b.c"}`,
			map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
				"assertion": "a.b.c", "client_id": ""}},
	} {
		v := newVendor(t)
		v.Tokens = stale
		d := newFixture(t, v, &plugintest.Host{}, one.settings)
		for range 2 {
			if status, err := d.request(t); status != 200 || err != nil {
				t.Fatalf("%s: %d, %v", name, status, err)
			}
		}
		if len(v.forms()) != 3 || len(v.grants("refresh_token")) > 0 || v.seen("/register")+v.seen("/authorize") > 0 {
			t.Errorf("%s: asked for %v", name, v.forms())
		}
		for field, want := range one.form {
			if got := v.forms()[0].Get(field); got != want {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
		if v.forms()[0].Get("resource") != v.URL || len(d.host.Secrets()) > 0 {
			t.Errorf("%s: asked with %v, kept %v", name, v.forms()[0], d.host.Secrets())
		}
		if _, err := d.Login(t.Context(), nil); sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("%s: a login: %v", name, err)
		}
		if st, err := d.Status(t.Context()); err != nil || st.State != "ready" {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
}

// TestMachineGrantWithIssuer: with a configured issuer no request is sent without a
// token.
func TestMachineGrantWithIssuer(t *testing.T) {
	v := newVendor(t)
	settings := `{"grant":"client_credentials","client_id":"me","client_secret":"s","issuer":"` + v.Issuer + `"}`
	d := newFixture(t, v, &plugintest.Host{}, settings)
	if status, err := d.request(t); status != 200 || err != nil || v.seen("/mcp") != 1 {
		t.Errorf("%d, %v", status, err)
	}
	v.Instead(plugintest.ResourcePath,
		plugintest.Reply(200,
			map[string]any{"resource": v.URL, "authorization_servers": []string{"https://as.example"}}))
	if _, err := newFixture(t, v, &plugintest.Host{}, settings).request(t); reason(err) != "issuer_mismatch" {
		t.Errorf("another authorization server: %v", err)
	}
}

// TestMachineGrantRefused: repeated refusals do not cause endless requests for tokens.
func TestMachineGrantRefused(t *testing.T) {
	const settings = `{"grant":"client_credentials","client_id":"me","client_secret":"hunter2"}`
	refuse := func(code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 400, map[string]any{"error": code, "error_description": "hunter2"})
		}
	}
	for code, want := range map[string]string{"invalid_client": "client_refused",
		"unauthorized_client": "client_refused", "invalid_scope": "token_refused", "hunter2 ": "token_refused"} {
		v := newVendor(t)
		v.Instead("/token", refuse(code))
		_, err := newFixture(t, v, &plugintest.Host{}, settings).request(t)
		if reason(err) != want || strings.Contains(err.Error(), "hunter2") || v.seen("/token") != 1 {
			t.Errorf("%s: %v, asked %d times", code, err, v.seen("/token"))
		}
	}
	v := newVendor(t)
	v.Instead("/mcp", v.Refuse)
	if status, err := newFixture(t, v, &plugintest.Host{}, settings).request(t); status != 401 || err != nil ||
		v.seen("/token") != 1 {
		t.Errorf("a server that refuses everything: %d, %v, asked %d times", status, err, v.seen("/token"))
	}
	v = newVendor(t)
	d := newFixture(t, v, &plugintest.Host{}, settings)
	if _, err := d.request(t); err != nil {
		t.Fatal(err)
	}
	more := v.Bearer(`, error="insufficient_scope", scope="write"`)
	if res, err := v.forbid(t, d, more); err != nil || !res.Retry || v.forms()[1].Get("scope") != "read write" {
		t.Errorf("more scopes: %+v, %v, %v", res, err, v.forms()[1])
	}
	if res, err := v.forbid(t, d, more); err != nil || res.Retry || res.NeedsLogin || len(v.forms()) != 2 {
		t.Errorf("the same again: %+v, %v", res, err)
	}
	v.Expire()
	if _, err := d.request(t); err != nil || v.forms()[2].Get("scope") != "read write" {
		t.Errorf("a token that was refused: %v, %v", err, v.forms()[2])
	}
}

// TestAssertion: an assertion is signed by the key and has the claims of one request to
// this authorization server.
func TestAssertion(t *testing.T) {
	p256, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	small, _ := rsa.GenerateKey(rand.Reader, 2048)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	s256 := func(text string) []byte { h := sha256.Sum256([]byte(text)); return h[:] }
	s384 := func(text string) []byte { h := sha512.Sum384([]byte(text)); return h[:] }
	raw := func(k *ecdsa.PrivateKey, hash, sig []byte) bool {
		half := len(sig) / 2
		return ecdsa.Verify(&k.PublicKey, hash, new(big.Int).SetBytes(sig[:half]), new(big.Int).SetBytes(sig[half:]))
	}
	for _, one := range []struct {
		key   crypto.Signer
		algs  []string
		alg   string
		check func(text string, sig []byte) bool
	}{
		{p256, []string{"ES256"}, "ES256",
			func(text string, sig []byte) bool { return len(sig) == 64 && raw(p256, s256(text), sig) }},
		{p384, nil, "ES384",
			func(text string, sig []byte) bool { return len(sig) == 96 && raw(p384, s384(text), sig) }},
		{small, nil, "RS256", func(text string, sig []byte) bool {
			return rsa.VerifyPKCS1v15(&small.PublicKey, crypto.SHA256, s256(text), sig) == nil
		}},
		{small, []string{"ES256", "PS256"}, "PS256", func(text string, sig []byte) bool {
			return rsa.VerifyPSS(&small.PublicKey, crypto.SHA256, s256(text), sig, nil) == nil
		}},
		{ed, nil, "EdDSA", func(text string, sig []byte) bool {
			return ed25519.Verify(ed.Public().(ed25519.PublicKey), []byte(text), sig)
		}},
		{ed, []string{"RS256"}, "", nil},
	} {
		der, err := x509.MarshalPKCS8PrivateKey(one.key)
		if err != nil {
			t.Fatal(err)
		}
		v := newVendor(t)
		v.Metadata = func(m map[string]any) {
			m["token_endpoint_auth_methods_supported"], m["token_endpoint_auth_signing_alg_values_supported"] =
				[]string{
					"private_key_jwt",
				}, one.algs
		}
		settings, _ := json.Marshal(map[string]string{"grant": "client_credentials",
			"client_id": "me", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))})
		_, err = newFixture(t, v, &plugintest.Host{}, string(settings)).request(t)
		if one.alg == "" {
			if sdk.CodeOf(err) != sdk.Invalid || len(v.forms()) > 0 {
				t.Errorf("a key that the server does not know: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", one.alg, err)
		}
		form := v.forms()[0]
		parts := strings.Split(form.Get("client_assertion"), ".")
		head, _ := base64.RawURLEncoding.DecodeString(parts[0])
		body, _ := base64.RawURLEncoding.DecodeString(parts[1])
		sig, _ := base64.RawURLEncoding.DecodeString(parts[2])
		var claims struct {
			Iss, Sub, Aud, Jti string
			Iat, Exp           int64
		}
		if json.Unmarshal(body, &claims) != nil || claims.Iss != "me" || claims.Sub != "me" || claims.Aud != v.Issuer ||
			len(claims.Jti) < 20 || claims.Exp-claims.Iat != 60 {
			t.Errorf("%s: claims %s", one.alg, body)
		}
		if !strings.Contains(string(head), `"alg":"`+one.alg+`"`) || !one.check(parts[0]+"."+parts[1], sig) {
			t.Errorf("%s: %s is not signed by the key", one.alg, head)
		}
		if form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" ||
			form.Has("client_secret") {
			t.Errorf("%s: asked with %v", one.alg, form)
		}
	}
}
