package httpserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// openShared is a hall with two clients who have to say who they are.
func openShared(t *testing.T, change func(*Options), servers ...*performer) (h *fixture, alice, bob *visitor) {
	h = openFixture(t, func(o *Options) {
		o.Auth, o.Several = twoTokens(), true
		change(o)
	}, servers...)
	alice, bob = h.visit(t), h.visit(t)
	alice.header.Set("Authorization", "Bearer "+aliceToken)
	bob.header.Set("Authorization", "Bearer "+bobToken)
	return h, alice, bob
}

// TestShareOfRequests: a client that takes all the places it can get is told so,
// and leaves half of them to others.
func TestShareOfRequests(t *testing.T) {
	t.Parallel()
	a := newPerformer("a", "2026-07-28")
	h, alice, bob := openShared(t, func(o *Options) { o.MaxInFlight = 5 }, a)
	message, header := modernCall(1, "a__wait", `{}`)
	ended := make(chan string, 10)
	wait := func(v *visitor) {
		go func() {
			_, text, _, _ := v.post(message, header...)
			ended <- text
		}()
	}
	var waiting []waiting
	for range 3 {
		wait(alice)
		waiting = append(waiting, a.next(t))
	}
	for range 3 {
		status, text, got, _ := alice.post(message, header...)
		refusedFor(t, status, http.StatusTooManyRequests, got, text, "share")
		if !strings.Contains(text, "-31010") || !strings.Contains(text, "half") {
			t.Error(text)
		}
	}
	wait(bob)
	waiting = append(waiting, a.next(t))
	echo, echoHeader := modernCall(2, "a__echo", `{}`)
	bob.must(echo, echoHeader...)
	wait(bob)
	waiting = append(waiting, a.next(t))
	status, text, got, _ := bob.post(echo, echoHeader...) // his share is free, the gateway is not
	refusedFor(t, status, http.StatusServiceUnavailable, got, text, "overloaded")
	for _, w := range waiting {
		w.answer(`{"content":[]}`)
		if text := <-ended; !strings.Contains(text, `"result"`) {
			t.Error(text)
		}
	}
	for until := time.Now().Add(patience); h.inFlight.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("places are not given back")
		}
	}
	if len(h.inFlight.of) > 0 {
		t.Errorf("%v", h.inFlight.of)
	}
	alice.must(echo, echoHeader...)
}

// TestShareOfListeners: so it is with those who listen.
func TestShareOfListeners(t *testing.T) {
	t.Parallel()
	_, alice, bob := openShared(t, func(o *Options) { o.Sessions.Max = 4 }, newPerformer("a", "2026-07-28"))
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, v := range []*visitor{alice, bob} {
		for range 2 {
			resp, err := v.request(ctx, http.MethodPost, listen, header...)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp, err)
			}
			defer func() { _ = resp.Body.Close() }()
		}
		if v == alice {
			status, text, got, _ := alice.post(listen, header...)
			refusedFor(t, status, http.StatusTooManyRequests, got, text, "share")
		}
	}
}

// TestShareOfSessions: and with sessions, whichever way they begin. One that ended
// makes room.
func TestShareOfSessions(t *testing.T) {
	t.Parallel()
	h, alice, bob := openShared(t, func(o *Options) { o.Sessions.Max, o.LegacySSE = 4, true })
	alice.greet()
	alice.session = ""
	alice.greet()
	again := *alice
	again.session = ""
	status, text, got, _ := again.post(greeting)
	refusedFor(t, status, http.StatusTooManyRequests, got, text, "share")
	old := again
	old.url = "http://" + h.at + "/sse"
	resp, err := old.request(t.Context(), http.MethodGet, "")
	if err != nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%v, %v", resp, err)
	}
	_ = resp.Body.Close()
	bob.greet()
	bob.session = ""
	bob.greet()
	if resp, err = alice.request(t.Context(), http.MethodDelete, ""); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	again.greet()
}

// TestAlone: who is the only client has everything.
func TestAlone(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.Auth, o.Sessions.Max = twoTokens(), 2 })
	v := h.visit(t)
	v.header.Set("Authorization", "Bearer "+aliceToken)
	for range 2 {
		v.session = ""
		v.greet()
	}
}

// TestConnectionsOfOne: an address has so many connections, with TLS or without.
// What is more is closed at once, and said once; what is closed makes room.
func TestConnectionsOfOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newAuthority(t, dir, "ours").sign("server", 2)
	secure, err := NewTLS(Certificates{Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key")}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	for what, secure := range map[string]*tls.Config{"plain": nil, "TLS": secure} {
		t.Run(what, func(t *testing.T) {
			l, err := Listen(t.Context(), "127.0.0.1:0", 0)
			if err != nil {
				t.Fatal(err)
			}
			h := openFixtureAt(t, l, secure, func(o *Options) { o.Connections, o.Loopback = 3, true })
			var open []net.Conn
			dial := func() net.Conn {
				c, err := net.Dial("tcp", h.at)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				_ = c.SetDeadline(time.Now().Add(patience))
				return c
			}
			for range 3 {
				open = append(open, dial())
			}
			for range 50 {
				begun := time.Now()
				if n, err := dial().Read(make([]byte, 1)); n > 0 || err == nil || time.Since(begun) > patience/2 {
					t.Fatalf("it is not closed: %v", err)
				}
			}
			if n := strings.Count(h.log.String(), "refused connections"); n != 1 {
				t.Errorf("the log says it %d times", n)
			}
			if secure == nil { // the others go on
				fmt.Fprintf(open[0], "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", h.at)
				if _, err := io.ReadAtLeast(open[0], make([]byte, 100), 12); err != nil {
					t.Error(err)
				}
			}
			_ = open[1].Close()
			for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
				c := dial()
				_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); err != io.EOF && !strings.Contains(err.Error(), "reset") {
					break
				}
				if time.Now().After(until) {
					t.Fatal("nobody is let in again")
				}
			}
		})
	}
}

// TestConnectionsOfThisMachine: the programs of this machine are not counted,
// unless the configuration counts them.
func TestConnectionsOfThisMachine(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.Connections = 1 })
	for range 5 {
		h.visit(t).greet()
	}
}
