package jwks

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An issuer serves metadata and keys. Its fields may be changed between requests.
type issuer struct {
	*httptest.Server
	mu       sync.Mutex
	keys     string       // guarded by mu
	metadata string       // guarded by mu; empty: correct
	status   int          // guarded by mu; 0: 200
	asked    atomic.Int32 // requests for keys
}

// publicKey returns a new key as JSON.
func publicKey(t *testing.T, id string) string {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":%q,"x":%q}`, id,
		base64.RawURLEncoding.EncodeToString(public))
}

func setOf(keys ...string) string { return `{"keys":[` + strings.Join(keys, ",") + `]}` }

func newIssuer(t *testing.T, keys string) *issuer {
	t.Helper()
	i := &issuer{keys: keys}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		switch {
		case i.status >= 300 && i.status < 400:
			http.Redirect(w, r, "/elsewhere", i.status)
		case i.status != 0:
			w.WriteHeader(i.status)
		case r.URL.Path == "/.well-known/openid-configuration" && i.metadata != "":
			fmt.Fprint(w, i.metadata)
		case r.URL.Path == "/.well-known/openid-configuration":
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
		case r.URL.Path == "/keys":
			i.asked.Add(1)
			fmt.Fprint(w, i.keys)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) change(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func open(t *testing.T, s Source) *Set {
	t.Helper()
	p := NewPool(hclog.NewNullLogger())
	t.Cleanup(p.Close)
	return p.Set(s)
}

func every(Key) bool { return true }

func valid(s *Set, k Key) bool {
	_, ok := s.Valid(k, State{})
	return ok
}

// TestRotation follows keys that change: an unknown ID is looked up, a withdrawn key
// ends, and an issuer that is down keeps its keys.
func TestRotation(t *testing.T) {
	one, two := publicKey(t, "one"), publicKey(t, "two")
	i := newIssuer(t, setOf(one))
	s := open(t, Source{Issuer: i.URL})
	s.cooldown = 0
	find := func(id string) error { _, err := s.Find(t.Context(), id, every); return err }
	first, err := s.Find(t.Context(), "one", every)
	if err != nil || !valid(s, first) {
		t.Fatal(err)
	}
	if err := find("two"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a key that is not published yet: %v", err)
	}
	i.change(func() { i.keys = setOf(one, two) })
	if err := find("two"); err != nil {
		t.Errorf("a new key: %v", err)
	}
	i.change(func() { i.keys = setOf(two) })
	_ = find("three") // reads the keys
	if valid(s, first) {
		t.Error("a withdrawn key is valid")
	}
	i.change(func() { i.keys = setOf() })
	_ = find("three")
	if err := find("two"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("all keys are withdrawn: %v", err)
	}
	i.change(func() { i.keys = setOf(two) })
	_ = find("two")
	i.change(func() { i.status = 500 })
	if err := find("two"); err != nil {
		t.Errorf("the issuer is down: %v", err)
	}
	if err := find("three"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("an unknown key while the issuer is down: %v", err)
	}
	s.current.Store(&known{keys: s.current.Load().keys, at: time.Now().Add(-staleTime - time.Minute)})
	if err := find("two"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("keys of yesterday: %v", err)
	}
}

// TestRefreshIsSharedAndRare checks that many requests at a time cause one refresh, and
// that requests with unknown keys cause none within the cooldown.
func TestRefreshIsSharedAndRare(t *testing.T) {
	i := newIssuer(t, setOf(publicKey(t, "one")))
	s := open(t, Source{URL: i.URL + "/keys"})
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			if _, err := s.Find(t.Context(), fmt.Sprint("unknown", n), every); !errors.Is(err, ErrUnknownKey) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := i.asked.Load(); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

// TestKeysAreRefreshedEarly checks that a request does not wait for a refresh that begins
// while the keys are fresh.
func TestKeysAreRefreshedEarly(t *testing.T) {
	i := newIssuer(t, setOf(publicKey(t, "one")))
	s := open(t, Source{URL: i.URL + "/keys"})
	s.cooldown = 0
	if _, err := s.Find(t.Context(), "one", every); err != nil {
		t.Fatal(err)
	}
	s.current.Store(&known{keys: s.current.Load().keys, at: time.Now().Add(-freshTime + 30*time.Second)})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Find(over, "one", every); err != nil {
		t.Errorf("a request waits: %v", err)
	}
	eventually.True(t, "the keys are refreshed", func() bool { return i.asked.Load() >= 2 })
}

// TestStaleKeysAreReadFirst checks that a key that was withdrawn is not accepted by the first
// request after the keys are not fresh any more, also after a quiet night or an outage.
func TestStaleKeysAreReadFirst(t *testing.T) {
	for name, c := range map[string]struct {
		age     time.Duration
		failure error
	}{
		"five minutes":    {freshTime + time.Second, nil},
		"a quiet night":   {8 * time.Hour, nil},
		"after an outage": {time.Hour, errors.New("refused")},
	} {
		t.Run(name, func(t *testing.T) { staleKeys(t, c.age, c.failure) })
	}
}

func staleKeys(t *testing.T, age time.Duration, failure error) {
	i := newIssuer(t, setOf(publicKey(t, "one")))
	s := open(t, Source{URL: i.URL + "/keys"})
	s.cooldown = 0
	k, err := s.Find(t.Context(), "one", every)
	if err != nil {
		t.Fatal(err)
	}
	i.change(func() { i.keys = setOf(publicKey(t, "two")) })
	s.current.Store(&known{keys: s.current.Load().keys, at: time.Now().Add(-age)})
	s.mu.Lock()
	s.tried, s.failure = time.Now().Add(-age), failure
	s.mu.Unlock()
	s.cooldown = age + time.Minute // the check itself reads nothing
	if valid(s, k) {
		t.Error("the key of a remembered token is valid")
	}
	s.cooldown = 0
	if _, err := s.Find(t.Context(), "one", every); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a withdrawn key: %v", err)
	}
}

// TestRequestsDoNotWaitForAnIssuerThatIsDown checks that old keys are used at once while
// attempts to read them fail.
func TestRequestsDoNotWaitForAnIssuerThatIsDown(t *testing.T) {
	i := newIssuer(t, setOf(publicKey(t, "one")))
	s := open(t, Source{URL: i.URL + "/keys"})
	k, err := s.Find(t.Context(), "one", every)
	if err != nil {
		t.Fatal(err)
	}
	s.current.Store(&known{keys: s.current.Load().keys, at: time.Now().Add(-time.Hour)})
	s.mu.Lock()
	s.failure = errors.New("refused") // a moment ago
	s.mu.Unlock()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Find(over, "one", every); err != nil || !valid(s, k) {
		t.Errorf("a request waits: %v", err)
	}
}

// TestUnavailable checks issuers that give no keys. The error says why.
func TestUnavailable(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*issuer)
		want   string
	}{
		"down":       {func(i *issuer) { i.status = 503 }, "status 503"},
		"a redirect": {func(i *issuer) { i.status = 302 }, "redirected"},
		"another issuer": {func(i *issuer) {
			i.metadata = `{"issuer":"https://evil.example","jwks_uri":"https://evil.example/keys"}`
		}, "evil.example"},
		"a longer issuer": {func(i *issuer) {
			i.metadata = fmt.Sprintf(`{"issuer":"%s/","jwks_uri":"%s/keys"}`, i.URL, i.URL)
		}, "instead of"},
		"no jwks_uri": {func(i *issuer) { i.metadata = fmt.Sprintf(`{"issuer":%q}`, i.URL) }, "jwks_uri"},
		"jwks_uri a file": {func(i *issuer) {
			i.metadata = fmt.Sprintf(`{"issuer":%q,"jwks_uri":"file:///etc/passwd"}`, i.URL)
		}, "jwks_uri"},
		"jwks_uri without TLS": {func(i *issuer) {
			i.metadata = fmt.Sprintf(`{"issuer":%q,"jwks_uri":"http://169.254.169.254/keys"}`, i.URL)
		}, "jwks_uri"},
		"metadata twice": {func(i *issuer) {
			i.metadata = fmt.Sprintf(`{"issuer":%q,"issuer":%q,"jwks_uri":"%s/keys"}`, "x", i.URL, i.URL)
		}, "malformed"},
		"metadata no JSON": {func(i *issuer) { i.metadata = "<html>" }, "malformed"},
		"keys no JSON":     {func(i *issuer) { i.keys = "<html>" }, "malformed"},
		"no keys":          {func(i *issuer) { i.keys = setOf() }, "no key "},
		"a symmetric key": {func(i *issuer) { i.keys = setOf(`{"kty":"oct","k":"c2VjcmV0","kid":"one"}`) },
			"symmetric"},
		"a key for encryption": {func(i *issuer) {
			i.keys = setOf(strings.Replace(publicKey(t, "one"), `"kty"`, `"use":"enc","kty"`, 1))
		}, `"enc"`},
		"too large":       {func(i *issuer) { i.keys = setOf(strings.Repeat(" ", maxDocument)) }, "larger"},
		"too many keys":   {func(i *issuer) { i.keys = setOf(strings.Repeat("{},", maxKeys) + "{}") }, "keys"},
		"a short RSA key": {func(i *issuer) { i.keys = setOf(shortRSA(t)) }, "2048"},
		"no point of the curve": {
			func(i *issuer) { i.keys = setOf(`{"kty":"EC","crv":"P-256","kid":"one","x":"AQ","y":"AQ"}`) }, "curve",
		},
	} {
		i := newIssuer(t, setOf(publicKey(t, "one")))
		i.change(func() { c.change(i) })
		set := open(t, Source{Issuer: i.URL})
		_, err := set.Find(t.Context(), "one", every)
		if errors.Is(err, ErrUnknownKey) { // the answer is well-formed
			set.mu.Lock()
			err = fmt.Errorf("%w: %w", err, set.failure)
			set.mu.Unlock()
		}
		if wellFormed := errors.Is(err, errNoKeys); wellFormed == errors.Is(err, ErrUnavailable) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func shortRSA(t *testing.T) string {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"kty":"RSA","kid":"one","e":"AQAB","n":%q}`,
		base64.RawURLEncoding.EncodeToString(key.N.Bytes()))
}

// TestSkipsUnusableKeys checks that one unusable key does not hide the others.
func TestSkipsUnusableKeys(t *testing.T) {
	i := newIssuer(t, setOf(`{"kty":"oct","k":"c2VjcmV0","kid":"one"}`, `{"kty":"new type"}`, `7`, publicKey(t, "one")))
	k, err := open(t, Source{Issuer: i.URL}).Find(t.Context(), "one", every)
	if _, ok := k.Public.(ed25519.PublicKey); err != nil || !ok {
		t.Errorf("%T, %v", k.Public, err)
	}
}

// TestDiscoveryOfAnIssuerWithAPath checks both places of the metadata.
func TestDiscoveryOfAnIssuerWithAPath(t *testing.T) {
	for _, path := range []string{"/realms/acme/.well-known/openid-configuration",
		"/.well-known/oauth-authorization-server/realms/acme"} {
		mux := http.NewServeMux()
		server := httptest.NewServer(mux)
		keys := setOf(publicKey(t, "one"))
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": server.URL + "/realms/acme",
				"jwks_uri": server.URL + "/certs"})
		})
		mux.HandleFunc("/certs", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, keys) })
		if _, err := open(t, Source{Issuer: server.URL + "/realms/acme"}).Find(t.Context(), "one", every); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		server.Close()
	}
}

// TestPrivateAuthority checks that TLS needs the system's authorities or the given one.
func TestPrivateAuthority(t *testing.T) {
	keys := setOf(publicKey(t, "one"))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, keys)
	}))
	server.Config.ErrorLog = hclog.NewNullLogger().StandardLogger(nil)
	t.Cleanup(server.Close)
	if _, err := open(t, Source{URL: server.URL}).Find(t.Context(), "one", every); !errors.Is(err, ErrUnavailable) {
		t.Errorf("without the authority: %v", err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := fmt.Sprintf("-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n",
		base64.StdEncoding.EncodeToString(server.Certificate().Raw))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, Source{URL: server.URL, CA: path}).Find(t.Context(), "one", every); err != nil {
		t.Errorf("with the authority: %v", err)
	}
}

// TestPoolKeepsSets checks that a reload keeps the keys, and closes sets that are no
// longer used while a refresh is running.
func TestPoolKeepsSets(t *testing.T) {
	block := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-block }))
	defer server.Close()
	defer close(block)
	p := NewPool(hclog.NewNullLogger())
	a, b := Source{URL: server.URL + "/a"}, Source{URL: server.URL + "/b"}
	first := p.Set(a)
	if err := p.Set(b).Prepare(); err != nil { // begins a refresh that does not end
		t.Fatal(err)
	}
	p.Keep([]Source{a})
	if p.Set(a) != first {
		t.Error("the set was replaced")
	}
	p.Close()
	if _, err := first.Find(t.Context(), "one", every); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCheckURL(t *testing.T) {
	for text, good := range map[string]bool{
		"https://id.example.com": true, "https://10.0.0.1/keys": true,
		"http://127.0.0.1:8080/x": true, "http://localhost/x": true, "http://[::1]/x": true,
		"": false, "id.example.com": false, "http://id.example.com": false,
		"http://localhost.evil.example/": false, "ftp://localhost/": false,
		"https://u:p@id.example.com": false, "https://id.example.com/#x": false,
		"file:///etc/passwd": false, "https:id.example.com": false, "https://": false,
	} {
		if err := CheckURL(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzParse reads arbitrary sets of keys.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","e":"AQAB","n":"AQ","x5u":"https://127.0.0.1/","x5c":["AA=="]}]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"},null,7]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"` + strings.Repeat("Av", 100) + `","y":"AQ"}]}`)) // too long
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ","d":"` + strings.Repeat("Av", 100) + `"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := parse(text)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
	})
}
