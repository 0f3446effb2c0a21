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

// TestCuts: a stream of events that is cut again and again loses and doubles
// nothing. TRN-17, R28
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
				from-- // some servers begin with the last event
			}
		}
		var b strings.Builder
		b.WriteString("retry: 1\n")
		for i := from + 1; i <= min(from+all/cuts+1, all); i++ {
			fmt.Fprintf(&b, "id: %d\n%s", i, data(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"i":%d}}`, i)))
		}
		events(w, b.String())
		if n%3 == 0 {
			events(w, "id: 99999\ndata: {\"half") // an event that was cut does not count
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
		t.Errorf("more came: %s", g.msg)
	case <-time.After(300 * time.Millisecond):
	}
}

// TestResume: a call whose answer was interrupted goes on where it stopped,
// when the server wants it to, and the call is not sent again.
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
		t.Errorf("resumed after %s, the server asked for 500 ms", d)
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestListenBreaks: a request to listen whose stream breaks fails, so that the
// host listens again.
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

// TestGap: where a server's events have no ids, what it said while its stream
// was cut is lost, and the host is told.
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
