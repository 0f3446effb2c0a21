package authn

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

const (
	issuer   = "https://id.example.com"
	audience = "https://mcp.example.com"
)

// An idp signs tokens with keys of three types.
type idp struct {
	rsa     *rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	ed      ed25519.PrivateKey
	foreign *rsa.PrivateKey // not published
}

func newIDP(t testing.TB) *idp {
	t.Helper()
	var i idp
	var err [4]error
	i.rsa, err[0] = rsa.GenerateKey(rand.Reader, 2048)
	i.foreign, err[1] = rsa.GenerateKey(rand.Reader, 2048)
	i.ec, err[2] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, i.ed, err[3] = ed25519.GenerateKey(rand.Reader)
	if e := errors.Join(err[:]...); e != nil {
		t.Fatal(e)
	}
	return &i
}

// document returns the published keys.
func (i *idp) document(t testing.TB) []byte {
	t.Helper()
	var d jwkset.JWKSMarshal
	for id, key := range map[string]any{"rsa": i.rsa.Public(),
		"ec": i.ec.Public(), "ed": i.ed.Public(), "ps": i.rsa.Public()} {
		meta := jwkset.JWKMetadataOptions{KID: id}
		if id == "ps" {
			meta.ALG = "PS256"
		}
		k, err := jwkset.NewJWKFromKey(key, jwkset.JWKOptions{Metadata: meta})
		if err != nil {
			t.Fatal(err)
		}
		d.Keys = append(d.Keys, k.Marshal())
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// open returns an Authenticator for the tokens of the idp.
func (i *idp) open(t testing.TB, change func(*JWTOptions)) *JWT {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(path, i.document(t), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := jwks.NewPool(hclog.NewNullLogger())
	t.Cleanup(pool.Close)
	o := JWTOptions{
		Issuer: issuer, Audiences: []string{audience, "other-audience"}, Algorithms: AsymmetricAlgorithms,
		Leeway: time.Minute, Keys: pool.Set(jwks.Source{File: path}),
		Claims: ClaimNames{Subject: "sub", Tenant: "org_id", Roles: "realm.roles", Groups: "https://example.com/groups",
			Scopes: "scope"},
	}
	if change != nil {
		change(&o)
	}
	if o.Keys != nil {
		if err := o.Keys.Prepare(); err != nil {
			t.Fatal(err)
		}
	}
	return NewJWT(o)
}

type object = map[string]any

func goodHeader() object { return object{"alg": "RS256", "kid": "rsa", "typ": "JWT"} }

func goodClaims() object {
	return object{"iss": issuer, "aud": audience, "sub": "alice", "org_id": "acme",
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
}

// with returns an object with some members changed, and without those that are nil.
func with(o object, changes object) object {
	o = maps.Clone(o)
	for k, v := range changes {
		if o[k] = v; v == nil {
			delete(o, k)
		}
	}
	return o
}

func encode(v any) string {
	if s, ok := v.(string); ok {
		return base64.RawURLEncoding.EncodeToString([]byte(s))
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// sign returns a token. header and claims are objects, or the JSON text itself.
func sign(alg string, key any, header, claims any) string {
	text := encode(header) + "." + encode(claims)
	signature, err := jwt.GetSigningMethod(alg).Sign(text, key)
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (i *idp) token(claims object) string {
	return sign("RS256", i.rsa, goodHeader(), with(goodClaims(), claims))
}

// TestJWTAccepts sends tokens of each key type, and reads all parts of a principal.
func TestJWTAccepts(t *testing.T) {
	i := newIDP(t)
	j := i.open(t, nil)
	for what, token := range map[string]string{
		"RS256": i.token(nil),
		"PS256": sign("PS256", i.rsa, object{"alg": "PS256", "kid": "ps"}, goodClaims()),
		"ES256": sign("ES256", i.ec, object{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}, goodClaims()),
		"EdDSA": sign("EdDSA", i.ed,
			object{"alg": "EdDSA", "kid": "ed", "typ": "application/at+JWT"}, goodClaims()),
		"several audiences":   i.token(object{"aud": []string{"x", audience}}),
		"the second audience": i.token(object{"aud": "other-audience"}),
		"within the leeway": i.token(object{"exp": time.Now().Add(-30 * time.Second).Unix(),
			"nbf": time.Now().Add(30 * time.Second).Unix()}),
		"a header with keys": sign("RS256", i.rsa,
			with(goodHeader(), object{"jku": "https://evil.example/keys", "x5u": "https://evil.example/x"}),
			goodClaims()),
	} {
		p, err := j.Authenticate(newRequest("Authorization", "Bearer "+token))
		if err != nil || p.Subject != "alice" || p.Tenant != "acme" || p.Method != "jwt" || p.Issuer != issuer ||
			p.Expires.IsZero() {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
	p, err := j.Authenticate(newRequest("Mcp-Auth-Token", i.token(object{
		"realm": object{"roles": []string{"dev", "ops"}}, "https://example.com/groups": []string{"engineering"},
		"scope": "read  write",
	})))
	if err != nil || !slices.Equal(p.Roles, []string{"dev", "ops"}) ||
		!slices.Equal(p.Groups, []string{"engineering"}) || !slices.Equal(p.Scopes, []string{"read", "write"}) ||
		!json.Valid(p.Claims) || !strings.Contains(string(p.Claims), `"org_id":"acme"`) {
		t.Errorf("%+v, %v", p, err)
	}
}

// attacks returns tokens that must be refused.
func attacks(t testing.TB, i *idp) map[string]string {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(i.rsa.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	good, now := i.token(nil), time.Now()
	parts := strings.Split(good, ".")
	claims := func(changes object) string { return i.token(changes) }
	header := func(changes object) string {
		return sign("RS256", i.rsa, with(goodHeader(), changes), goodClaims())
	}
	hs := func(key []byte, header object) string {
		text := encode(header) + "." + encode(goodClaims())
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	own, err := jwkset.NewJWKFromKey(i.foreign.Public(), jwkset.JWKOptions{})
	if err != nil {
		t.Fatal(err)
	}
	goodText, _ := json.Marshal(goodClaims())
	double := strings.Replace(string(goodText), `"sub":"alice"`, `"sub":"alice","sub":"root"`, 1)
	return map[string]string{
		"alg none":                  encode(object{"alg": "none"}) + "." + encode(goodClaims()) + ".",
		"alg none with a signature": encode(object{"alg": "none", "kid": "rsa"}) + "." + parts[1] + "." + parts[2],
		"alg None":                  encode(object{"alg": "None", "kid": "rsa"}) + "." + parts[1] + ".",
		"alg empty":                 encode(object{"alg": "", "kid": "rsa"}) + "." + parts[1] + "." + parts[2],
		"alg missing":               encode(object{"kid": "rsa"}) + "." + parts[1] + "." + parts[2],
		"alg no string": encode(object{"alg": []string{"RS256"}, "kid": "rsa"}) + "." + parts[1] +
			"." + parts[2],
		"HS256 with the public key": hs(publicPEM, object{"alg": "HS256", "kid": "rsa"}),
		"HS256 with the DER key":    hs(public, object{"alg": "HS256", "kid": "rsa"}),
		"HS256 with the modulus":    hs(i.rsa.N.Bytes(), object{"alg": "HS256", "kid": "rsa"}),
		"HS256 with an empty key":   hs(nil, object{"alg": "HS256", "kid": "rsa"}),
		"another key":               sign("RS256", i.foreign, goodHeader(), goodClaims()),
		"another key in jwk": sign("RS256", i.foreign,
			with(goodHeader(), object{"jwk": own.Marshal()}), goodClaims()),
		"another key by jku": sign("RS256", i.foreign,
			with(goodHeader(), object{"jku": "http://127.0.0.1:1/keys"}), goodClaims()),
		"another key by x5u": sign("RS256", i.foreign,
			with(goodHeader(), object{"x5u": "http://127.0.0.1:1/x"}), goodClaims()),
		"the kid of another type":    sign("RS256", i.rsa, with(goodHeader(), object{"kid": "ec"}), goodClaims()),
		"RS256 with a key for PS256": sign("RS256", i.rsa, with(goodHeader(), object{"kid": "ps"}), goodClaims()),
		"ES256 under the kid of RSA": sign("ES256", i.ec, object{"alg": "ES256", "kid": "rsa"}, goodClaims()),
		"no kid":                     header(object{"kid": nil}),
		"an unknown kid":             header(object{"kid": "unknown"}),
		"an empty kid":               header(object{"kid": ""}),
		"kid a path":                 header(object{"kid": "../../dev/null"}),
		"kid SQL":                    header(object{"kid": "x' UNION SELECT 'k"}),
		"kid a number":               header(object{"kid": 1}),
		"kid long":                   header(object{"kid": strings.Repeat("k", 1000)}),
		"crit":                       header(object{"crit": []string{"exp"}}),
		"b64":                        header(object{"b64": false, "crit": []string{"b64"}}),
		"typ of a logout":            header(object{"typ": "logout+jwt"}),
		"typ of a proof":             header(object{"typ": "dpop+jwt"}),
		"typ no string":              header(object{"typ": 1}),
		"no aud":                     claims(object{"aud": nil}),
		"another aud":                claims(object{"aud": "https://other.example.com"}),
		"aud begins alike":           claims(object{"aud": audience + ".evil.example"}),
		"aud in another case":        claims(object{"aud": strings.ToUpper(audience)}),
		"aud an object":              claims(object{"aud": object{audience: true}}),
		"aud a list in a list":       claims(object{"aud": []any{[]string{audience}}}),
		"no iss":                     claims(object{"iss": nil}),
		"another iss":                claims(object{"iss": "https://evil.example"}),
		"iss with a slash":           claims(object{"iss": issuer + "/"}),
		"iss a list":                 claims(object{"iss": []string{issuer}}),
		"no exp":                     claims(object{"exp": nil}),
		"exp over":                   claims(object{"exp": now.Add(-2 * time.Minute).Unix()}),
		"exp text":                   claims(object{"exp": fmt.Sprint(now.Add(time.Hour).Unix())}),
		"exp zero":                   claims(object{"exp": 0}),
		"exp negative":               claims(object{"exp": -1}),
		"exp null":                   i.signText(strings.Replace(string(goodText), `"exp":`, `"exp":null,"x":`, 1)),
		"exp infinite":               i.signText(strings.Replace(string(goodText), `"exp":`, `"exp":1e999,"x":`, 1)),
		"nbf later":                  claims(object{"nbf": now.Add(time.Hour).Unix()}),
		"iat later":                  claims(object{"iat": now.Add(time.Hour).Unix()}),
		"no sub":                     claims(object{"sub": nil}),
		"sub empty":                  claims(object{"sub": ""}),
		"sub a number":               claims(object{"sub": 7}),
		"sub long":                   claims(object{"sub": strings.Repeat("s", maxSubject+1)}),
		"sub with a line break":      claims(object{"sub": "alice\nroot"}),
		"sub with a final space":     claims(object{"sub": "alice "}),
		"sub with a first space":     claims(object{"sub": "\u00a0alice"}),
		"bound to a key": claims(object{
			"cnf": object{"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"},
		}),
		"bound to a certificate":  claims(object{"cnf": object{"x5t#S256": "x"}}),
		"no tenant":               claims(object{"org_id": nil}),
		"tenant a list":           claims(object{"org_id": []string{"acme", "other"}}),
		"tenant a path":           claims(object{"org_id": "../other"}),
		"tenant of the user":      claims(object{"org_id": LocalTenant}),
		"tenant in another case":  claims(object{"org_id": "ACME"}),
		"roles an object":         claims(object{"realm": object{"roles": object{"admin": true}}}),
		"roles with numbers":      claims(object{"realm": object{"roles": []any{"dev", 1}}}),
		"too many roles":          claims(object{"realm": object{"roles": strings.Repeat("r ", maxLabels+1)}}),
		"claims twice":            i.signText(double),
		"claims twice, escaped":   i.signText(strings.Replace(double, `"sub":"root"`, `"\u0073ub":"root"`, 1)),
		"header twice":            sign("RS256", i.rsa, `{"alg":"RS256","kid":"rsa","kid":"ec"}`, goodClaims()),
		"claims no object":        i.signText(`["iss"]`),
		"claims not UTF-8":        i.signText(strings.Replace(string(goodText), "alice", "ali\xffce", 1)),
		"claims with more behind": i.signText(string(goodText) + `{}`),
		"a signature cut":         good[:len(good)-10],
		"no signature":            parts[0] + "." + parts[1] + ".",
		"a signature of another token": parts[0] + "." + parts[1] + "." + strings.Split(claims(object{"sub": "bob"}),
			".")[2],
		"changed claims": parts[0] + "." + encode(with(goodClaims(),
			object{"sub": "root"})) + "." + parts[2],
		"a padded signature":           good + "==",
		"two parts":                    parts[0] + "." + parts[1],
		"four parts":                   good + ".x",
		"five parts, as if encrypted":  good + ".x.y",
		"a space in it":                parts[0] + ". " + parts[1] + "." + parts[2],
		"dots":                         strings.Repeat(".", 10_000),
		"dots after a header":          parts[0] + strings.Repeat(".", 10_000),
		"too long":                     claims(object{"x": strings.Repeat("x", maxToken)}),
		"a word":                       "letmein",
		"other letters than base64url": parts[0] + "." + strings.ReplaceAll(parts[1], "e", "/") + "." + parts[2],
		"claims nested too deep": i.signText(strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}",
			20_000)),
		"a signature of the other curve": sign("ES256", i.ec, object{"alg": "ES384", "kid": "ec"}, goodClaims()),
		"the header of an encrypted token": encode(object{"alg": "RSA-OAEP", "enc": "A256GCM", "kid": "rsa"}) + "." +
			parts[1] + "." + parts[2],
	}
}

// signText signs claims that are given as text.
func (i *idp) signText(claims string) string { return sign("RS256", i.rsa, goodHeader(), claims) }

// TestJWTRefusesAttacks sends every attack twice, so that none gets into the cache.
func TestJWTRefusesAttacks(t *testing.T) {
	i := newIDP(t)
	j := i.open(t, nil)
	all := attacks(t, i)
	if len(all) < 40 {
		t.Fatal("too few attacks")
	}
	for what, token := range all {
		for range 2 {
			p, err := j.Authenticate(newRequest("Authorization", "Bearer "+token))
			if err == nil || p.Subject != "" {
				t.Errorf("%s: %+v is accepted", what, p)
				continue
			}
			if _, unavailable := errors.AsType[*UnavailableError](err); unavailable || len(err.Error()) > 200 ||
				strings.Contains(err.Error(), token[:min(len(token), 30)]) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if n := j.cache.known.Len(); n != 0 {
		t.Errorf("%d tokens in the cache", n)
	}
}

// TestJWTSecret checks HS256 with a configured secret, under which a token of a public
// key is not accepted.
func TestJWTSecret(t *testing.T) {
	i := newIDP(t)
	secret := []byte("0123456789abcdef0123456789abcdef")
	j := i.open(t, func(o *JWTOptions) { o.Keys, o.Secret, o.Algorithms = nil, secret, SymmetricAlgorithms })
	header := object{"alg": "HS256"}
	if p, err := j.Authenticate(newRequest("Authorization",
		"Bearer "+sign("HS256", secret, header, goodClaims()))); err != nil ||
		p.Subject != "alice" {
		t.Errorf("%+v, %v", p, err)
	}
	for what, token := range map[string]string{
		"another secret": sign("HS256", secret[:31], header, goodClaims()),
		"empty secret":   sign("HS256", []byte{}, header, goodClaims()),
		"RS256":          i.token(nil),
		"none":           encode(object{"alg": "none"}) + "." + encode(goodClaims()) + ".",
	} {
		if p, err := j.Authenticate(newRequest("Authorization", "Bearer "+token)); err == nil {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

// TestJWTSubjects checks a list of subjects.
func TestJWTSubjects(t *testing.T) {
	i := newIDP(t)
	j := i.open(t, func(o *JWTOptions) { o.Subjects = []string{"alice"} })
	for subject, good := range map[string]bool{"alice": true, "bob": false, "Alice": false, "alice2": false} {
		if p, err := j.Authenticate(newRequest("Authorization",
			"Bearer "+i.token(object{"sub": subject}))); (err == nil) != good {
			t.Errorf("%s: %+v, %v", subject, p, err)
		}
	}
}

// TestJWTCache checks that a verified token is remembered until it expires or its key is
// withdrawn.
func TestJWTCache(t *testing.T) {
	i := newIDP(t)
	var path string
	j := i.open(t, func(o *JWTOptions) { o.Leeway = time.Second })
	path = filepath.Join(t.TempDir(), "keys.json")
	pool := jwks.NewPool(hclog.NewNullLogger())
	t.Cleanup(pool.Close)
	if err := os.WriteFile(path, i.document(t), 0o600); err != nil {
		t.Fatal(err)
	}
	j.opts.Keys = pool.Set(jwks.Source{File: path})
	short := i.token(object{"exp": time.Now().Add(time.Second).Unix()})
	long := i.token(nil)
	for _, token := range []string{short, long, long} {
		if _, err := j.Authenticate(newRequest("Authorization", "Bearer "+token)); err != nil {
			t.Fatal(err)
		}
	}
	if n := j.cache.known.Len(); n != 2 {
		t.Errorf("%d tokens in the cache", n)
	}
	// The issuer withdraws the key.
	other := newIDP(t)
	if err := os.WriteFile(path, other.document(t), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(token string) bool {
		_, err := j.Authenticate(newRequest("Authorization", "Bearer "+token))
		return err != nil
	}
	eventually.True(t, "a token of a withdrawn key is refused", func() bool { return refused(long) })
	if !refused(short) {
		t.Error("an expired token is accepted")
	}
	if _, err := j.Authenticate(newRequest("Authorization", "Bearer "+other.token(nil))); err != nil {
		t.Errorf("a token of the new key: %v", err)
	}
}

// TestTokenCacheIsBounded fills the cache with tokens that have large claims.
func TestTokenCacheIsBounded(t *testing.T) {
	c := newTokenCache()
	large := make([]byte, 8<<10)
	for n := range 2 * maxCached {
		c.add(sha256.Sum256(fmt.Append(nil, n)),
			verified{owner: Principal{Claims: large, Expires: time.Now().Add(time.Hour)}})
	}
	if c.bytes > maxCachedBytes || c.bytes != c.known.Len()*len(large) {
		t.Errorf("%d bytes in %d tokens", c.bytes, c.known.Len())
	}
}

// TestJoinChoosesByForm checks that the first authenticator that recognizes a credential
// decides, and that nothing falls through after a wrong one.
func TestJoinChoosesByForm(t *testing.T) {
	i, other := newIDP(t), newIDP(t)
	first := i.open(t, nil)
	second := other.open(t, func(o *JWTOptions) { o.Issuer = "https://second.example" })
	tokens := newTestTokens()
	of := func(i *idp, iss string) string { return i.token(object{"iss": iss}) }
	for what, c := range map[string]struct {
		chain []Authenticator
		token string
		want  string
		err   error
	}{
		"static, before":   {[]Authenticator{tokens, first, second}, aliceToken, "static_token", nil},
		"static, behind":   {[]Authenticator{first, second, tokens}, aliceToken, "static_token", nil},
		"the first issuer": {[]Authenticator{tokens, first, second}, of(i, issuer), "jwt", nil},
		"the second issuer": {[]Authenticator{first, tokens, second}, of(other, "https://second.example"),
			"jwt", nil},
		"a wrong static token": {[]Authenticator{tokens, first}, "wrong", "", ErrWrong},
		"of no issuer": {[]Authenticator{first, second, tokens}, of(i, "https://third.example"),
			"", ErrOther},
		"the other issuer's key":  {[]Authenticator{first, second}, of(other, issuer), "", nil},
		"wrong, then certificate": {[]Authenticator{first, headerAuth{"X-Key", "k"}}, of(other, issuer), "", nil},
		"none":                    {[]Authenticator{first, second, tokens}, "", "", ErrMissing},
	} {
		r := newRequest("X-Key", "k")
		if what == "none" {
			r = newRequest()
		} else {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		p, err := Join(c.chain).Authenticate(r)
		if p.Method != c.want || (err == nil) != (c.want != "") || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
}

func BenchmarkJWTCached(b *testing.B) {
	i := newIDP(b)
	j := i.open(b, nil)
	r := newRequest("Authorization", "Bearer "+i.token(nil))
	for b.Loop() {
		if _, err := j.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJWTVerify(b *testing.B) {
	i := newIDP(b)
	j := i.open(b, nil)
	token := i.token(nil)
	for b.Loop() {
		if _, err := j.verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
