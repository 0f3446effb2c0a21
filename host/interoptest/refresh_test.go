package interoptest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callers calls whoami so many times at the same time. None of the calls may
// fail.
func (s *session) callers(calls int) {
	s.t.Helper()
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			r, err := s.CallTool(s.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}})
			if err != nil || r.IsError {
				s.t.Errorf("a call failed: %v, %+v", err, r)
			}
		})
	}
	all.Wait()
}

// TestOneRefresh: a hundred calls that come when the token is not good any more,
// and processes that know the same secrets, refresh it once. Refresh tokens are
// good once here, so that a second try would end the login. AUO-10
func TestOneRefresh(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	s.run("login", "up").exits(0)
	c := s.serveHTTP().connect(t, newDialect, nil)
	c.awaits("up")
	v.Expire()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { s.run("call", "up__whoami").exits(0) })
	}
	all.Go(func() { c.callers(100) })
	all.Wait()
	if now := v.tally(); now.refreshes != 1 || now.logins != 1 || now.registrations != 1 {
		t.Errorf("a hundred calls and two processes were %+v", now)
	}
	v.Expire()
	for range 2 {
		all.Go(func() { s.run("call", "up__whoami").exits(0) })
	}
	all.Wait()
	if now := v.tally(); now.refreshes != 2 {
		t.Errorf("two processes were %+v", now)
	}
}

// TestFirstRefusals: where nobody logged in, nothing opens a browser, every
// client hears which command to run, and one login is enough for all of them,
// without anything being started again. AUO-16
func TestFirstRefusals(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	e := s.serveHTTP()
	c := e.connect(t, newDialect, nil)
	refused := func() {
		t.Helper()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				r, err := c.CallTool(c.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}})
				said := ""
				if err != nil {
					said = err.Error()
				} else if r.IsError {
					said = textOf(r)
				}
				if !strings.Contains(said, "junctor login up") {
					t.Errorf("a client heard %q", said)
				}
			})
		}
		all.Wait()
	}
	refused()
	if now := v.tally(); now.logins != 0 || now.registrations != 0 {
		t.Errorf("nobody asked for a login, and there were %+v", now)
	}
	s.run("login", "up").exits(0)
	c.awaits("up")
	c.callers(5)
	if now := v.tally(); now.logins != 1 || now.registrations != 1 || now.refreshes != 0 {
		t.Errorf("one login was %+v", now)
	}
	s.run("logout", "up").exits(0)
	v.Expire()
	refused()
}

// TestRefusingServer: a server that refuses every token is left alone soon, and
// asked again when something was stored.
func TestRefusingServer(t *testing.T) {
	t.Parallel()
	v := newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	s.run("login", "up").exits(0)
	s.run("tools", "up").exits(0)
	c := s.serveHTTP().connect(t, newDialect, nil)
	c.awaits("up")
	c.callers(1)
	v.Instead("/mcp", v.Refuse)
	before := v.tally()
	for range 20 {
		if r, err := c.CallTool(c.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}}); err == nil && !r.IsError {
			t.Error("a call succeeded")
		}
	}
	now := v.tally()
	for begun := time.Now(); ; { // until there is silence, and for how long
		time.Sleep(100 * time.Millisecond)
		if later := v.tally(); later == now {
			break
		} else if now = later; time.Since(begun) > patience/2 {
			t.Fatal("there is no silence")
		}
	}
	// One may go to what was refused a moment before the refusal was understood, and
	// where the machine has little time for us, so may what listens to the server.
	most := 8
	if whole() {
		most = 4
	}
	if tries := now.requests - before.requests; tries > most || now.refreshes > 3 {
		t.Errorf("twenty calls were %d requests and %d refreshes", tries, now.refreshes)
		for _, r := range v.Requests("/mcp")[before.requests:] {
			t.Logf("%s %.80s", r.Method, r.Body)
		}
	}
	v.Instead("/mcp", nil)
	s.run("login", "up").exits(0)
	// The gateway may be about to understand it, or to try what was stored before.
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if r, err := c.CallTool(c.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}}); err == nil && !r.IsError {
			break
		}
	}
	c.callers(5)
}

// TestMovedServer: a token goes to the address that it was obtained for, and to
// no other that the configuration names later. AUO-11, U7
func TestMovedServer(t *testing.T) {
	t.Parallel()
	v, other := newVendor(t), newVendor(t)
	s := newSite(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	s.run("login", "up").exits(0)
	s.run("call", "up__whoami").exits(0)
	s.rewrites(func(text string) string { return strings.Replace(text, v.base, other.base, 1) })
	s.run("call", "up__whoami").exits(4).says("junctor login up")
	s.run("status", "up").exits(4)
	if other.saw("Authorization") || other.tally().refreshes > 0 {
		t.Error("the new address was shown a token")
	}
	s.rewrites(func(text string) string { return strings.Replace(text, other.base, v.base, 1) })
	s.run("call", "up__whoami").exits(0)
}
