package httpserver

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestUnreadStreamsAreClosed checks that a client that does not read its stream
// is disconnected within timeouts.send, however slowly events come, and that no
// other client waits.
func TestUnreadStreamsAreClosed(t *testing.T) {
	t.Parallel()
	const send = 2 * time.Second
	// A megabyte a second fills the client's system soon, but not the buffer
	// that a write would block on.
	every, size := 10*time.Millisecond, 10<<10
	if soak() {
		size = 40 << 10
	}
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["test://r"]},` +
		meta + `}}`
	for name, open := range map[string]func(t *testing.T, h *fixture, conn net.Conn) (isOpen func() bool){
		"a session's": func(t *testing.T, h *fixture, conn net.Conn) func() bool {
			v := h.newClient(t).initialize()
			v.mustPost(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
			fmt.Fprintf(conn,
				"GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n",
				h.address, v.session)
			return func() bool { return h.hasReader(v.session) }
		},
		"a modern client's": func(_ *testing.T, h *fixture, conn net.Conn) func() bool {
			fmt.Fprint(conn,
				rawRequest(h.address, listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method",
					"subscriptions/listen"))
			return func() bool { return h.listening.Used() > 0 }
		},
		"a client's over HTTP+SSE": func(t *testing.T, h *fixture, conn net.Conn) func() bool {
			fmt.Fprintf(conn, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", h.address)
			says := newTestClient(t, "http://"+h.address+"/messages?sessionId="+h.legacyID(t), &http.Transport{})
			says.mustPost(initializeRequest)
			says.mustPost(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
			return func() bool {
				h.legacySSE.mu.Lock()
				defer h.legacySSE.mu.Unlock()
				return len(h.legacySSE.clients) > 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, quick, update := openUpdatesFixture(t, func(o *Options) { o.Send, o.LegacySSE = send, true })
			feed := quick.mustListen("")
			if _, err := feed.next(); err != nil {
				t.Fatal(err)
			}
			isOpen := open(t, h, dialWithSmallBuffer(t, h.address))
			eventually.True(t, "the stream is open", isOpen)
			begun, padding, slowest := time.Now(), strings.Repeat("x", size), time.Duration(0)
			for i := 0; isOpen(); i++ {
				sent := time.Now()
				update(i+1, padding)
				e, err := feed.next()
				if err != nil || number(e.data) != i+1 {
					t.Fatalf("event %d: %.100s, %v", i+1, e.data, err)
				}
				slowest = max(slowest, time.Since(sent))
				if time.Since(begun) > send+testTimeout {
					t.Fatal("the unread stream was not closed")
				}
				time.Sleep(every) // paces the events
			}
			took := time.Since(begun)
			bar := 2 * send
			if soak() {
				bar = send + 500*time.Millisecond
				fmt.Printf("%-46s %10s  (bar %s)\n",
					name+" unread stream is given up after", took.Round(time.Millisecond), bar)
			}
			if runtime.GOOS == "linux" && took > bar {
				t.Errorf("the unread stream was closed after %s", took)
			}
			if slowest > send {
				t.Errorf("another client waited for %s", slowest)
			}
		})
	}
}

// TestUnreadListenerLosesItsSubscription checks that a client without a session
// that does not read its stream is disconnected, and its subscription removed.
func TestUnreadListenerLosesItsSubscription(t *testing.T) {
	t.Parallel()
	const send = time.Second
	h, quick, update := openUpdatesFixture(t, func(o *Options) { o.Send, o.LegacySSE = send, true })
	feed := quick.mustListen("")
	if _, err := feed.next(); err != nil {
		t.Fatal(err)
	}

	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["test://r"]},` +
		meta + `}}`
	modern := dialWithSmallBuffer(t, h.address)
	fmt.Fprintf(modern, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s",
		h.address, len(listen), listen)

	old := dialWithSmallBuffer(t, h.address)
	fmt.Fprintf(old, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", h.address)
	id := h.legacyID(t)
	says := newTestClient(t, "http://"+h.address+"/messages?sessionId="+id, &http.Transport{})
	says.mustPost(initializeRequest)
	says.mustPost(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
	subscribed := func() int { // both slow clients, beside the one that reads
		h.legacySSE.mu.Lock()
		defer h.legacySSE.mu.Unlock()
		return len(h.legacySSE.clients) + int(h.listening.Used())
	}
	eventually.True(t, "the clients have subscribed", func() bool { return subscribed() >= 2 })

	begun := time.Now()
	padding := strings.Repeat("x", 100<<10)
	for i := range 150 {
		update(i+1, padding)
		e, err := feed.next()
		if err != nil || number(e.data) != i+1 {
			t.Fatalf("event %d: %.100s, %v", i+1, e.data, err)
		}
	}
	eventually.NoError(t, func() error {
		quick.mustPost(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if n := subscribed(); n > 0 {
			return fmt.Errorf("%d slow clients are still subscribed", n)
		}
		return nil
	})
	took := time.Since(begun)
	if took > send+testTimeout {
		t.Errorf("the slow clients were disconnected after %s", took)
	}
	t.Logf("disconnected after %s", took)
}

// legacyID returns the id of the only client over HTTP+SSE.
func (h *fixture) legacyID(t *testing.T) string {
	t.Helper()
	var id string
	eventually.True(t, "a client is there over HTTP+SSE", func() bool {
		h.legacySSE.mu.Lock()
		defer h.legacySSE.mu.Unlock()
		for id = range h.legacySSE.clients {
			return true
		}
		return false
	})
	return id
}
