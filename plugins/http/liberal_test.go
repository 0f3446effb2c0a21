package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestAnswersWithOddTypes checks responses whose Content-Type is not that of a message.
//
// deviation: a JSON answer has no Content-Type, or a general one such as text/plain | Junctor reads it as JSON | dify-plugin-agent-mcp_sse#79, helidon-mcp#97
// deviation: a JSON answer has the type text/event-stream | Junctor reads it as JSON | -
// deviation: an event of a stream has a name such as response | Junctor reads the message in it | -
func TestAnswersWithOddTypes(t *testing.T) {
	t.Parallel()
	answer := result(7)
	for name, r := range map[string]struct{ kind, body, fails string }{
		"no type":               {"", answer, ""},
		"no type, spaces":       {"", " \r\n\t" + answer + "\n", ""},
		"no type, a batch":      {"", "[" + answer + "]", ""},
		"text":                  {"text/plain; charset=utf-8", answer, ""},
		"bytes":                 {"application/octet-stream", answer, ""},
		"a kind of JSON":        {"application/json-rpc+json", answer, ""},
		"stream":                {"text/event-stream", answer, ""},
		"stream, spaces":        {"text/event-stream", "\n " + answer, ""},
		"event: response":       {"text/event-stream", "event: response\n" + data(answer), ""},
		"event: result":         {"text/event-stream", "event: result\n" + data(answer), ""},
		"no type, text":         {"", "hello", "without a Content-Type"},
		"no type, not JSON":     {"", "{hello}", "without a Content-Type"},
		"no type, no message":   {"", `{"hello":1}`, "without a Content-Type"},
		"no type, two":          {"", answer + "\n" + answer, "without a Content-Type"},
		"no type, nothing":      {"", "", "did not answer it"},
		"text, not JSON":        {"text/plain", "hello", `type "text/plain"`},
		"text, not a message":   {"text/plain", "[1]", `type "text/plain"`},
		"a page":                {"text/html", answer, `type "text/html"`},
		"a picture":             {"image/png", answer, `type "image/png"`},
		"stream, not JSON":      {"text/event-stream", "{hello}", "does not answer"},
		"event: ping":           {"text/event-stream", "event: ping\n" + data(answer), `an event "ping"`},
		"event: endpoint":       {"text/event-stream", "event: endpoint\n" + data("/messages"), `an event "endpoint"`},
		"event without message": {"text/event-stream", "event: response\n" + data(`"done"`), `an event "response"`},
		"data, not a message":   {"text/event-stream", data("done"), "data that is not a message"},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.Header()["Content-Type"] = nil
				if r.kind != "" {
					w.Header().Set("Content-Type", r.kind)
				}
				_, _ = io.WriteString(w, r.body)
				return true
			})
			c := connect(t, s.url)
			c.send(request(7, "tools/call"))
			if r.fails == "" {
				if g := c.next(); g.err != nil || strings.TrimSpace(g.msg) != answer {
					t.Errorf("got %q, %v", g.msg, g.err)
				}
				return
			}
			for {
				g := c.next()
				if g.err == nil {
					continue // the host ignores what is not a message
				}
				if f := failedOf(g.err); f == nil || !f.Delivered || f.Err.Reason != "bad_message" ||
					!strings.Contains(f.Err.Message, r.fails) {
					t.Errorf("got %v", g.err)
				}
				return
			}
		})
	}
}

// TestForeignAnswer checks that the error for JSON that is no message has the beginning of
// the body.
//
// deviation: a JSON answer that is no message, such as the envelope of the API behind the server | the error has the beginning of it | gram#3998
func TestForeignAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`"word", `, 100) + "1"
	for name, r := range map[string]struct {
		kind, body string
		want       []string
	}{
		"envelope":     {"application/json", `{"code":0,"data":{"a":1}}`, []string{`{"code":0,"data":{"a":1}}`}},
		"error":        {"application/json", `{"error":"quota exceeded"}`, []string{`{"error":"quota exceeded"}`}},
		"lines":        {"text/plain", "\n{\"error\":\n \"quota\"}\n", []string{`{"error":  "quota"}`}},
		"list":         {"application/json", `[{"code":0}]`, []string{`[{"code":0}]`}},
		"broken":       {"application/json", `[{"code":0`, []string{`[{"code":0`}},
		"long":         {"", "[" + long + "]", []string{"[" + long[:8*63+6] + "…"}},
		"long, a word": {"application/json", `{"a":"` + strings.Repeat("x", 1000) + `"}`, []string{`{"a":…`}},
		"nothing":      {"application/json", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.Header()["Content-Type"] = nil
				if r.kind != "" {
					w.Header().Set("Content-Type", r.kind)
				}
				_, _ = io.WriteString(w, r.body)
				return true
			})
			c := connect(t, s.url)
			c.send(request(7, "tools/call"))
			for {
				g := c.next()
				if g.err == nil {
					continue // the host ignores what is not a message
				}
				if f := failedOf(g.err); f == nil || f.Err.Reason != "bad_message" ||
					!slices.Equal(f.Err.Output, r.want) {
					t.Errorf("got %v, %q", g.err, f.Err.Output)
				}
				return
			}
		})
	}
}

// listening starts a server with a GET stream. It answers calls as answer does, which can
// write to the stream.
func listening(t *testing.T, answer func(w http.ResponseWriter, body string, stream chan<- string)) (*server, *client) {
	t.Helper()
	stream := make(chan string, 10)
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case r.Method == "GET":
			events(w, ": open\n\n")
			for {
				select {
				case msg := <-stream:
					events(w, data(msg))
				case <-r.Context().Done():
					return true
				}
			}
		case strings.Contains(body, "tools/call"):
			answer(w, body, stream)
			return true
		}
		return false
	})
	c := connect(t, s.url)
	c.shake()
	eventually.True(t, "the GET stream is open", func() bool { return c.conn.(*conn).hearing.Load() == hearing })
	return s, c
}

// TestAnswerOnGetStream checks that an answer that comes on the GET stream, after the
// response to the request has ended, is waited for.
//
// deviation: the answer comes on the GET stream after the response has ended empty | Junctor waits a second for it | mcp-js#185
func TestAnswerOnGetStream(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w http.ResponseWriter){
		"empty stream":   func(w http.ResponseWriter) { events(w, ": nothing\n\n") },
		"accepted":       func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"no body at all": func(http.ResponseWriter) {},
	} {
		t.Run(name, func(t *testing.T) {
			var served atomic.Int32
			var later []*time.Timer
			_, c := listening(t, func(w http.ResponseWriter, body string, stream chan<- string) {
				served.Add(1)
				later = append(later, time.AfterFunc(50*time.Millisecond,
					func() { stream <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(body)) }))
				end(w)
			})
			for id := range 5 {
				c.send(request(10+id, "tools/call"))
				c.want(result(10 + id))
			}
			if served.Load() != 5 {
				t.Errorf("%d calls", served.Load())
			}
			for _, timer := range later {
				timer.Stop()
			}
		})
	}
}

// TestNoAnswerOnGetStream checks that the wait for the GET stream ends.
func TestNoAnswerOnGetStream(t *testing.T) {
	t.Parallel()
	_, c := listening(t, func(w http.ResponseWriter, _ string, stream chan<- string) {
		events(w, ": nothing\n\n")
		stream <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	})
	c.send(request(10, "tools/call"))
	c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	begun := time.Now()
	if f := c.fails("10", "stream_ended"); !f.Delivered {
		t.Errorf("%+v", f)
	}
	if d := time.Since(begun); d < elsewhereTime/2 {
		t.Errorf("failed after %s", d)
	}
}

// TestProbedSessionIsDeleted checks that a session that a server starts for
// server/discover is ended.
//
// deviation: a server starts a session for server/discover, which it rejects | Junctor ends the session with DELETE | serena#1776
func TestProbedSessionIsDeleted(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"a session": "probe-1", "none": "", "not valid": "a b"} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if !strings.Contains(body, "server/discover") {
					return false
				}
				w.Header().Set("Mcp-Session-Id", id)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, rpcError, idOf(body), -32600, "Bad Request: server not initialized")
				return true
			})
			c := connect(t, s.url)
			c.send(modern(1, "server/discover", ""))
			if g := c.next(); g.err != nil {
				t.Error(g.err)
			}
			if id == "probe-1" {
				s.await("DELETE", func(r seen) bool { return r.verb == "DELETE" && r.Get("Mcp-Session-Id") == id })
				return
			}
			c.close()
			for _, r := range s.requests() {
				if r.verb == "DELETE" {
					t.Errorf("DELETE with %q", r.Get("Mcp-Session-Id"))
				}
			}
		})
	}
}

// TestSessionRefusedWith401 checks that a 401 about the session, without a challenge, is
// not reported to the auth provider. One with a challenge, or about something else, is.
func TestSessionRefusedWith401(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		form       refusal
		challenged bool
	}{
		"session":       {refusal{401, "text/plain", "Unauthorized: Session not found", false}, false},
		"session, JSON": {refusal{401, "", fmt.Sprintf(rpcError, "null", -32001, "Invalid session"), false}, false},
		"challenge":     {refusal{401, "text/plain", "Unauthorized: Session not found", true}, true},
		"no words":      {refusal{401, "text/plain", "", false}, true},
		"token":         {refusal{401, "", `{"error":"invalid_token"}`, false}, true},
		// A challenge without insufficient_scope is no demand.
		"scope and session": {refusal{403, "text/plain", "no session", true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &account{}
			a.has(1, 1)
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if !strings.Contains(body, "tools/call") && !strings.Contains(body, "ping") {
					return false
				}
				r.form.write(w, body)
				return true
			})
			c := connectAs(t, a, s.url)
			c.shake()
			c.send(request(2, "tools/call"))
			f := failedOf(c.next().err)
			if f == nil || f.Ends != (!r.challenged && !r.form.challenge) {
				t.Errorf("got %+v", f)
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			if got := len(a.challenged) > 0; got != r.challenged {
				t.Errorf("%d challenges", len(a.challenged))
			}
		})
	}
}

// TestInitializeAgain checks that a connection accepts another initialize after the server
// has rejected the first one because of its revision.
func TestInitializeAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400} {
		s := answering(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
			wrong := strings.Contains(body, "2025-11-25")
			if wrong {
				refusal{status, "", fmt.Sprintf(rpcError, "@id", -32602, "Unsupported protocol version"),
					false}.write(w, body)
			}
			return wrong
		})
		c := connect(t, s.url)
		c.send(initialize)
		if g := c.next(); g.err != nil || !strings.Contains(g.msg, "Unsupported") {
			t.Errorf("%d: %q, %v", status, g.msg, g.err)
		}
		c.send(strings.Replace(initialize, "2025-11-25", "2025-06-18", 1))
		if g := c.next(); g.err != nil || !strings.Contains(g.msg, "result") {
			t.Errorf("%d: %q, %v", status, g.msg, g.err)
		}
	}
}

// TestAnswerWithoutEmptyLine checks an answer in a stream that stays open and does not end the
// event.
func TestAnswerWithoutEmptyLine(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"end of the line": "\n", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: "+result(7)+end)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return true
			})
			c := connect(t, s.url)
			c.send(request(7, "tools/call"))
			if g := c.next(); g.err != nil || g.msg != result(7) {
				t.Errorf("got %q, %v", g.msg, g.err)
			}
		})
	}
}
