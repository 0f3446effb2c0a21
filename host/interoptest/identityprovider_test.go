package interoptest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// An identityProvider issues access tokens for one gateway, which are JWTs.
type identityProvider struct {
	t       *testing.T
	web     *webServer
	issuer  string
	address string // of the gateway
}

// newIdentityProvider starts oidc-provider with access tokens that live for ttl.
func newIdentityProvider(t *testing.T, ttl time.Duration) *identityProvider {
	t.Helper()
	npmIdentity.require(t)
	p := &identityProvider{t: t, address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	p.web = server{
		command: []string{"node", npmIdentity.path("provider.mjs")},
		env: map[string]string{
			"GATEWAY": p.audience(), "ISSUER_PORT": strconv.Itoa(freePort(t)), "TTL": strconv.Itoa(int(ttl.Seconds())),
			"KEYS": filepath.Join(t.TempDir(), "keys.json"),
		},
	}.listen(t, "http", "/mcp").web
	p.issuer = p.ask("GET", "/facts").Issuer
	return p
}

func (p *identityProvider) audience() string { return "http://" + p.address + "/mcp" }

func (p *identityProvider) ask(method, path string) facts {
	p.t.Helper()
	return (&identity{t: p.t, base: strings.TrimSuffix(p.web.url, "/mcp")}).ask(method, path)
}

// observer is a token that every gateway of an identityProvider accepts, too.
const observer = "the-token-of-the-observer"

// tokenLeeway is the time for which a gateway accepts a token after its end. A
// client that refreshes by its clock has this time to send a request.
const tokenLeeway = 4 * time.Second

// gateway starts a gateway that accepts the provider's tokens.
func (p *identityProvider) gateway(address string) *endpoint {
	p.t.Helper()
	s := newWorkspace(p.t, gosdk())
	s.appendConfig(fmt.Sprintf(`gateway {
  http {
    auth "jwt" {
      issuer    = %q
      audiences = [%q]
      leeway    = %q
    }
    auth "static_token" {
      token   = %q
      subject = "observer"
    }
  }
}
`, p.issuer, p.audience(), tokenLeeway, observer))
	return s.serveHTTPAt(address)
}

// A loginClient is a program with the client of an SDK that logs in at the
// identity provider with a browser.
type loginClient struct{ *peer }

// loginClients are the SDKs of loginClient.
var loginClients = []string{"typescript", "python"}

// requireLoginClients installs the programs of all loginClients.
func requireLoginClients(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts many programs")
	}
	npmWeb.require(t)
	pythonTwo.require(t)
}

// connectLoginClient starts a loginClient and waits until it is connected. A
// modern Python client logs in when it sends its first request.
func (e *endpoint) connectLoginClient(t *testing.T, sdk, era string) *loginClient {
	t.Helper()
	cmd := exec.Command("node", npmWeb.path("login.mjs"), e.url, era)
	if sdk == "python" {
		cmd = exec.Command(pythonTwo.python(), "-W", "ignore", source("python/login.py"), e.url, era)
	}
	cmd.Env = append(os.Environ(), "BROWSER="+program("browser"))
	inOwnGroup(cmd) // with its browser
	launched := launch(t, cmd)
	t.Cleanup(func() { killGroup(cmd); <-launched.exited })
	c := &loginClient{newPeer(t, launched, oldDialect)}
	c.note(0, "connected", nil)
	return c
}

// An httpRequest is a request that a loginClient has sent, and the answer.
type httpRequest struct {
	Method, URL, Token, Session, LastEvent string
	Form                                   map[string]string
	Status                                 int
	Challenge                              string // WWW-Authenticate
}

func (r httpRequest) String() string {
	return fmt.Sprintf("%s %s: %d %s %s", r.Method, r.URL, r.Status, r.Form["grant_type"], r.LastEvent)
}

// latest returns the latest requests, for messages.
func (c *loginClient) latest() []httpRequest {
	c.t.Helper()
	all := c.requests()
	return all[max(0, len(all)-20):]
}

// requests returns the requests that the client has sent so far.
func (c *loginClient) requests() (all []httpRequest) {
	c.t.Helper()
	for _, m := range c.all("http") {
		var r httpRequest
		decode(c.t, m.Params, &r)
		all = append(all, r)
	}
	return all
}

// token returns the latest token that the client has sent.
func (c *loginClient) token() (token string) {
	c.t.Helper()
	for _, r := range c.requests() {
		if t, ok := strings.CutPrefix(r.Token, "Bearer "); ok {
			token = t
		}
	}
	return token
}

// granted returns the number of tokens that the client got by a grant type.
func (c *loginClient) granted(kind string) (n int) {
	c.t.Helper()
	for _, r := range c.requests() {
		if r.Form["grant_type"] == kind && r.Status == http.StatusOK {
			n++
		}
	}
	return n
}

// expectOneSession checks that the client has used one session, and logged in
// once.
func (c *loginClient) expectOneSession() {
	c.t.Helper()
	sessions := map[string]bool{}
	for _, r := range c.requests() {
		if r.Session != "" {
			sessions[r.Session] = true
		}
	}
	if n := c.granted("authorization_code"); len(sessions) != 1 || n != 1 {
		c.t.Errorf("the client used %d sessions and logged in %d times: %v", len(sessions), n, c.latest())
	}
}

// expectEcho calls a tool through the gateway.
func (c *loginClient) expectEcho(text string) {
	c.t.Helper()
	if got := c.tool("go__echo", object{"text": text}); !strings.Contains(got.text(c.t), text) {
		c.t.Errorf("go__echo returned %s", got.raw)
	}
}

// parseToken returns the header and the claims of a JWT.
func parseToken(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", token)
	}
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		decode(t, text, into)
	}
	return header, claims
}

// discover sends a request with a token, and returns the status and the header
// of the answer.
func (e *endpoint) discover(token string) (int, http.Header) {
	e.t.Helper()
	res := e.post(token, "server/discover", nil)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header
}

// post sends a request of the modern era. The end of the test ends the response.
func (e *endpoint) post(token, method string, params object) *http.Response {
	e.t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method,
		"params": newDialect.complete(params)})
	if err != nil {
		e.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token,
		"Content-Type":  "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": modern, "Mcp-Method": method,
	} {
		r.Header.Set(name, value)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: testTimeout}).Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	return res
}

// TestLoginAtIdentityProvider has clients of two SDKs find the identity provider
// of a gateway, register, log in and call a tool.
func TestLoginAtIdentityProvider(t *testing.T) {
	requireLoginClients(t)
	t.Parallel()
	p := newIdentityProvider(t, time.Hour)
	e := p.gateway(p.address)
	for _, sdk := range loginClients {
		for era := range eras {
			t.Run(sdk+"/"+era, func(t *testing.T) {
				t.Parallel()
				c := e.connectLoginClient(t, sdk, era)
				c.expectEcho("hello")
				c.checkDiscovery(p)
			})
		}
	}
}

// checkDiscovery checks how the client got its token.
func (c *loginClient) checkDiscovery(p *identityProvider) {
	c.t.Helper()
	metadata := "http://" + p.address + "/.well-known/oauth-protected-resource/mcp"
	steps := []struct {
		name string
		done func(r httpRequest) bool
	}{
		{"a refusal that names the metadata", func(r httpRequest) bool {
			return r.URL == p.audience() && r.Status == http.StatusUnauthorized &&
				strings.Contains(r.Challenge, `resource_metadata="`+metadata+`"`)
		}},
		{"the metadata of the gateway",
			func(r httpRequest) bool { return r.URL == metadata && r.Status == http.StatusOK }},
		{"the metadata of the issuer", func(r httpRequest) bool {
			return strings.HasPrefix(r.URL, p.issuer+"/.well-known/") && r.Status == http.StatusOK
		}},
		{"the registration",
			func(r httpRequest) bool { return r.Method == http.MethodPost && r.Status == http.StatusCreated }},
		{"the exchange of the code", func(r httpRequest) bool {
			return r.Form["grant_type"] == "authorization_code" && r.Form["code_verifier"] != "" &&
				r.Form["resource"] == p.audience() && r.Status == http.StatusOK
		}},
		{"a request with the token", func(r httpRequest) bool {
			return r.URL == p.audience() && r.Token != "" && r.Status == http.StatusOK
		}},
	}
	all := c.requests()
	for _, r := range all {
		if len(steps) > 0 && steps[0].done(r) {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 {
		c.t.Fatalf("the client did without %s: %v", steps[0].name, all)
	}
	header, claims := parseToken(c.t, c.token())
	if header["typ"] != "at+jwt" || claims["iss"] != p.issuer || claims["aud"] != p.audience() ||
		claims["sub"] != "alice" {
		c.t.Errorf("the token has the header %v and the claims %v", header, claims)
	}
}

// keyCooldown is the time after which a gateway reads an issuer's keys again
// because of an unknown key.
const keyCooldown = 10 * time.Second

// TestIdentityProviderRotatesKeys checks that a gateway accepts tokens with a
// new key without a reload, and still accepts those with the previous key.
func TestIdentityProviderRotatesKeys(t *testing.T) {
	requireLoginClients(t)
	t.Parallel()
	p := newIdentityProvider(t, time.Hour)
	e := p.gateway(p.address)
	clients, before := map[string]*loginClient{}, map[string]string{}
	for _, sdk := range loginClients {
		clients[sdk] = e.connectLoginClient(t, sdk, "legacy")
		before[sdk] = clients[sdk].token()
	}
	// The gateway reads keys again only after a time.
	time.Sleep(time.Until(time.UnixMilli(p.ask("GET", "/facts").KeysRead).Add(keyCooldown + time.Second)))
	key := p.ask("POST", "/rotate").Keys[0]
	for sdk, c := range clients {
		if m := c.call("refresh", nil); m.Error != nil {
			t.Fatalf("%s: %s", sdk, m.raw)
		}
		c.expectEcho("with the new key")
		header, _ := parseToken(t, c.token())
		previous, _ := parseToken(t, before[sdk])
		if header["kid"] != key || previous["kid"] == key {
			t.Errorf("%s: the tokens have the keys %v and %v, the new key is %s",
				sdk, previous["kid"], header["kid"], key)
		}
		if status, _ := e.discover(before[sdk]); status != http.StatusOK {
			t.Errorf("%s: status %d with a token of the previous key, want 200", sdk, status)
		}
		c.expectOneSession()
	}
}

// outage is the time for which the identity provider is down.
func outage() time.Duration {
	if allCombinations() {
		return time.Minute
	}
	return 10 * time.Second
}

// TestIdentityProviderIsDown checks that clients with a token work while the
// identity provider is down, and that a gateway without keys works soon after
// it is back.
func TestIdentityProviderIsDown(t *testing.T) {
	requireLoginClients(t)
	t.Parallel()
	p := newIdentityProvider(t, time.Hour)
	e := p.gateway(p.address)
	var clients []*loginClient
	for _, sdk := range loginClients {
		c := e.connectLoginClient(t, sdk, "modern")
		c.expectEcho("before the outage")
		clients = append(clients, c)
	}
	token := clients[0].token()

	p.web.stop()
	begun := time.Now()
	late := p.gateway("127.0.0.1:0")
	var statuses []int
	var slowest time.Duration
	for rounds := 0; time.Since(begun) < outage(); rounds++ {
		for _, c := range clients {
			called := time.Now()
			c.expectEcho(fmt.Sprint("round ", rounds))
			slowest = max(slowest, time.Since(called))
		}
		status, header := late.discover(token)
		if statuses = append(statuses, status); status != http.StatusServiceUnavailable ||
			header.Get("Retry-After") == "" {
			t.Fatalf("a gateway without keys answered with status %d, %v", status, header)
		}
		time.Sleep(100 * time.Millisecond) // paces the calls of an outage
	}
	t.Logf("%d rounds in %s; the slowest call took %s", len(statuses), time.Since(begun), slowest)

	p.web.restart(t)
	back := time.Now()
	eventually.True(t, "the gateway without keys works", func() bool {
		status, _ := late.discover(token)
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Fatalf("status %d %s after the identity provider was back", status, time.Since(back))
		}
		return status == http.StatusOK
	})
	t.Logf("the gateway without keys worked %s after the identity provider was back", time.Since(back))
	for _, c := range clients {
		c.expectEcho("after the outage")
		if slices.ContainsFunc(c.requests(),
			func(r httpRequest) bool { return r.Form["grant_type"] == "refresh_token" }) {
			t.Error("a client needed a new token")
		}
	}
}
