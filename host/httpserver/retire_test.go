package httpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// listener returns the only listener, once the fixture has started it.
func (h *fixture) listener(t *testing.T) *Listener {
	t.Helper()
	eventually.True(t, "the server listens", func() bool { return len(h.listeners.list()) == 1 })
	return h.listeners.list()[0]
}

// moved starts a listener at another address and retires the one of the fixture. It
// returns the listener that is retired and the address of the other one.
func (h *fixture) moved(t *testing.T, settings func(*Settings)) (retired *Listener, address string) {
	t.Helper()
	s, err := Listen(t.Context(), "127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	retired = h.listener(t)
	retired.Retire()
	now := defaults().Settings
	if settings != nil {
		settings(&now)
	}
	h.Apply(now)
	next := h.Start(s.Turn(), nil)
	t.Cleanup(func() {
		next.Retire()
		_ = s.Close()
	})
	return retired, s.Addr().String()
}

// TestRetiredListenerAnswersRequestsInFlight moves the listener while a client of each
// era has a call in flight.
func TestRetiredListenerAnswersRequestsInFlight(t *testing.T) {
	t.Parallel()
	server := newScriptedServer("a", "2025-11-25")
	h := openFixture(t, nil, server)
	modern, legacy := h.newClient(t), h.newClient(t).initialize()
	var work sync.WaitGroup
	message, header := modernCall(1, "a__wait", `{}`)
	work.Go(func() {
		if text := modern.mustPost(message, header...); !strings.Contains(text, "late") {
			t.Error(text)
		}
	})
	work.Go(func() {
		if text := legacy.mustPost(legacyCall(1, "a__wait", `{}`)); !strings.Contains(text, "late") {
			t.Error(text)
		}
	})
	calls := []pendingCall{server.nextCall(t), server.nextCall(t)}
	retired, address := h.moved(t, nil)
	if c, err := net.Dial("tcp", h.address); err == nil {
		_ = c.Close()
		t.Error("the retired listener accepts connections")
	}
	for _, c := range calls {
		c.answer(`{"content":[{"type":"text","text":"late"}]}`)
	}
	work.Wait()
	again := newTestClient(t, "http://"+address+"/mcp", &http.Transport{})
	again.session = legacy.session
	if text := again.mustPost(legacyCall(2, "a__echo", `{}`)); !strings.Contains(text, `"id":2,`) {
		t.Error(text)
	}
	eventually.NoError(t, func() error {
		if len(h.listeners.list()) > 1 {
			return fmt.Errorf("the retired listener has %d requests", retired.requests.Load())
		}
		return nil
	})
}

// TestRetiredListenerKeepsAuthentication: settings without authentication are for the
// address of the next listener only.
func TestRetiredListenerKeepsAuthentication(t *testing.T) {
	t.Parallel()
	server := newScriptedServer("a", "2025-11-25")
	h := openFixture(t, func(o *Options) { o.Auth = newTestTokens() }, server)
	alice, stranger := h.newClient(t), h.newClient(t)
	alice.header.Set("Authorization", "Bearer "+aliceToken)
	message, header := modernCall(1, "a__wait", `{}`)
	var work sync.WaitGroup
	work.Go(func() { alice.mustPost(message, header...) })
	call := server.nextCall(t) // keeps the listener open
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if status, text, _, err := stranger.post(ping); err != nil || status != http.StatusUnauthorized {
		t.Fatalf("before: %d, %v: %s", status, err, text)
	}
	_, address := h.moved(t, nil)
	if status, text, _, err := stranger.post(ping); err == nil && status != http.StatusUnauthorized {
		t.Errorf("on an open connection to the retired listener: %d: %s", status, text)
	}
	v := newTestClient(t, "http://"+address+"/mcp", &http.Transport{})
	v.initialize()
	call.answer(`{"content":[]}`)
	work.Wait()
}

// TestApplyEndsStreamsThatBegin: a stream that was admitted before the settings changed
// ends at once.
func TestApplyEndsStreamsThatBegin(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.Auth = newTestTokens() })
	before := h.active.Load()
	now := defaults().Settings
	now.Auth = authn.NewTokens([]authn.StaticToken{{Token: bobToken, Subject: "bob", Tenant: "default"}})
	h.Apply(now)
	for token, ended := range map[string]bool{aliceToken: true, bobToken: false} {
		r, err := http.NewRequestWithContext(context.WithValue(t.Context(), listenerKey{}, h.listener(t)),
			http.MethodGet, "http://"+h.address+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		p, err := before.Auth.Authenticate(r)
		if err != nil {
			t.Fatal(err)
		}
		ctx, done := h.register(&clientStream{request: r, principal: p}, before)
		if end := streamEndOf(ctx); (end == errRefused) != ended {
			t.Errorf("%s: %v", p.Subject, end)
		}
		done()
	}
}

// TestSocketTurns passes a socket from turn to turn while clients connect. Each connection
// is accepted once.
func TestSocketTurns(t *testing.T) {
	t.Parallel()
	s, err := Listen(t.Context(), "127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const clients = 200
	var work sync.WaitGroup
	work.Go(func() {
		for range clients {
			c, err := net.Dial("tcp", s.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			work.Go(func() {
				defer c.Close()
				if text, err := io.ReadAll(c); err != nil || string(text) != "hello" {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
	})
	for accepted := 0; accepted < clients; {
		l := s.Turn()
		conns, ended := make(chan net.Conn), make(chan error, 1)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					ended <- err
					return
				}
				conns <- c
			}
		}()
		closed := make(chan struct{})
		for taken := 0; ; {
			select {
			case c := <-conns:
				_, _ = io.WriteString(c, "hello")
				_ = c.Close()
				accepted++
				if taken++; taken == min(7, clients-accepted+taken) {
					go func() { defer close(closed); _ = l.Close() }()
				}
				continue
			case err := <-ended:
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			}
			break
		}
		<-closed
	}
	work.Wait()
}
