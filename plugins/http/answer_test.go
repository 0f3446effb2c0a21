package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestShapes checks valid and invalid forms of a response.
func TestShapes(t *testing.T) {
	t.Parallel()
	const answer = `{"jsonrpc":"2.0","id":7,"result":{}}`
	type reply struct {
		name, kind, body string
		want             []string
		reason           string
	}
	for _, r := range []reply{
		{"json", "application/json; charset=utf-8", answer, []string{answer}, ""},
		{"line breaks", "application/json", "{\"jsonrpc\":\"2.0\",\r\n\"id\":7,\n\"result\":{}}\n",
			[]string{`{"jsonrpc":"2.0",  "id":7, "result":{}}`}, ""},
		{"hidden request", "application/json",
			answer + "\n" + `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`, nil, "bad_message"},
		{"hidden in a stream", "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}\ndata: }\n\n",
			[]string{`{"jsonrpc":"2.0","id":7,"result":{} }`}, ""},
		{"two in an event",
			"text/event-stream", "data: " + answer + "\ndata: " + answer + "\n\n" + data(answer), []string{answer}, ""},
		{"batch", "application/json", `[{"jsonrpc":"2.0","method":"notifications/x"},` + answer + `]`,
			[]string{`{"jsonrpc":"2.0","method":"notifications/x"}`, answer}, ""},
		{"stream", "text/event-stream", ": hello\n\nid: 1\ndata:\n\nevent: message\n" + data(answer),
			[]string{answer}, ""},
		{"carriage returns", "text/event-stream", strings.ReplaceAll(data(answer), "\n", "\r"), []string{answer}, ""},
		{"other events", "text/event-stream",
			"event: ping\n" + data(`{"jsonrpc":"2.0","id":7,"result":{"ping":1}}`) + data(answer), []string{answer},
			""},
		{"other id", "application/json", `{"jsonrpc":"2.0","id":8,"result":{}}`,
			[]string{`{"jsonrpc":"2.0","id":8,"result":{}}`}, "bad_message"},
		{"id last", "application/json", `{"result":{"id":8},"jsonrpc":"2.0","id":7}`,
			[]string{`{"result":{"id":8},"jsonrpc":"2.0","id":7}`}, ""},
		{"page", "text/html", "<html>", nil, "bad_message"},
		{"nothing", "", "", nil, "bad_message"},
		{"not json", "application/json", "oops", nil, "bad_message"},
		{"half", "text/event-stream", "data: {\"jsonrpc\"", nil, "stream_ended"},
		{"empty stream", "text/event-stream", "", nil, "stream_ended"},
	} {
		s := answering(t, func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Content-Type", r.kind)
			_, _ = io.WriteString(w, r.body)
			return true
		})
		c := connect(t, s.url)
		c.send(request(7, "tools/call"))
		t.Run(r.name, func(t *testing.T) {
			c.t = t
			c.want(r.want...)
			if r.reason != "" {
				if f := c.fails("7", r.reason); !f.Delivered {
					t.Error("a call that the server may have processed is reported as not delivered")
				}
			}
		})
	}
}

// TestLive checks that events before the response are delivered at once, and
// that the response is delivered before the end of its stream. TRN-13
func TestLive(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		events(w, data(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":1}}`))
		<-goOn
		events(w, data(result(2)))
		<-r.Context().Done()
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	c.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":1}}`)
	close(goOn)
	c.want(result(2))
}

// TestSockets checks that calls share connections: 64 concurrent calls use at
// most 64.
func TestSockets(t *testing.T) {
	t.Parallel()
	const calls = 64
	var mu sync.Mutex
	sockets := map[string]bool{}
	var arrived sync.WaitGroup
	arrived.Add(calls)
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		mu.Lock()
		sockets[r.RemoteAddr] = true
		mu.Unlock()
		if !strings.Contains(body, "again") {
			arrived.Done()
			arrived.Wait()
		}
		return false
	})
	c := connect(t, s.url)
	c.shake()
	for i := range calls {
		c.send(request(100+i, "tools/call"))
	}
	for range calls {
		c.next()
	}
	for i := range 200 {
		c.send(modern(i+1000, "tools/call", `"name":"again"`))
	}
	for range 200 {
		if g := c.next(); g.err != nil {
			t.Fatal(g.err)
		}
	}
	if len(sockets) > calls {
		t.Errorf("%d sockets", len(sockets))
	}
}

// grown returns the maximum growth of the heap while f runs.
func grown(f func()) uint64 {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	if most := <-peak; most > before.HeapInuse {
		return most - before.HeapInuse
	}
	return 0
}

// TestBounds checks that a response that is too large, also after
// decompression, uses little more memory than the limit of a message. U15, U16
func TestBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds with the race detector")
	}
	chunk := strings.Repeat("x", 1<<20)
	long := func(w io.Writer) {
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"x":"`)
		for range 400 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]func(http.ResponseWriter){
		"body": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			long(w)
		},
		"bomb": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			long(z)
		},
		"refusal": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			long(w)
		},
		"event": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
			long(w)
			_, _ = io.WriteString(w, "\n\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if strings.Contains(body, "tools/call") {
					answer(w)
					return true
				}
				return false
			})
			c := connect(t, s.url)
			c.shake()
			if n := grown(func() {
				c.send(request(2, "tools/call"))
				for {
					g := c.next()
					var d *sdk.Dropped
					var f *sdk.Failed
					if errors.As(g.err, &d) && d.Reason == "message_too_large" {
						continue
					}
					if !errors.As(g.err, &f) {
						t.Errorf("got %.80q, %v", g.msg, g.err)
					}
					return
				}
			}); n > 64<<20 {
				t.Errorf("grew by %d MiB", n>>20)
			}
			c.send(request(3, "tools/list"))
			c.want(result(3))
		})
	}
}

// TestDrip checks that a response that arrives one byte at a time ends when the
// host cancels the call. U16, R4
func TestDrip(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := io.WriteString(w, "d"); err != nil || r.Context().Err() != nil {
				close(ended)
				return true
			}
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond) // a slow server
		}
	})
	c := connect(t, s.url)
	c.send(modern(2, "tools/call", `"name":"t"`))
	s.await("call", func(r seen) bool { return r.verb == "POST" })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the server still writes")
	}
}

// TestRedirect checks that credentials do not follow a redirect. U4
func TestRedirect(t *testing.T) {
	t.Parallel()
	canary := answering(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
			http.Redirect(w, r, canary.url+"/x?token=secret", status)
			return true
		})
		c := connect(t, s.url, `"headers":{"Authorization":"Bearer secret"}`)
		c.send(initialize)
		f := c.fails("1", "redirect_refused")
		if !strings.Contains(f.Err.Message, canary.url) || strings.Contains(f.Err.Message, "secret") {
			t.Errorf("%d: %v", status, f.Err)
		}
	}
	if n := len(canary.requests()); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// TestRedirectWithinOrigin checks that a redirect which keeps the method, the body and the
// origin is followed, and no other.
//
// deviation: redirects with status 307 or 308 to another path of the same origin | Junctor follows up to three | LibreChat#12849
func TestRedirectWithinOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		status   int
		to       string
		hops     int
		followed bool
	}{
		{"308", 308, "/docs/D1?x=1", 1, true},
		{"307 thrice", 307, "/next", 3, true},
		{"307 four times", 307, "/next", 4, false},
		{"302 would lose the body", 302, "/docs", 1, false},
		{"another host", 308, "http://localhost.example/docs", 1, false},
		{"another scheme", 308, "https://$HOST/docs", 1, false},
		{"with a login", 308, "http://a:b@$HOST/docs", 1, false},
		{"nowhere", 308, "", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hops := 0
			s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
				if !strings.Contains(body, `"initialize"`) {
					return false
				}
				if hops++; hops > c.hops {
					if r.Header.Get("Authorization") != "Bearer secret" {
						t.Errorf("%s has no credential", r.URL)
					}
					return false
				}
				if c.to != "" {
					w.Header().Set("Location", strings.ReplaceAll(c.to, "$HOST", r.Host))
				}
				w.WriteHeader(c.status)
				return true
			})
			conn := connect(t, s.url, `"headers":{"Authorization":"Bearer secret"}`)
			conn.send(initialize)
			if !c.followed {
				conn.fails("1", "redirect_refused")
				return
			}
			if g := conn.next(); g.err != nil {
				t.Error(g.err)
			}
		})
	}
}

// TestUnauthorized checks the error for a 401 response, which must contain no
// secret.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	c := connect(t, s.url)
	c.send(initialize)
	g := c.next()
	var f *sdk.Failed
	if !errors.As(g.err, &f) || f.Err.Code != sdk.AuthRequired || f.Delivered {
		t.Errorf("got %#v", g.err)
	}
}

// TestErrorsOfTheServer checks that a JSON-RPC error in a response with an HTTP
// error status is the response, whatever its id.
func TestErrorsOfTheServer(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`"id":2,`, `"id":null,`, ``} {
		s := answering(t, func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w,
				`{"jsonrpc":"2.0",%s"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`, id)
			return true
		})
		c := connect(t, s.url)
		c.send(modern(2, "server/discover", ""))
		c.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`)
	}
}

// TestServerUnreachable checks that a server that does not listen fails the
// call at once, without retries.
func TestServerUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	begun := time.Now()
	c := connect(t, "http://"+l.Addr().String())
	c.send(initialize)
	if f := c.fails("1", "unreachable"); f.Delivered || !strings.Contains(f.Err.Message, "nothing listens") {
		t.Errorf("got %+v", f)
	}
	if time.Since(begun) > 2*retryFirst { // two retries take three times retryFirst
		t.Error("the call was retried")
	}
}
