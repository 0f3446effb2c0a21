package interoptest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// openPage opens a page as a user who agrees to everything.
func openPage(t *testing.T, page string) {
	t.Helper()
	if out, err := exec.Command(program("browser"), page).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", page, err, out)
	}
}

// TestLoginPageLegacy checks that a client that supports URL elicitation gets
// the login page, the same each time, and a notification when the login is
// complete. No terminal is needed.
func TestLoginPageLegacy(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	p := s.serve().speak(oldDialect.withCapabilities(object{"elicitation": object{"url": object{}}}))
	p.initialize()
	type data struct {
		Code, Hint   string
		Elicitations []struct{ Mode, URL, Message, ElicitationID string }
	}
	var pages [2]data
	for i := range pages {
		e := p.tool("up__whoami", object{}).failure(t)
		if decode(t, e.Data, &pages[i]); e.Code != -32042 || len(pages[i].Elicitations) != 1 {
			t.Fatalf("a client that supports pages got %d %s", e.Code, e.Data)
		}
		if !strings.Contains(e.Message, "junctor login up") || pages[i].Code != "upstream.needs_login" ||
			!strings.Contains(pages[i].Hint, "junctor login up") {
			t.Errorf("the login command is not in %s %s", e.Message, e.Data)
		}
	}
	page := pages[0].Elicitations[0]
	if page != pages[1].Elicitations[0] || page.Mode != "url" || !strings.HasPrefix(page.URL, v.Issuer+"/authorize?") ||
		!strings.Contains(page.Message, strings.TrimPrefix(v.Issuer, "http://")) {
		t.Errorf("the pages were %+v", pages)
	}
	mark := p.mark()
	openPage(t, page.URL)
	var done struct{ ElicitationID string }
	decode(t, p.note(mark, "notifications/elicitation/complete", nil).Params, &done)
	if done.ElicitationID != page.ElicitationID {
		t.Errorf("%q was completed, want %q", done.ElicitationID, page.ElicitationID)
	}
	if got := p.tool("up__whoami", object{}).text(t); got != "Bearer "+v.newest() {
		t.Errorf("the tool was called with %q", got)
	}
	p.note(mark, "notifications/tools/list_changed", nil)
	if now := v.tally(); now.logins != 1 || now.registrations != 1 {
		t.Errorf("after one login: %+v", now)
	}
	s.run("call", "up__whoami").exits(0) // the credential was stored
}

// TestLoginPageUnused checks that an unfinished login does not delay the exit
// of junctor.
func TestLoginPageUnused(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	g := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets().serve()
	p := g.speak(oldDialect.withCapabilities(object{"elicitation": object{"url": object{}}}))
	p.initialize()
	var data struct{ Elicitations []struct{ URL string } }
	decode(t, p.tool("up__whoami", object{}).failure(t).Data, &data)
	page, err := url.Parse(data.Elicitations[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(page.Query().Get("redirect_uri"))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	g.finish()
	if took := time.Since(begun); took > testTimeout {
		t.Errorf("the exit took %s", took)
	}
	if conn, err := net.Dial("tcp", back.Host); err == nil {
		_ = conn.Close()
		t.Errorf("a process still listens at %s", back.Host)
	}
}

// opening configures a client whose user agrees to every page.
func opening(t *testing.T, seen *[]string) func(*mcp.ClientOptions) {
	return func(o *mcp.ClientOptions) {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			*seen = append(*seen, r.Params.Message)
			openPage(t, r.Params.URL)
			return &mcp.ElicitResult{Action: "accept"}, nil
		}
	}
}

// TestLoginPageModern checks that the login is a question to a modern client,
// within one call.
func TestLoginPageModern(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	e := s.serveHTTP()
	var seen []string
	c := e.connect(t, newDialect, opening(t, &seen))
	if got := c.call("up__whoami", nil); got != "Bearer "+v.newest() || len(seen) != 1 ||
		!strings.Contains(seen[0], "server up") {
		t.Errorf("the tool was called with %q, the user got the questions %q", got, seen)
	}
}

// TestNoLoginPage checks that the error has the login command if the client
// does not support pages, or the user's browser may be on another machine.
func TestNoLoginPage(t *testing.T) {
	t.Parallel()
	pages := object{"elicitation": object{"url": object{}}}
	for name, c := range map[string]struct {
		d    dialect
		env  string
		auth string
	}{
		"not asked for, legacy": {oldDialect, "", `auth "oauth" {}`},
		"not asked for, modern": {newDialect.withCapabilities(object{"elicitation": object{"form": object{}}}), "",
			`auth "oauth" {}`},
		"no browser": {oldDialect.withCapabilities(pages), "NO_BROWSER=1", `auth "oauth" {}`},
		"over SSH": {newDialect.withCapabilities(pages), "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22",
			`auth "oauth" {}`},
		"no ports": {newDialect.withCapabilities(pages), "JUNCTOR_CALLBACK_PORTS=x", `auth "oauth" {}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newAuthServer(t)
			s := newWorkspace(t, v.server("  "+c.auth+"\n")).withSecrets()
			s.env = append(s.env, c.env)
			g := s.serve()
			p := g.speak(c.d)
			p.initialize()
			for range 3 {
				e := p.tool("up__whoami", object{}).failure(t)
				if e.Code == -32042 || !strings.Contains(e.Message, "junctor login up") ||
					!strings.Contains(string(e.Data), `"code":"upstream.needs_login"`) {
					t.Errorf("the client got %d %s %s", e.Code, e.Message, e.Data)
				}
				p.list("tools/list", "tools")
			}
			if n := strings.Count(g.stderr.String(), "junctor login up"); n != 1 {
				t.Errorf("the log has the command %d times", n)
			}
			if now := v.tally(); now.logins != 0 || now.registrations != 0 {
				t.Errorf("without a login: %+v", now)
			}
		})
	}
}

// as connects a client with a token.
func (e *endpoint) as(t *testing.T, token string, change func(*mcp.ClientOptions)) *session {
	t.Helper()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return connect(t,
		&mcp.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: bearer(token)}},
		newDialect, change)
}

// TestLoginOfTenants checks that tenants log in separately, with the command of
// the error or on a page.
func TestLoginOfTenants(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	one := v.server("  share = \"tenant\"\n  auth \"oauth\" {}\n")
	s := newWorkspace(t, one, v.server("  share = \"global\"\n  auth \"oauth\" {}\n").under("all")).withSecrets()
	token := func(who string) string { return strings.Repeat(who+"-0123456789", 3) }
	block := "gateway {\n  http {\n"
	for _, who := range []string{"ann", "bob"} {
		block += fmt.Sprintf(
			"    auth \"static_token\" {\n      token   = %q\n      subject = %q\n      tenant  = %q\n    }\n",
			token(who), who, who+"corp",
		)
	}
	s.appendConfig(block + "  }\n}\n")
	s.run("login", "up").exits(0) // for listing the tools
	e := s.serveHTTP()
	var seen []string
	ann, bob := e.as(t, token("ann"), nil), e.as(t, token("bob"), opening(t, &seen))
	said := func(c *session, tool string) string {
		r, err := c.CallTool(c.ctx, &mcp.CallToolParams{Name: tool, Arguments: object{}})
		if err != nil {
			return err.Error()
		}
		return textOf(r)
	}
	if got := said(ann, "up__whoami"); !strings.Contains(got, "`junctor login up --tenant anncorp`") {
		t.Errorf("ann got %q", got)
	}
	s.run("login", "up", "--tenant", "anncorp").exits(0)
	anns := "Bearer " + v.newest()
	eventually.NoError(t, func() error {
		if got := said(ann, "up__whoami"); got != anns {
			return fmt.Errorf("ann got %q", got)
		}
		return nil
	})
	if got := said(bob, "up__whoami"); got == anns || got != "Bearer "+v.newest() || len(seen) != 1 {
		t.Errorf("bob got %q, after %q", got, seen)
	}
	if got := said(bob, "all__whoami"); !strings.Contains(got, "`junctor login all`") || len(seen) != 1 {
		t.Errorf("with a shared login bob got %q, after %q", got, seen)
	}
}
