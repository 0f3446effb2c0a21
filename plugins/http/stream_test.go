package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestCuts checks that a stream that breaks repeatedly loses and duplicates no
// message. TRN-17, R28
func TestCuts(t *testing.T) {
	t.Parallel()
	const all, cuts = 10_000, 100
	var streams atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != "GET" {
			return false
		}
		n := int(streams.Add(1))
		from := 0
		if last := r.Header.Get("Last-Event-ID"); last != "" {
			from, _ = strconv.Atoi(last)
			if n%2 == 0 {
				from-- // some servers resume with the last event
			}
		}
		var b strings.Builder
		b.WriteString("retry: 1\n")
		for i := from + 1; i <= min(from+all/cuts+1, all); i++ {
			fmt.Fprintf(&b, "id: %d\n%s", i, data(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"i":%d}}`, i)))
		}
		events(w, b.String())
		if n%3 == 0 {
			events(w, "id: 99999\ndata: {\"half") // an incomplete event is ignored
		}
		panic(http.ErrAbortHandler)
	})
	c := connect(t, s.url)
	c.shake()
	for i := 1; i <= all; i++ {
		c.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"i":%d}}`, i))
	}
	if n := streams.Load(); n < cuts {
		t.Errorf("%d streams", n)
	}
	select {
	case g := <-c.got:
		t.Errorf("unexpected message: %s", g.msg)
	case <-time.After(300 * time.Millisecond):
	}
}

// TestResume checks that an interrupted response is resumed after its last
// event and that the call is not sent again.
func TestResume(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var resumed time.Time
	var calls atomic.Int32
	var cut time.Time
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "tools/call"):
			calls.Add(1)
			mu.Lock()
			cut = time.Now()
			mu.Unlock()
			events(w, "id: a\nretry: 500\ndata:\n\n")
		case r.Method == "GET" && r.Header.Get("Last-Event-ID") == "a":
			mu.Lock()
			resumed = time.Now()
			mu.Unlock()
			events(w, "id: b\n"+data(result(2)))
		default:
			return false
		}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	c.want(result(2))
	mu.Lock()
	defer mu.Unlock()
	if d := resumed.Sub(cut); d < 500*time.Millisecond || d > 2*time.Second {
		t.Errorf("resumed after %s, the server demands 500 ms", d)
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestListenBreaks checks that a listen request fails when its stream breaks,
// so that the host listens again.
func TestListenBreaks(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if strings.Contains(body, "subscriptions/listen") {
			n.Add(1)
			events(w, data(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`))
			return true
		}
		return false
	})
	c := connect(t, s.url)
	c.send(modern(2, "subscriptions/listen", ""))
	c.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`)
	c.fails("2", "stream_ended")
	if n.Load() != 1 {
		t.Errorf("%d requests", n.Load())
	}
}

// TestGap checks that the host is told of a gap if the GET stream of a server
// without event ids breaks.
func TestGap(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != "GET" {
			return false
		}
		events(w, data(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"i":%d}}`, n.Add(1))))
		if n.Load() > 1 {
			<-r.Context().Done()
		}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.want(`{"jsonrpc":"2.0","method":"n","params":{"i":1}}`)
	var d *sdk.Dropped
	if g := c.next(); !errors.As(g.err, &d) || d.Reason != "gap" {
		t.Errorf("got %q, %v", g.msg, g.err)
	}
	c.want(`{"jsonrpc":"2.0","method":"n","params":{"i":2}}`)
}
