package interoptest

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// swapTokens reloads the gateway with a configuration in which the token of alice belongs
// to bob of the other tenant, and that of bob to alice.
func (s *isolationSite) swapTokens(t *testing.T) {
	t.Helper()
	s.site.rewriteConfig(func(text string) string {
		return strings.NewReplacer(`env("alice")`, `env("bob")`, `env("bob")`, `env("alice")`).Replace(text)
	})
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually.NoError(t, func() error {
		if !strings.Contains(s.stderr.String(), "reloaded the configuration") {
			return fmt.Errorf("the configuration was not reloaded: %s", s.stderr)
		}
		return nil
	})
}

// A belonging is a thing of a client, with a request that only its owner can make.
type belonging struct {
	kind  string
	d     dialect
	use   func(c *tenantClient) string
	works string
}

// belongings makes one thing of each kind for two clients of one principal.
func belongings(legacy, modern *tenantClient) (all []belonging, streams []*httpStream) {
	sse := legacy.stream("GET", strings.TrimSuffix(legacy.url, "/mcp")+"/sse", "")
	endpoint := regexp.MustCompile(`/messages\S+`).FindString(sse.until("sessionId="))
	state, link := makeSuspendedCall(modern), makeLink(modern)
	ping := func(c *tenantClient) string {
		return c.exchange("POST", strings.TrimSuffix(c.url, "/mcp")+endpoint,
			`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	all = []belonging{
		{"session", legacy.dialect,
			func(c *tenantClient) string { return inSession((*tenantClient).ping)(c, legacy.session) }, `"result":{}`},
		{"suspended call",
			modern.dialect, func(c *tenantClient) string { return continueCall(c, state) }, "accept red"},
		{"link", modern.dialect, func(c *tenantClient) string {
			return c.request("resources/read", object{"uri": "vault://secret/" + link})
		}, "read as "},
		{"session of HTTP+SSE", legacy.dialect, ping, "202 "},
	}
	return all, []*httpStream{legacy.listen(), modern.listen(), sse}
}

// TestReloadedTokenLeavesThingsWithTheirOwner gives the token of a client to another
// tenant while the client has streams, sessions and a suspended call. The streams end. All
// else stays with the principal that began it, which has another token now.
func TestReloadedTokenLeavesThingsWithTheirOwner(t *testing.T) {
	s := newIsolationSite(t)
	legacy, modern := s.client(t, ownerCaller, oldDialect), s.client(t, ownerCaller,
		newDialect.withCapabilities(asksUser))
	all, streams := belongings(legacy, modern)
	s.swapTokens(t)
	for i, stream := range streams {
		stream.untilEnd()
		if got := stream.soFar(); i != 1 && !strings.Contains(got, `"reason":"unauthorized"`) {
			t.Errorf("the stream ended without the reason: %s", got)
		}
	}
	other := intruders["another tenant"]
	for _, one := range all {
		if got := one.use(s.client(t, ownerCaller, one.d)); strings.Contains(got, one.works) {
			t.Errorf("%s: %s of %s got %s", one.kind, other.subject, other.tenant, got)
		}
		if one.kind == "session of HTTP+SSE" {
			continue // it ended with its stream
		}
		if got := one.use(s.client(t, other, one.d)); !strings.Contains(got, one.works) {
			t.Errorf("%s: its owner got %s", one.kind, got)
		}
	}
}

// untilEnd waits for the end of the stream.
func (s *httpStream) untilEnd() {
	s.t.Helper()
	late := time.NewTimer(testTimeout)
	defer late.Stop()
	for {
		s.mu.Lock()
		over, changed := s.over, s.changed
		s.mu.Unlock()
		if over {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			s.t.Fatalf("the stream stays open: %s", clip(s.soFar()))
		}
	}
}
