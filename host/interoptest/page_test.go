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
)

// visits opens a page as a person does who agrees to everything.
func visits(t *testing.T, page string) {
	t.Helper()
	if out, err := exec.Command(program("browser"), page).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", page, err, out)
	}
}

// TestLoginPageLegacy: a client that sends its user to pages gets the one to log
// in on, the same each time, and hears when it may come again. Nobody needs a
// terminal.
func TestLoginPageLegacy(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	p := s.serve().speak(oldDialect.offering(object{"elicitation": object{"url": object{}}}))
	p.greet()
	type data struct {
		Code, Hint   string
		Elicitations []struct{ Mode, URL, Message, ElicitationID string }
	}
	var pages [2]data
	for i := range pages {
		e := p.tool("up__whoami", object{}).failure(t)
		if decode(t, e.Data, &pages[i]); e.Code != -32042 || len(pages[i].Elicitations) != 1 {
			t.Fatalf("a client that opens pages got %d %s", e.Code, e.Data)
		}
		if !strings.Contains(e.Message, "junctor login up") || pages[i].Code != "upstream.needs_login" || !strings.Contains(pages[i].Hint, "junctor login up") {
			t.Errorf("the command is not in %s %s", e.Message, e.Data)
		}
	}
	page := pages[0].Elicitations[0]
	if page != pages[1].Elicitations[0] || page.Mode != "url" || !strings.HasPrefix(page.URL, v.Issuer+"/authorize?") || !strings.Contains(page.Message, strings.TrimPrefix(v.Issuer, "http://")) {
		t.Errorf("the pages were %+v", pages)
	}
	mark := p.mark()
	visits(t, page.URL)
	var done struct{ ElicitationID string }
	decode(t, p.note(mark, "notifications/elicitation/complete", nil).Params, &done)
	if done.ElicitationID != page.ElicitationID {
		t.Errorf("%q was completed, and not %q", done.ElicitationID, page.ElicitationID)
	}
	if got := p.tool("up__whoami", object{}).text(t); got != "Bearer "+v.newest() {
		t.Errorf("the tool was called with %q", got)
	}
	p.note(mark, "notifications/tools/list_changed", nil)
	if now := v.tally(); now.logins != 1 || now.registrations != 1 {
		t.Errorf("one login was %+v", now)
	}
	s.run("call", "up__whoami").exits(0) // it was kept
}

// TestLoginPageUnused: a login that nobody finishes does not keep junctor from
// ending, and ends with it.
func TestLoginPageUnused(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	g := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets().serve()
	p := g.speak(oldDialect.offering(object{"elicitation": object{"url": object{}}}))
	p.greet()
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
	if took := time.Since(begun); took > patience {
		t.Errorf("the end took %s", took)
	}
	if conn, err := net.Dial("tcp", back.Host); err == nil {
		_ = conn.Close()
		t.Errorf("something still listens at %s", back.Host)
	}
}

// opening is a client whose user agrees to every page.
func opening(t *testing.T, seen *[]string) func(*mcp.ClientOptions) {
	return func(o *mcp.ClientOptions) {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			*seen = append(*seen, r.Params.Message)
			visits(t, r.Params.URL)
			return &mcp.ElicitResult{Action: "accept"}, nil
		}
	}
}

// TestLoginPageModern: to a modern client the login is a question like others, and
// one call is all it takes.
func TestLoginPageModern(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	e := s.serveHTTP()
	var seen []string
	c := e.connect(t, newDialect, opening(t, &seen))
	if got := c.call("up__whoami", nil); got != "Bearer "+v.newest() || len(seen) != 1 || !strings.Contains(seen[0], "server up") {
		t.Errorf("the tool was called with %q, the user was asked %q", got, seen)
	}
}

// TestNoLoginPage: where the user's browser is, or may be, on another machine, and
// where a client says nothing of pages, there is the command.
func TestNoLoginPage(t *testing.T) {
	t.Parallel()
	pages := object{"elicitation": object{"url": object{}}}
	for name, c := range map[string]struct {
		d    dialect
		env  string
		auth string
	}{
		"not asked for, legacy": {oldDialect, "", `auth "oauth" {}`},
		"not asked for, modern": {newDialect.offering(object{"elicitation": object{"form": object{}}}), "", `auth "oauth" {}`},
		"no browser":            {oldDialect.offering(pages), "NO_BROWSER=1", `auth "oauth" {}`},
		"over SSH":              {newDialect.offering(pages), "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22", `auth "oauth" {}`},
		"no ports":              {newDialect.offering(pages), "JUNCTOR_CALLBACK_PORTS=x", `auth "oauth" {}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVendor(t)
			s := newSite(t, v.server("  "+c.auth+"\n")).withSecrets()
			s.env = append(s.env, c.env)
			g := s.serve()
			p := g.speak(c.d)
			p.greet()
			for range 3 {
				e := p.tool("up__whoami", object{}).failure(t)
				if e.Code == -32042 || !strings.Contains(e.Message, "junctor login up") || !strings.Contains(string(e.Data), `"code":"upstream.needs_login"`) {
					t.Errorf("the client got %d %s %s", e.Code, e.Message, e.Data)
				}
				p.list("tools/list", "tools")
			}
			if n := strings.Count(g.stderr.String(), "junctor login up"); n != 1 {
				t.Errorf("the log has the command %d times", n)
			}
			if now := v.tally(); now.logins != 0 || now.registrations != 0 {
				t.Errorf("nobody logged in, which was %+v", now)
			}
		})
	}
}

// as connects somebody whom the gateway knows by a token.
func (e *endpoint) as(t *testing.T, token string, change func(*mcp.ClientOptions)) *session {
	t.Helper()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return connect(t, &mcp.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: bearer(token)}}, newDialect, change)
}

// TestLoginOfTenants: who is told apart logs in apart, at a terminal with the
// command that the error has or on a page; nobody decides for all.
func TestLoginOfTenants(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	one := v.server("  share = \"tenant\"\n  auth \"oauth\" {}\n")
	s := newSite(t, one, v.server("  share = \"global\"\n  auth \"oauth\" {}\n").under("all")).withSecrets()
	token := func(who string) string { return strings.Repeat(who+"-0123456789", 3) }
	block := "gateway {\n  http {\n"
	for _, who := range []string{"ann", "bob"} {
		block += fmt.Sprintf("    auth \"static_token\" {\n      token   = %q\n      subject = %q\n      tenant  = %q\n    }\n", token(who), who, who+"corp")
	}
	s.adds(block + "  }\n}\n")
	s.run("login", "up").exits(0) // as whom the server is asked for its tools
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
		t.Errorf("ann heard %q", got)
	}
	s.run("login", "up", "--tenant", "anncorp").exits(0)
	anns := "Bearer " + v.newest()
	for until := time.Now().Add(patience); said(ann, "up__whoami") != anns; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("ann heard %q", said(ann, "up__whoami"))
		}
	}
	if got := said(bob, "up__whoami"); got == anns || got != "Bearer "+v.newest() || len(seen) != 1 {
		t.Errorf("bob heard %q, after %q", got, seen)
	}
	if got := said(bob, "all__whoami"); !strings.Contains(got, "`junctor login all`") || len(seen) != 1 {
		t.Errorf("of what all share bob heard %q, after %q", got, seen)
	}
}
