package httpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// openShared returns a fixture with two authenticated clients.
func openShared(t *testing.T, change func(*Options), servers ...*scriptedServer) (h *fixture, alice, bob *testClient) {
	h = openFixture(t, func(o *Options) {
		o.Auth = newTestTokens()
		change(o)
		half := func(n int) limit.Shares { return limit.Shares{Principal: int64(n+1) / 2} }
		o.Shares = Shares{Requests: half(o.MaxInFlight), Streams: half(o.Sessions.Max), Sessions: half(o.Sessions.Max)}
	}, servers...)
	h.gateway.SetShares(gateway.Shares{Memory: limit.Shares{Principal: fixtureMemory / 2}})
	alice, bob = h.newClient(t), h.newClient(t)
	alice.header.Set("Authorization", "Bearer "+aliceToken)
	bob.header.Set("Authorization", "Bearer "+bobToken)
	return h, alice, bob
}

// TestOneClientGetsHalfOfTheRequests checks that a client above half of
// max_in_flight is refused, and another client is not.
func TestOneClientGetsHalfOfTheRequests(t *testing.T) {
	t.Parallel()
	a := newScriptedServer("a", "2026-07-28")
	h, alice, bob := openShared(t, func(o *Options) { o.MaxInFlight = 5 }, a)
	message, header := modernCall(1, "a__wait", `{}`)
	ended := make(chan string, 10)
	wait := func(v *testClient) {
		go func() {
			_, text, _, _ := v.post(message, header...)
			ended <- text
		}()
	}
	var waiting []pendingCall
	for range 3 {
		wait(alice)
		waiting = append(waiting, a.nextCall(t))
	}
	for range 3 {
		status, text, got, _ := alice.post(message, header...)
		expectRetryable(t, status, http.StatusTooManyRequests, got, text, "share")
		if !strings.Contains(text, "-31010") ||
			!strings.Contains(text, "one client may use 3 of the 5 of max_in_flight") {
			t.Error(text)
		}
	}
	wait(bob)
	waiting = append(waiting, a.nextCall(t))
	echo, echoHeader := modernCall(2, "a__echo", `{}`)
	bob.mustPost(echo, echoHeader...)
	wait(bob)
	waiting = append(waiting, a.nextCall(t))
	status, text, got, _ := bob.post(echo, echoHeader...) // his half is free, but the total is not
	expectRetryable(t, status, http.StatusServiceUnavailable, got, text, "overloaded")
	for _, w := range waiting {
		w.answer(`{"content":[]}`)
		if text := <-ended; !strings.Contains(text, `"result"`) {
			t.Error(text)
		}
	}
	eventually.True(t, "the quota is released", func() bool { return h.inFlight.Used() == 0 })
	alice.mustPost(echo, echoHeader...)
}

// TestOneClientGetsHalfOfTheListeners checks the same for listeners.
func TestOneClientGetsHalfOfTheListeners(t *testing.T) {
	t.Parallel()
	_, alice, bob := openShared(t, func(o *Options) { o.Sessions.Max = 4 }, newScriptedServer("a", "2026-07-28"))
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		meta + `}}`
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, v := range []*testClient{alice, bob} {
		for range 2 {
			resp, err := v.request(ctx, http.MethodPost, listen, header...)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp, err)
			}
			defer func() { _ = resp.Body.Close() }()
		}
		if v == alice {
			status, text, got, _ := alice.post(listen, header...)
			expectRetryable(t, status, http.StatusTooManyRequests, got, text, "share")
		}
	}
}

// TestOneClientGetsHalfOfTheSessions checks the same for sessions over both
// transports. A session that ends makes space.
func TestOneClientGetsHalfOfTheSessions(t *testing.T) {
	t.Parallel()
	h, alice, bob := openShared(t, func(o *Options) { o.Sessions.Max, o.LegacySSE = 4, true })
	alice.initialize()
	alice.session = ""
	alice.initialize()
	again := *alice
	again.session = ""
	status, text, got, _ := again.post(initializeRequest)
	expectRetryable(t, status, http.StatusTooManyRequests, got, text, "share")
	old := again
	old.url = "http://" + h.address + "/sse"
	resp, err := old.request(t.Context(), http.MethodGet, "")
	if err != nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%v, %v", resp, err)
	}
	_ = resp.Body.Close()
	bob.initialize()
	bob.session = ""
	bob.initialize()
	if resp, err = alice.request(t.Context(), http.MethodDelete, ""); err != nil ||
		resp.StatusCode != http.StatusNoContent {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	again.initialize()
}

// TestSingleClientGetsEverything checks that the only client has no share.
func TestSingleClientGetsEverything(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.Auth, o.Sessions.Max = newTestTokens(), 2 })
	v := h.newClient(t)
	v.header.Set("Authorization", "Bearer "+aliceToken)
	for range 2 {
		v.session = ""
		v.initialize()
	}
}

// TestConnectionsPerAddress checks the limit with and without TLS. A connection
// above it is closed at once and logged once. A closed connection makes space.
func TestConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newAuthority(t, dir, "ours").sign("server", 2)
	secure, err := NewTLS(Certificates{Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key")},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	for what, secure := range map[string]*TLS{"plain": nil, "TLS": secure} {
		t.Run(what, func(t *testing.T) {
			l, err := Listen(t.Context(), "127.0.0.1:0", 0)
			if err != nil {
				t.Fatal(err)
			}
			h := openFixtureAt(t, l, secure, func(o *Options) { o.Connections, o.Loopback = 3, true })
			var open []net.Conn
			dial := func() net.Conn {
				c, err := net.Dial("tcp", h.address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				_ = c.SetDeadline(time.Now().Add(testTimeout))
				return c
			}
			for range 3 {
				open = append(open, dial())
			}
			for range 50 {
				begun := time.Now()
				if n, err := dial().Read(make([]byte, 1)); n > 0 || err == nil || time.Since(begun) > testTimeout/2 {
					t.Fatalf("a connection above the limit is not closed: %v", err)
				}
			}
			if n := strings.Count(h.log.String(), "refused connections"); n != 1 {
				t.Errorf("the log reports refused connections %d times", n)
			}
			if secure == nil { // the other connections still work
				fmt.Fprintf(open[0], "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", h.address)
				if _, err := io.ReadAtLeast(open[0], make([]byte, 100), 12); err != nil {
					t.Error(err)
				}
			}
			_ = open[1].Close()
			eventually.True(t, "a connection is accepted after one was closed", func() bool {
				c := dial()
				_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				_, err := c.Read(make([]byte, 1))
				return err != io.EOF && !strings.Contains(err.Error(), "reset")
			})
		})
	}
}

// TestLoopbackConnectionsAreNotLimited checks that connections of this machine
// count only if the configuration says so.
func TestLoopbackConnectionsAreNotLimited(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.Connections = 1 })
	for range 5 {
		h.newClient(t).initialize()
	}
}
