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

// facts are what an identity provider saw.
type facts struct {
	Registrations, Codes, Refreshes, Devices, Revoked int
	Logins                                            []string // the scopes of each
	Resources                                         []string // of each request for a token
}

// An identity is a server that wants logins, with the provider of identities
// that it believes in.
type identity struct {
	t    *testing.T
	base string
	site *site
}

// identify starts them, and makes a site with a browser and a place for secrets.
func identify(t *testing.T, auth string) *identity {
	t.Helper()
	npmIdentity.require(t)
	guarded := server{name: "guarded", command: []string{"node", npmIdentity.path("provider.mjs")}}.listen(t, "http", "/mcp").with(auth)
	s := newSite(t, guarded)
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
	// One port for every login: a client that comes back to the same address
	// need not register anew.
	s.env = append(s.env, "BROWSER="+program("browser"), "DISPLAY=:0", "CI=", "NO_BROWSER=", "SSH_CONNECTION=", "SSH_TTY=", "JUNCTOR_CALLBACK_PORTS="+strconv.Itoa(freePort(t)))
	return &identity{t: t, base: strings.TrimSuffix(guarded.web.url, "/mcp"), site: s}
}

// ask asks the provider, which is not what is tested.
func (i *identity) ask(method, path string) (f facts) {
	i.t.Helper()
	req, err := http.NewRequest(method, i.base+path, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
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

// calls calls a tool of the server and checks who it was called for.
func (i *identity) calls(tool string) {
	i.t.Helper()
	if o := i.site.run("call", "guarded__"+tool).exits(0); !strings.Contains(o.stdout, tool+" for alice") {
		i.t.Errorf("the tool answered %s", o.stdout)
	}
}

// TestLogin: with an identity provider that nobody here wrote, a person logs in
// once, and once more when the server asks for more; the tokens are renewed
// unseen, by one of many, and end with the logout.
func TestLogin(t *testing.T) {
	t.Parallel()
	i := identify(t, "  auth \"oauth\" {}\n")
	i.site.run("call", "guarded__read").exits(4).says("junctor login guarded")
	i.site.run("login", "guarded").exits(0)
	i.calls("read")

	i.site.run("call", "guarded__write").exits(4).says("more scopes", "junctor login guarded")
	i.calls("read")
	i.site.run("login", "guarded").exits(0)
	i.calls("write")
	f := i.ask("GET", "/facts")
	if want := []string{"mcp:read offline_access", "mcp:read mcp:write offline_access"}; !slices.Equal(f.Logins, want) || f.Registrations != 1 || f.Codes != 2 {
		t.Errorf("two logins were %+v", f)
	}

	i.ask("POST", "/forget")
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() { i.calls("write") })
	}
	callers.Wait()
	if f = i.ask("GET", "/facts"); f.Refreshes != 1 {
		t.Errorf("three processes refreshed %d times", f.Refreshes)
	}
	for range 2 { // the token that came with the last one is good
		i.ask("POST", "/forget")
		i.calls("write")
	}

	i.site.run("logout", "guarded").exits(0)
	i.site.run("call", "guarded__read").exits(4).says("junctor login guarded")
	if f = i.ask("GET", "/facts"); f.Revoked == 0 || f.Refreshes != 3 || f.Registrations != 1 {
		t.Errorf("in the end there were %+v", f)
	}
	for _, r := range f.Resources {
		if r != i.base+"/mcp" {
			t.Errorf("a token was asked for %q", r)
		}
	}
}

// TestLoginElsewhere: the person has a code, and a browser that knows nothing of
// this machine.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	i := identify(t, "  auth \"oauth\" {\n    grant = \"device\"\n  }\n")
	i.site.run("login", "guarded").exits(0).says("enter the code ")
	i.calls("read")
	i.ask("POST", "/forget")
	i.calls("read")
	if f := i.ask("GET", "/facts"); f.Devices != 1 || f.Refreshes != 1 || f.Codes != 0 {
		t.Errorf("there were %+v", f)
	}
}
