package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestListsWaitOnce checks that a server that does not respond to a listen
// request delays only the first list request.
func TestListsWaitOnce(t *testing.T) {
	t.Parallel()
	s := answering(t, func(_ http.ResponseWriter, r *http.Request, body string) bool {
		if strings.Contains(body, "subscriptions/listen") {
			<-r.Context().Done()
			return true
		}
		return false
	})
	c := connect(t, s.url)
	begun := time.Now()
	c.send(modern(2, "subscriptions/listen", ""))
	for id := 3; id < 13; id++ {
		c.send(modern(id, "tools/list", ""))
		c.want(result(id))
	}
	if d := time.Since(begun); d > 8*streamTime {
		t.Errorf("ten pages took %s", d)
	}
}

// TestStreamsThatNeverEnd checks that a call ends if its response is too long
// or arrives on the stream of another request, although its own stream stays
// open.
func TestStreamsThatNeverEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan string, 3)
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, `"long"`):
			events(w, "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"x\":\""+strings.Repeat("x", 17<<20)+"\"}}\n\n")
		case strings.Contains(body, `"other"`):
			events(w, ": wait\n")
		case strings.Contains(body, `"both"`):
			events(w, data(result(3)), data(result(12)), data(result(1)), ": and on\n")
		default:
			return false
		}
		<-r.Context().Done()
		ended <- idOf(body)
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "long"))
	c.next() // Dropped
	c.fails("2", "message_too_large")
	if id := <-ended; id != "2" {
		t.Errorf("%s ended", id)
	}
	c.send(request(3, "other"))
	s.await("other", func(r seen) bool { return strings.Contains(r.body, `"other"`) })
	c.send(request(1, "both"))
	c.want(result(3), result(12), result(1))
	if a, b := <-ended, <-ended; a+b != "31" && a+b != "13" {
		t.Errorf("%s and %s ended", a, b)
	}
}

// TestReconnectsAreLimited checks that a server that ends its streams in any
// way does not cause many requests per second.
func TestReconnectsAreLimited(t *testing.T) {
	for name, c := range map[string]struct {
		event string
		most  int32 // maximum number of requests in two seconds
	}{
		"retry 0":         {"retry: 0\nid: a\ndata:\n\n", 8},
		"only an id":      {"id: a\ndata:\n\n", 8},
		"nothing":         {"", 8},
		"retry 1":         {"retry: 1\nid: a\ndata:\n\n", 30},
		"a comment":       {": x\n\n", 8},
		"an id each time": {"id: %d\ndata:\n\n", 8},
	} {
		for _, of := range []string{"GET", "POST"} {
			t.Run(of+" "+name, func(t *testing.T) {
				t.Parallel()
				var n atomic.Int32
				s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
					text := c.event
					if strings.Contains(text, "%d") {
						text = fmt.Sprintf(text, n.Load())
					}
					switch {
					case r.Method == "GET":
						n.Add(1)
					case !strings.Contains(body, "tools/call"):
						return false
					}
					events(w, text)
					return true
				})
				cl := connect(t, s.url)
				if of == "GET" {
					cl.shake()
				} else {
					cl.send(initialize)
					cl.next()
					cl.conn.(*conn).initialized(false) // prevents the GET stream
					cl.send(request(2, "tools/call"))
				}
				time.Sleep(2 * time.Second) // a client that reopens streams at once sends far more
				if got := n.Load(); got > c.most {
					t.Errorf("%d requests", got)
				}
			})
		}
	}
}

// TestEndlessServerRequests checks that a server that sends requests without
// end and accepts no responses uses few connections, and that Close does not
// wait for it.
func TestEndlessServerRequests(t *testing.T) {
	t.Parallel()
	var waiting, most atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, `"roots"`) {
			return false
		}
		most.Store(max(most.Load(), waiting.Add(1)))
		<-r.Context().Done()
		waiting.Add(-1)
		return true
	})
	c := connect(t, s.url)
	c.shake()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range 1000 {
			if c.conn.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"q%d","result":{"roots":[]}}`, i)) != nil {
				return
			}
		}
	}()
	eventually.True(t, "a response has arrived", func() bool { return most.Load() > 0 })
	time.Sleep(500 * time.Millisecond) // the other responses can use more connections
	c.close()
	<-sent
	if n := most.Load(); n > maxAnswers || n == 0 {
		t.Errorf("%d concurrent responses", n)
	}
}

// TestLargeBatch checks that a batch with very many elements uses little more
// memory than its size.
func TestLargeBatch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds with the race detector")
	}
	many := "[" + strings.Repeat("1,", 7<<20) + result(2) + "]"
	s := answering(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		asJSON(w, many)
		return true
	})
	c := connect(t, s.url)
	c.shake()
	if n := grown(func() {
		c.send(request(2, "tools/call"))
		c.want(result(2))
	}); n > 96<<20 { // a slice per element would use 160 MiB more
		t.Errorf("grew by %d MiB", n>>20)
	}
}

// TestResumeRepeats checks that a server that resumes with the last event, not
// after it, causes no duplicate.
func TestResumeRepeats(t *testing.T) {
	t.Parallel()
	note := func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"i":%d}}`, i) }
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "tools/call"):
			events(w, "id: a\n"+data(note(1)), "id: b\n"+data(note(2)))
		case r.Method == "GET" && r.Header.Get("Last-Event-ID") == "b":
			events(w, "id: b\n"+data(note(2)), "id: c\n"+data(note(3)), "id: d\n"+data(result(2)))
		default:
			return false
		}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	c.want(note(1), note(2), note(3), result(2))
}

// TestEncoding checks the error for a Content-Encoding that was not requested.
func TestEncoding(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		w.Header().Set("Content-Encoding", "br")
		asJSON(w, "\x0b\x02\x80")
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	if f := c.fails("2", "bad_message"); !strings.Contains(f.Err.Message, `"br"`) {
		t.Errorf("got %v", f.Err)
	}
}
