package interoptest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// callConcurrently calls whoami concurrently. All calls must succeed.
func (s *session) callConcurrently(calls int) {
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

// TestExpiredTokenIsRefreshedOnce has a hundred calls, and processes with the
// same secrets, use an expired token. It must be refreshed once: refresh tokens
// can be used once here, so that a second refresh would end the login. AUO-10
func TestExpiredTokenIsRefreshedOnce(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	s.run("login", "up").exits(0)
	c := s.serveHTTP().connect(t, newDialect, nil)
	c.waitForTools("up")
	v.Expire()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { s.run("call", "up__whoami").exits(0) })
	}
	all.Go(func() { c.callConcurrently(100) })
	all.Wait()
	if now := v.tally(); now.refreshes != 1 || now.logins != 1 || now.registrations != 1 {
		t.Errorf("after a hundred calls and two processes: %+v", now)
	}
	v.Expire()
	for range 2 {
		all.Go(func() { s.run("call", "up__whoami").exits(0) })
	}
	all.Wait()
	if now := v.tally(); now.refreshes != 2 {
		t.Errorf("after two processes: %+v", now)
	}
}

// TestCallsWithoutALogin checks that no browser opens without a login and each
// client gets the login command. One login serves all of them without a
// restart. AUO-16
func TestCallsWithoutALogin(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
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
					t.Errorf("a client got %q", said)
				}
			})
		}
		all.Wait()
	}
	refused()
	if now := v.tally(); now.logins != 0 || now.registrations != 0 {
		t.Errorf("without a login command: %+v", now)
	}
	s.run("login", "up").exits(0)
	c.waitForTools("up")
	c.callConcurrently(5)
	if now := v.tally(); now.logins != 1 || now.registrations != 1 || now.refreshes != 0 {
		t.Errorf("after one login: %+v", now)
	}
	s.run("logout", "up").exits(0)
	v.Expire()
	refused()
}

// TestServerThatRefusesTokensIsLeftAlone checks that requests stop soon, and
// start again after a credential was stored.
func TestServerThatRefusesTokensIsLeftAlone(t *testing.T) {
	t.Parallel()
	v := newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	s.run("login", "up").exits(0)
	s.run("tools", "up").exits(0)
	c := s.serveHTTP().connect(t, newDialect, nil)
	c.waitForTools("up")
	c.callConcurrently(1)
	v.Instead("/mcp", v.Refuse)
	before := v.tally()
	for range 20 {
		if r, err := c.CallTool(c.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}}); err == nil &&
			!r.IsError {
			t.Error("a call succeeded")
		}
	}
	now := v.tally()
	for begun := time.Now(); ; { // until no request comes for a while
		time.Sleep(100 * time.Millisecond) // a request that is still to come is soon
		if later := v.tally(); later == now {
			break
		} else if now = later; time.Since(begun) > testTimeout/2 {
			t.Fatal("requests do not stop")
		}
	}
	// One request may be in flight when the 401 response is processed. On a busy
	// machine a request that opens a stream may be too.
	most := 8
	if allCombinations() {
		most = 4
	}
	if tries := now.requests - before.requests; tries > most || now.refreshes > 3 {
		t.Errorf("twenty calls caused %d requests and %d refreshes", tries, now.refreshes)
		for _, r := range v.Requests("/mcp")[before.requests:] {
			t.Logf("%s %.80s", r.Method, r.Body)
		}
	}
	v.Instead("/mcp", nil)
	s.run("login", "up").exits(0)
	// The gateway may be processing it, or trying the previous credential.
	eventually.True(t, "calls succeed after the login", func() bool {
		r, err := c.CallTool(c.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}})
		return err == nil && !r.IsError
	})
	c.callConcurrently(5)
}

// TestTokenIsNotSentToAnotherAddress checks that a token is sent only to the
// address for which it was obtained, whatever the configuration says later.
// AUO-11, U7
func TestTokenIsNotSentToAnotherAddress(t *testing.T) {
	t.Parallel()
	v, other := newAuthServer(t), newAuthServer(t)
	s := newWorkspace(t, v.server("  auth \"oauth\" {}\n")).withSecrets()
	s.run("login", "up").exits(0)
	s.run("call", "up__whoami").exits(0)
	s.rewriteConfig(func(text string) string { return strings.Replace(text, v.base, other.base, 1) })
	s.run("call", "up__whoami").exits(4).says("junctor login up")
	s.run("status", "up").exits(4)
	if other.saw("Authorization") || other.tally().refreshes > 0 {
		t.Error("the new address got a token")
	}
	s.rewriteConfig(func(text string) string { return strings.Replace(text, other.base, v.base, 1) })
	s.run("call", "up__whoami").exits(0)
}
