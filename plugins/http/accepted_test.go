package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// An acceptor is a server that answers calls with status 202, and on the GET stream.
type acceptor struct {
	stream   chan string // messages for the GET stream; "end" ends the stream
	opened   atomic.Int32
	late     bool   // the response to GET begins with the first message
	once     bool   // the second GET is refused
	none     bool   // every GET is refused
	broken   bool   // the response to a call is an empty stream with status 200
	status   int    // of a refused GET
	accepted string // body of the status 202
}

func (a *acceptor) serve(w http.ResponseWriter, r *http.Request, body string) bool {
	switch {
	case r.Method == "GET" && (a.none || a.once && a.opened.Load() > 0):
		w.WriteHeader(a.status)
	case r.Method == "GET":
		a.opened.Add(1)
		if !a.late {
			events(w, ": open\n\n")
		}
		for {
			select {
			case msg := <-a.stream:
				if msg == "end" {
					return true
				}
				events(w, data(msg))
			case <-r.Context().Done():
				return true
			}
		}
	case strings.Contains(body, "tools/call") && a.broken:
		events(w, ": nothing\n\n")
	case strings.Contains(body, "tools/call"):
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, a.accepted)
	default:
		return false
	}
	return true
}

// connect returns a client whose GET stream was requested.
func (a *acceptor) connect(t *testing.T) *client {
	t.Helper()
	a.stream = make(chan string, 10)
	c := connect(t, answering(t, a.serve).url)
	c.shake()
	c.send(request(2, "prompts/list")) // waits for the GET stream
	c.want(result(2))
	return c
}

// TestAcceptedRequestWaitsForGetStream checks that a request with status 202 waits for its
// answer longer than one whose response was cut off.
//
// deviation: the answer to a request is status 202, and the response comes on the GET stream | Junctor waits for it until the timeout of the call, as long as the stream is open | python-sdk#1661
func TestAcceptedRequestWaitsForGetStream(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		a   *acceptor
		cut bool // the stream ends before the answer comes
	}{
		"no body":                         {a: &acceptor{}},
		"a word as the body":              {a: &acceptor{accepted: "Accepted"}},
		"an empty object as the body":     {a: &acceptor{accepted: "{}"}},
		"GET is answered with the answer": {a: &acceptor{late: true}},
		"the stream is reopened before":   {a: &acceptor{}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := r.a.connect(t)
			c.send(request(10, "tools/call"))
			time.Sleep(elsewhereTime / 2) // the stream ends while the call waits for the usual time
			if r.cut {
				r.a.stream <- "end"
			}
			time.Sleep(elsewhereTime) // the answer comes later than the usual time
			r.a.stream <- result(10)
			for g := c.next(); g.msg != result(10); g = c.next() {
				if failedOf(g.err) != nil { // a gap in the stream, or {}, is no answer
					t.Fatal(g.err)
				}
			}
		})
	}
}

// TestAcceptedRequestWithoutStreamFails checks that a request fails soon if no GET stream
// can bring its answer, or if its response is not status 202.
func TestAcceptedRequestWithoutStreamFails(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		a      *acceptor
		cut    bool
		reason string
	}{
		"GET is not allowed":              {a: &acceptor{none: true, status: 405}, reason: "bad_message"},
		"GET is not found":                {a: &acceptor{none: true, status: 404}, reason: "bad_message"},
		"GET is refused as a bad request": {a: &acceptor{none: true, status: 400}, reason: "bad_message"},
		"GET has another content":         {a: &acceptor{none: true, status: 200}, reason: "bad_message"},
		"a word, and no stream": {a: &acceptor{none: true, status: 405, accepted: "Accepted"},
			reason: "bad_message"},
		"the stream ends for good": {a: &acceptor{once: true, status: 405}, cut: true, reason: "bad_message"},
		"status 200":               {a: &acceptor{broken: true}, reason: "stream_ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := r.a.connect(t)
			begun := time.Now()
			c.send(request(10, "tools/call"))
			if r.cut {
				time.Sleep(elsewhereTime / 2) // the stream ends while the call waits
				r.a.stream <- "end"
			}
			if f := c.fails("10", r.reason); !f.Delivered {
				t.Errorf("%+v", f)
			}
			if d := time.Since(begun); d > reopenTime/2 {
				t.Errorf("failed after %s", d)
			}
		})
	}
}

// TestAcceptedRequestIsCancelled checks that the wait ends when the host cancels the
// request, and that the server is told.
func TestAcceptedRequestIsCancelled(t *testing.T) {
	t.Parallel()
	a := acceptor{stream: make(chan string, 10)}
	s := answering(t, a.serve)
	c := connect(t, s.url)
	c.shake()
	c.send(request(10, "tools/call"))
	s.await("call", func(r seen) bool { return strings.Contains(r.body, "tools/call") })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":10}}`)
	s.await("cancellation", func(r seen) bool { return strings.Contains(r.body, "notifications/cancelled") })
	h := c.conn.(*conn)
	open := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.calls)
	}
	eventually.True(t, "the call has ended", func() bool { return open() == 0 })
}

// TestManyAcceptedRequests checks that requests that wait for the GET stream take no
// socket from others.
func TestManyAcceptedRequests(t *testing.T) {
	t.Parallel()
	var a acceptor
	c := a.connect(t)
	const most = 200
	for id := range most {
		c.send(request(10+id, "tools/call"))
	}
	c.send(request(5, "ping"))
	c.want(result(5))
	for id := range most {
		a.stream <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, 10+id)
		c.want(result(10 + id))
	}
}
