package httpserver

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestUnreadStreams: a client that does not read its stream is given up within
// timeouts.send, however slowly its events come, and no other client waits for it.
func TestUnreadStreams(t *testing.T) {
	t.Parallel()
	const send = 2 * time.Second
	// A megabyte a second: what the client's system takes is soon full, the buffer
	// that a write would wait for is not.
	every, size := 10*time.Millisecond, 10<<10
	if soak() {
		size = 40 << 10
	}
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["test://r"]},` + meta + `}}`
	for name, open := range map[string]func(t *testing.T, h *fixture, conn net.Conn) (isOpen func() bool){
		"a session's": func(t *testing.T, h *fixture, conn net.Conn) func() bool {
			v := h.visit(t).greet()
			v.must(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
			fmt.Fprintf(conn, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n", h.at, v.session)
			return func() bool { return h.following(v.session) }
		},
		"a modern client's": func(_ *testing.T, h *fixture, conn net.Conn) func() bool {
			fmt.Fprint(conn, rawRequest(h.at, listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"))
			return func() bool { return h.listening.Load() > 0 }
		},
		"an old client's": func(t *testing.T, h *fixture, conn net.Conn) func() bool {
			fmt.Fprintf(conn, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", h.at)
			says := newVisitor(t, "http://"+h.at+"/messages?sessionId="+h.oldID(t), &http.Transport{})
			says.must(greeting)
			says.must(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
			return func() bool {
				h.mu.Lock()
				defer h.mu.Unlock()
				return len(h.old) > 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, quick, update := updates(t, func(o *Options) { o.Send, o.LegacySSE = send, true })
			feed := quick.follow("")
			if _, err := feed.next(); err != nil {
				t.Fatal(err)
			}
			isOpen := open(t, h, stall(t, h.at))
			for until := time.Now().Add(patience); !isOpen(); time.Sleep(time.Millisecond) {
				if time.Now().After(until) {
					t.Fatal("it does not open")
				}
			}
			time.Sleep(100 * time.Millisecond) // for the subscription to be in effect
			begun, padding, slowest := time.Now(), strings.Repeat("x", size), time.Duration(0)
			for i := 0; isOpen(); i++ {
				sent := time.Now()
				update(i+1, padding)
				e, err := feed.next()
				if err != nil || number(e.data) != i+1 {
					t.Fatalf("event %d: %.100s, %v", i+1, e.data, err)
				}
				slowest = max(slowest, time.Since(sent))
				if time.Since(begun) > send+patience {
					t.Fatal("it is not given up")
				}
				time.Sleep(every)
			}
			took := time.Since(begun)
			bar := 2 * send
			if soak() {
				bar = send + 500*time.Millisecond
				fmt.Printf("%-46s %10s  (bar %s)\n", name+" unread stream is given up after", took.Round(time.Millisecond), bar)
			}
			if runtime.GOOS == "linux" && took > bar {
				t.Errorf("it was given up after %s", took)
			}
			if slowest > send {
				t.Errorf("another client waited for %s", slowest)
			}
		})
	}
}
