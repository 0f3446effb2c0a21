package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A slowAuth accepts the token "good-N" of a subject, which expires at a time, and takes
// some time to refuse others.
type slowAuth struct {
	expires time.Time
	check   time.Duration
	err     error // for the token "broken"
}

func (a slowAuth) Authenticate(r *http.Request) (authn.Principal, error) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case strings.HasPrefix(token, "good"):
		return authn.Principal{Subject: "alice", Tenant: "acme", Method: "jwt", Issuer: "https://id.example",
			Expires: a.expires}, nil
	case token == "":
		return authn.Principal{}, authn.ErrMissing
	case token == "broken":
		return authn.Principal{}, a.err
	}
	if !soak() { // beside other tests, a processor is not always free
		time.Sleep(a.check)
		return authn.Principal{}, authn.ErrWrong
	}
	for begun := time.Now(); time.Since(begun) < a.check; {
		continue // a signature is checked
	}
	return authn.Principal{}, authn.ErrWrong
}

// TestRefusalsAreEqual checks that all refusals have the same status, headers and bytes,
// and name the metadata, which names the issuers.
func TestRefusalsAreEqual(t *testing.T) {
	h := openFixture(t, func(o *Options) {
		o.Auth, o.Issuers = slowAuth{}, []string{"https://id.example"}
	}, newScriptedServer("a", "2025-11-25"))
	v := h.newClient(t)
	message, header := modernCall(1, "a__small", "{}")
	var first string
	for _, token := range []string{"", "Bearer ", "Bearer wrong", "Basic eDp5", "Bearer " + strings.Repeat(".", 4000),
		"bearer x y"} {
		resp, err := v.request(t.Context(), http.MethodPost, message, append(header, "Authorization", token)...)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Fatalf("%q: %d, %v", token, resp.StatusCode, err)
		}
		resp.Header.Del("Date")
		resp.Header.Del("X-Request-Id")
		got := fmt.Sprint(slices.Sorted(maps.Keys(resp.Header)), resp.Header, string(text))
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%q:\n%s\nis not\n%s", token, got, first)
		}
	}
	want := fmt.Sprintf(
		`Bearer realm="junctor", resource_metadata="http://%s/.well-known/oauth-protected-resource/mcp"`,
		h.address,
	)
	if !strings.Contains(first, want) || !strings.Contains(first, unauthorizedBody) {
		t.Errorf("got %s, want %s", first, want)
	}
	for _, path := range []string{"", "/mcp"} {
		resp, err := http.Get("http://" + h.address + metadataPath + path)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Resource string   `json:"resource"`
			Issuers  []string `json:"authorization_servers"`
		}
		err = json.NewDecoder(resp.Body).Decode(&m)
		resp.Body.Close()
		if err != nil || m.Resource != "http://"+h.address+"/mcp" ||
			!slices.Equal(m.Issuers, []string{"https://id.example"}) {
			t.Errorf("%s: %+v, %v", path, m, err)
		}
	}
}

// TestMetadataNeedsAnIssuer checks the configured URL, foreign hosts and gateways whose
// tokens have no issuer.
func TestMetadataNeedsAnIssuer(t *testing.T) {
	get := func(h *fixture, method, host string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.address+metadataPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	with := openFixture(t, func(o *Options) {
		o.Auth, o.Issuers, o.URL = slowAuth{}, []string{"https://id.example"}, "https://mcp.example.com/team/mcp"
	})
	without := openFixture(t, func(o *Options) { o.Auth = newTestTokens() })
	if status, text := get(with, http.MethodGet, ""); status != 200 ||
		!strings.Contains(text, `"resource":"https://mcp.example.com/team/mcp"`) {
		t.Errorf("%d: %s", status, text)
	}
	if status, text := get(with, http.MethodGet, "evil.example"); status != 403 || strings.Contains(text, "evil") {
		t.Errorf("a foreign host: %d: %s", status, text)
	}
	if status, _ := get(with, http.MethodPost, ""); status != 405 {
		t.Errorf("POST: %d", status)
	}
	if status, _ := get(without, http.MethodGet, ""); status != 404 {
		t.Errorf("without an issuer: %d", status)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestUnavailableAuthentication checks that a client gets 503 while its token cannot be
// checked, and that other clients are served.
func TestUnavailableAuthentication(t *testing.T) {
	h := openFixture(t, func(o *Options) {
		o.Auth = slowAuth{err: &authn.UnavailableError{Err: errors.New("the issuer is down")}}
	}, newScriptedServer("a", "2025-11-25"))
	v := h.newClient(t)
	v.header.Set("Authorization", "Bearer broken")
	status, text, header, err := v.post(initializeRequest)
	if err != nil || status != http.StatusServiceUnavailable || header.Get("Retry-After") != "5" ||
		strings.Contains(text, "issuer") || !strings.Contains(text, "-32099") {
		t.Errorf("%d, %v: %s", status, err, text)
	}
	v.header.Set("Authorization", "Bearer good")
	v.initialize()
}

// TestStreamEndsWithItsToken checks that a stream ends when its token expires, and that
// the session goes on with a new token.
func TestStreamEndsWithItsToken(t *testing.T) {
	h := openFixture(t, func(o *Options) { o.Auth = slowAuth{expires: time.Now().Add(2 * time.Second)} },
		newScriptedServer("a", "2025-11-25"))
	v := h.newClient(t)
	v.header.Set("Authorization", "Bearer good")
	v.initialize()
	stream := v.mustListen("")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	modern, err := v.request(ctx, http.MethodPost,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+
			meta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen", "Mcp-Session-Id", "")
	if err != nil {
		t.Fatal(err)
	}
	defer modern.Body.Close()
	e, err := stream.next()
	for err == nil && e.kind != "end" {
		e, err = stream.next()
	}
	if err != nil || e.data != `{"reason":"token_expired"}` {
		t.Errorf("%+v, %v", e, err)
	}
	text, err := io.ReadAll(modern.Body)
	if err != nil || !strings.Contains(string(text), `"resultType":"complete"`) {
		t.Errorf("listen: %v: %s", err, text)
	}
	settings := h.active.Load().Settings
	settings.Auth = slowAuth{expires: time.Now().Add(time.Hour)}
	h.Apply(settings)
	v.header.Set("Authorization", "Bearer good, and newer")
	v.mustPost(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	v.mustListen("")
}

// TestRefusalsTakeTheSameTime compares the times of refusals before and after the check
// of a signature. JUNCTOR_SOAK takes 10 000 requests and a test of significance.
func TestRefusalsTakeTheSameTime(t *testing.T) {
	// Other tests run beside this one, unless it is a soak run.
	n, check, most := 100, 6*time.Millisecond, 3*time.Millisecond
	if soak() {
		n, check, most = 5000, time.Millisecond, 500*time.Microsecond
	}
	h := openFixture(t, func(o *Options) { o.Auth = slowAuth{check: check} })
	v := h.newClient(t)
	took := func(token string) float64 {
		begun := time.Now()
		resp, err := v.request(t.Context(), http.MethodPost, "{}", "Authorization", token)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return time.Since(begun).Seconds()
	}
	var missing, wrong []float64
	for range n {
		missing, wrong = append(missing, took("")), append(wrong, took("Bearer wrong"))
	}
	slices.Sort(missing)
	slices.Sort(wrong)
	t.Logf("medians %.3f and %.3f ms", missing[n/2]*1000, wrong[n/2]*1000)
	if d := math.Abs(missing[n/2] - wrong[n/2]); d > most.Seconds() {
		t.Errorf("the medians differ by %.3f ms", d*1000)
	}
	if p := mannWhitney(missing, wrong); soak() && p < 0.01 {
		t.Errorf("p = %g", p)
	}
}

// mannWhitney returns the two-sided p-value of the rank-sum test, by the normal
// approximation.
func mannWhitney(a, b []float64) float64 {
	type sample struct {
		value float64
		first bool
	}
	var all []sample
	for _, v := range a {
		all = append(all, sample{v, true})
	}
	for _, v := range b {
		all = append(all, sample{v, false})
	}
	slices.SortFunc(all, func(x, y sample) int {
		switch {
		case x.value < y.value:
			return -1
		case x.value > y.value:
			return 1
		}
		return 0
	})
	ranks := 0.0
	for i, s := range all {
		if s.first {
			ranks += float64(i + 1)
		}
	}
	n, m := float64(len(a)), float64(len(b))
	u := ranks - n*(n+1)/2
	z := (u - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
	return math.Erfc(math.Abs(z) / math.Sqrt2)
}

func TestMannWhitney(t *testing.T) {
	same, shifted := []float64{}, []float64{}
	for i := range 1000 {
		same, shifted = append(same, float64(i%97)), append(shifted, float64(i%97)+20)
	}
	if p := mannWhitney(same, shifted); p > 0.001 {
		t.Errorf("p = %g for different samples", p)
	}
	if p := mannWhitney(same[:500], same[500:]); p < 0.01 {
		t.Errorf("p = %g for equal samples", p)
	}
}
