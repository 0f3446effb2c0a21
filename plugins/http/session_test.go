package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// TestSession checks the headers of requests to an older server, from the
// handshake to the end. TRN-14, TRN-17, TRN-18
func TestSession(t *testing.T) {
	t.Parallel()
	s := answering(t, nil)
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/list"))
	c.want(result(2))
	get := s.await("GET", func(r seen) bool { return r.verb == "GET" })
	c.close()
	all := s.requests()
	if h := all[0].Header; h.Get("Mcp-Session-Id") != "" || h.Get("Mcp-Protocol-Version") != "" ||
		h.Get("Accept") != "application/json, text/event-stream" {
		t.Errorf("initialize has the headers %v", h)
	}
	for _, r := range append(all[1:], get) {
		if r.Get("Mcp-Session-Id") != "s-1" || r.Get("Mcp-Protocol-Version") != "2025-06-18" ||
			r.Get("Mcp-Method") != "" {
			t.Errorf("%s %s has the headers %v", r.verb, r.body, r.Header)
		}
	}
	if !strings.Contains(all[1].body, "initialized") {
		t.Errorf("%s was sent before the handshake was complete", all[1].body)
	}
	if last := all[len(all)-1]; last.verb != "DELETE" {
		t.Errorf("the last request is %s", last.verb)
	}
}

// TestSessionIDs checks that session ids with invalid characters or length are
// rejected. TRN-15, U31
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		"!~": true, strings.Repeat("x", 256): true, strings.Repeat("x", 257): false, "a b": false,
		"a\tb": false, "é": false,
	} {
		s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
			if r.Method != "POST" {
				return false
			}
			w.Header().Set("Mcp-Session-Id", id)
			asJSON(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`)
			return true
		})
		c := connect(t, s.url)
		c.send(initialize)
		if !ok {
			c.fails("1", "bad_message")
			continue
		}
		if g := c.next(); g.err != nil {
			t.Errorf("%q: %v", id, g.err)
		}
	}
}

// TestForgotten checks that a request with an unknown session fails as not
// delivered and ends the connection. TRN-16
func TestForgotten(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"as specified": func(w http.ResponseWriter) { http.Error(w, "unknown session", http.StatusNotFound) },
		"as in the examples of the TypeScript SDK": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w,
				`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
				if !strings.Contains(body, "tools/call") {
					return false
				}
				refuse(w)
				return true
			})
			c := connect(t, s.url)
			c.shake()
			c.send(request(2, "tools/call"))
			if f := c.fails("2", "session_lost"); f.Delivered || !f.Ends {
				t.Errorf("got %+v", f)
			}
			g := c.next()
			var e *sdk.Error
			if !errors.As(g.err, &e) || e.Reason != "session_lost" {
				t.Errorf("the connection ended with %v", g.err)
			}
		})
	}
}

// TestServerRequests checks that a request of the server during a call is
// related to the call, and that the response reaches the server.
func TestServerRequests(t *testing.T) {
	t.Parallel()
	answered := make(chan struct{})
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "tools/call"):
			events(w, data(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`),
				data(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`),
				data(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`))
			<-answered
			events(w, data(result(2)))
		case strings.Contains(body, `"roots"`):
			close(answered)
			w.WriteHeader(http.StatusAccepted)
		default:
			return false
		}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	for _, related := range []string{"2", "2", ""} {
		if g := c.next(); g.related != related {
			t.Errorf("%s belongs to %q, want %q", g.msg, g.related, related)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`)
	c.want(result(2))
	if r := s.await("answer",
		func(r seen) bool { return strings.Contains(r.body, `"roots"`) }); r.Get("Mcp-Session-Id") != "s-1" {
		t.Errorf("the answer has the headers %v", r.Header)
	}
}

// TestCancel checks that an older server gets a notification, and a modern one
// sees the end of the stream.
func TestCancel(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 2)
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		events(w, ": working\n")
		<-r.Context().Done()
		gone <- struct{}{}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	begun := func(r seen) bool { return strings.Contains(r.body, "tools/call") }
	s.await("call", begun)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	<-gone
	note := s.await("cancellation", func(r seen) bool { return strings.Contains(r.body, "notifications/cancelled") })
	if note.Get("Mcp-Session-Id") != "s-1" {
		t.Errorf("the cancellation has the headers %v", note.Header)
	}

	before := len(s.requests())
	m := connect(t, s.url)
	m.send(modern(3, "tools/call", `"name":"t"`))
	s.await("modern call", func(r seen) bool { return r.Get("Mcp-Name") == "t" })
	m.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	<-gone
	for _, r := range s.requests()[before:] {
		if strings.Contains(r.body, "cancelled") {
			t.Errorf("a modern server received %s", r.body)
		}
	}
	m.send(modern(4, "tools/list", ""))
	m.want(result(4))
}

// TestAuto checks for which statuses the older transport is tried. TRN-22
func TestAuto(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 405, 415, 400, 403, 406, 500, 501} {
		s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
			switch {
			case r.Method == "GET":
				events(w, "event: endpoint\ndata: /m\n\n", data(`{"jsonrpc":"2.0","id":1,"result":{"old":true}}`))
				<-r.Context().Done()
			case r.URL.Path == "/m":
				w.WriteHeader(http.StatusAccepted)
			default:
				w.WriteHeader(status)
			}
			return true
		})
		c := connect(t, s.url)
		c.send(initialize)
		if status == 400 || status == 404 || status == 405 || status == 415 {
			c.want(`{"jsonrpc":"2.0","id":1,"result":{"old":true}}`)
			if st := c.conn.(sdk.Statuser).Status().State; st != "sse" {
				t.Errorf("%d: the state is %q", status, st)
			}
			again := connect(t, s.url) // uses the older transport at once
			again.want(`{"jsonrpc":"2.0","id":1,"result":{"old":true}}`)
			strict := connect(t, s.url, `"mode":"streamable"`)
			strict.send(initialize)
			strict.fails("1", "http_status")
			continue
		}
		if f := c.fails("1", "http_status"); !strings.Contains(f.Err.Message, http.StatusText(status)) {
			t.Errorf("%d: %v", status, f.Err)
		}
	}
}

// TestEnd checks that open requests end with the connection.
func TestEnd(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		<-r.Context().Done()
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	s.await("call", func(r seen) bool { return strings.Contains(r.body, "tools/call") })
	c.close()
	if g := c.next(); g.err != io.EOF {
		t.Errorf("got %q, %v", g.msg, g.err)
	}
	if err := c.conn.Send([]byte(initialized)); err == nil {
		t.Error("a closed connection accepts messages")
	}
}

// TestAutoForgets checks that a server that has changed to the newer transport
// is recognized. The newer transport may have a GET stream too, without an
// endpoint event; then the second connection recognizes it.
func TestAutoForgets(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"no stream": false, "a silent stream": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var renewed atomic.Bool
			s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
				switch {
				case renewed.Load() && silent && r.Method == "GET":
					events(w, ": nothing yet\n")
					<-r.Context().Done()
				case renewed.Load():
					return false
				case r.Method == "GET":
					events(w, "event: endpoint\ndata: /m\n\n", data(`{"jsonrpc":"2.0","id":1,"result":{"old":true}}`))
					<-r.Context().Done()
				case r.URL.Path == "/m":
					w.WriteHeader(http.StatusAccepted)
				default:
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
				return true
			})
			c := connect(t, s.url)
			c.send(initialize)
			c.want(`{"jsonrpc":"2.0","id":1,"result":{"old":true}}`)
			renewed.Store(true)
			if silent {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				if _, err := opened(t, ctx, s.url); sdk.CodeOf(err) != sdk.Deadline {
					t.Errorf("a stream without an endpoint event: %v", err)
				}
			}
			again := connect(t, s.url)
			again.shake()
			again.send(request(2, "tools/list"))
			again.want(result(2))
			if silent {
				return
			}
			if _, err := try(t, s.url, `"mode":"sse"`); err == nil {
				t.Error("mode sse connects to a server without the older transport")
			}
		})
	}
}

// opened opens a connection without a handshake.
func opened(t *testing.T, ctx context.Context, url string) (sdk.Conn, error) {
	t.Helper()
	server := &sdk.Server{Name: "s", MaxMessage: ndjson.DefaultLimit, Cache: t.TempDir(), Log: hclog.NewNullLogger()}
	return plugin().Transports["http"].Open(ctx, server, fmt.Appendf(nil, `{"url":%q}`, url))
}
