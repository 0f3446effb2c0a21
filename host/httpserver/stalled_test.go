package httpserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSlowListener: a client without a session that does not read its stream is
// given up as well, and what it was subscribed to is given back.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	const send = time.Second
	h, quick, update := updates(t, func(o *Options) { o.Send, o.LegacySSE = send, true })
	feed := quick.follow("")
	if _, err := feed.next(); err != nil {
		t.Fatal(err)
	}

	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["test://r"]},` + meta + `}}`
	modern := stall(t, h.at)
	fmt.Fprintf(modern, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", h.at, len(listen), listen)

	old := stall(t, h.at)
	fmt.Fprintf(old, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", h.at)
	id := h.oldID(t)
	says := newVisitor(t, "http://"+h.at+"/messages?sessionId="+id, &http.Transport{})
	says.must(greeting)
	says.must(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
	subscribed := func() int { // both, beside the one that reads
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.old) + int(h.listening.Load())
	}
	for until := time.Now().Add(patience); subscribed() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("they do not listen")
		}
	}
	time.Sleep(100 * time.Millisecond) // for what they asked for to be in effect

	begun := time.Now()
	padding := strings.Repeat("x", 100<<10)
	for i := range 150 {
		update(i+1, padding)
		e, err := feed.next()
		if err != nil || number(e.data) != i+1 {
			t.Fatalf("event %d: %.100s, %v", i+1, e.data, err)
		}
	}
	for subscribed() > 0 {
		if time.Since(begun) > send+patience {
			t.Fatalf("%d slow clients are not given up", subscribed())
		}
		quick.must(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("given up after %s", time.Since(begun))
}

// oldID is the id of the only client of 2024-11-05.
func (h *fixture) oldID(t *testing.T) string {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		h.mu.Lock()
		for id := range h.old {
			h.mu.Unlock()
			return id
		}
		h.mu.Unlock()
	}
	t.Fatal("there is no such client")
	return ""
}
