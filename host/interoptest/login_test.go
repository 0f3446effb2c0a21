package interoptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// facts are the requests that an identity provider got.
type facts struct {
	Registrations, Codes, Refreshes, Devices, Revoked int
	Logins                                            []string // scopes of each login
	Resources                                         []string // resource of each token request
	Issuer                                            string
	Keys                                              []string // IDs; the first key signs
	// Time of the latest request for the keys, in milliseconds.
	KeysRead int64
}

// An identity is a server that requires logins, and its identity provider.
type identity struct {
	t    *testing.T
	base string
	site *workspace
}

// newIdentity starts both, and creates a workspace with a browser and a secret
// store.
func newIdentity(t *testing.T, auth string) *identity {
	t.Helper()
	npmIdentity.require(t)
	guarded := server{name: "guarded", command: []string{"node", npmIdentity.path("provider.mjs")}}.listen(t, "http",
		"/mcp").with(auth)
	s := newWorkspace(t, guarded)
	password := filepath.Join(s.dir, "password")
	config, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	config = append(config, fmt.Sprintf("secret_store \"file\" {\n  password_file = %s\n}\n", quoted(password))...)
	for file, text := range map[string][]byte{s.config: config, password: []byte("correct horse battery staple")} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// One port for all logins: a client that returns to the same address need
	// not register again.
	s.env = append(s.env, "BROWSER="+program("browser"), "DISPLAY=:0", "CI=", "NO_BROWSER=", "SSH_CONNECTION=",
		"SSH_TTY=", "JUNCTOR_CALLBACK_PORTS="+strconv.Itoa(freePort(t)))
	return &identity{t: t, base: strings.TrimSuffix(guarded.web.url, "/mcp"), site: s}
}

// ask queries the provider, outside the test.
func (i *identity) ask(method, path string) (f facts) {
	i.t.Helper()
	req, err := http.NewRequest(method, i.base+path, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: testTimeout}
	res, err := client.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&f); err != nil {
		i.t.Fatal(err)
	}
	return f
}

// call calls a tool of the server and checks the user.
func (i *identity) call(tool string) {
	i.t.Helper()
	if o := i.site.run("call", "guarded__"+tool).exits(0); !strings.Contains(o.stdout, tool+" for alice") {
		i.t.Errorf("the tool answered %s", o.stdout)
	}
}

// TestLogin uses a third-party identity provider. A user logs in once, and
// again when the server requires more scopes. One of several processes
// refreshes the tokens. Logout ends them.
func TestLogin(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, "  auth \"oauth\" {}\n")
	i.site.run("call", "guarded__read").exits(4).says("junctor login guarded")
	i.site.run("login", "guarded").exits(0)
	i.call("read")

	i.site.run("call", "guarded__write").exits(4).says("more scopes", "junctor login guarded")
	i.call("read")
	i.site.run("login", "guarded").exits(0)
	i.call("write")
	f := i.ask("GET", "/facts")
	if want := []string{"mcp:read offline_access", "mcp:read mcp:write offline_access"}; !slices.Equal(f.Logins,
		want) ||
		f.Registrations != 1 || f.Codes != 2 {
		t.Errorf("after two logins: %+v", f)
	}

	i.ask("POST", "/forget")
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() { i.call("write") })
	}
	callers.Wait()
	if f = i.ask("GET", "/facts"); f.Refreshes != 1 {
		t.Errorf("three processes refreshed %d times", f.Refreshes)
	}
	for range 2 { // the latest token is valid
		i.ask("POST", "/forget")
		i.call("write")
	}

	i.site.run("logout", "guarded").exits(0)
	i.site.run("call", "guarded__read").exits(4).says("junctor login guarded")
	if f = i.ask("GET", "/facts"); f.Revoked == 0 || f.Refreshes != 3 || f.Registrations != 1 {
		t.Errorf("at the end: %+v", f)
	}
	for _, r := range f.Resources {
		if r != i.base+"/mcp" {
			t.Errorf("a token was requested for %q", r)
		}
	}
}

// TestLoginElsewhere has the user's browser on another machine, and the user
// enters a code.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, "  auth \"oauth\" {\n    grant = \"device\"\n  }\n")
	i.site.run("login", "guarded").exits(0).says("enter the code ")
	i.call("read")
	i.ask("POST", "/forget")
	i.call("read")
	if f := i.ask("GET", "/facts"); f.Devices != 1 || f.Refreshes != 1 || f.Codes != 0 {
		t.Errorf("the provider saw %+v", f)
	}
}
