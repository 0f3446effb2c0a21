package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A refusal is the response of a server to a request in an old session. @id in the body is
// replaced with the id of the request.
type refusal struct {
	status     int
	kind, body string
	challenge  bool
}

func (r refusal) write(w http.ResponseWriter, body string) {
	kind := r.kind
	if kind == "" {
		kind = "application/json"
	}
	if r.challenge {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, strings.ReplaceAll(r.body, "@id", idOf(body)))
}

// forgetful starts a server whose first call works. Then refuse answers each request
// other than initialize, or returns false.
func forgetful(t *testing.T, refuse func(w http.ResponseWriter, body string) bool) *client {
	t.Helper()
	var restarted atomic.Bool
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		return r.Method == "POST" && restarted.Load() && !strings.Contains(body, `"initialize"`) && refuse(w, body)
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/call"))
	c.want(result(2))
	restarted.Store(true)
	return c
}

const rpcError = `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`

// forgottenForms are the answers of real servers that have lost the session.
//
// deviation: an old session gets 400, 401, 403, 409, 410 or 422 instead of 404 | Junctor initializes again and repeats the request | claude-code#55970, fastmcp#3073, CopilotKit#4091, atomic#193, neotoma#1923
// deviation: an old session gets a JSON-RPC error with status 200 and no id | Junctor initializes again and repeats the request | zilla#2525
// deviation: an old session gets 401 without a challenge or a word about the session, from a server without an auth block | Junctor sends a ping, and initializes again if it is rejected, too | rust-sdk#559
// deviation: an old session gets JSON that is no JSON-RPC, such as `{"error":"Session not found"}`, with status 200 | Junctor sends a ping, and initializes again if it is rejected, too | keryx#503
var forgottenForms = map[string]refusal{
	"specification":         {404, "text/plain", "", false},
	"specification, a page": {404, "text/html", "<html>Not Found</html>", false},
	"TypeScript SDK":        {404, "", fmt.Sprintf(rpcError, "null", -32001, "Session not found"), false},
	"TypeScript, one transport": {400, "",
		fmt.Sprintf(rpcError, "null", -32000, "Bad Request: Server not initialized"), false},
	"TypeScript, examples": {400, "",
		fmt.Sprintf(rpcError, "null", -32000, "Bad Request: No valid session ID provided"), false},
	"no initialize": {400, "", fmt.Sprintf(rpcError, "null", -32000,
		"Bad Request: No valid session. Send an initialize request first."), false},
	"Python SDK 1.12": {400, "text/plain", "Bad Request: No valid session ID provided", false},
	"Python SDK": {400, "",
		fmt.Sprintf(rpcError, `"server-error"`, -32600, "Bad Request: No valid session ID provided"), false},
	"Python SDK 1.30":           {404, "", fmt.Sprintf(rpcError, `"server-error"`, -32600, "Session not found"), false},
	"Go SDK":                    {404, "text/plain", "session not found\n", false},
	"Go SDK, another user":      {403, "text/plain", "session user mismatch\n", false},
	"rmcp":                      {404, "text/plain", "Not Found: Session not found", false},
	"rmcp, old":                 {401, "text/plain", "Unauthorized: Session not found", false},
	"rmcp, old, JSON":           {401, "", `"Session not found"`, false},
	"unauthorized":              {401, "", "", false},
	"unauthorized, other words": {401, "", `{"error":"unauthorized"}`, false},
	"unauthorized, own id":      {401, "", fmt.Sprintf(rpcError, "@id", -32001, "Unauthorized"), false},
	"rmcp, no session":          {422, "text/plain", "Unexpected message, expect initialize request", false},
	"Java SDK": {404, "",
		`{"jsonRpcError":{"code":-32603,"message":"Session not found: s-1"},"message":"Session not found: s-1"}`,
		false},
	"in a stream": {400, "text/event-stream", "event: message\ndata: " +
		fmt.Sprintf(rpcError, "null", -32000, "Bad Request: Server not initialized") + "\n\n", false},
	"with the request's id":   {400, "", fmt.Sprintf(rpcError, "@id", -32000, "Invalid or expired session ID"), false},
	"gone":                    {410, "text/plain", "", false},
	"expired":                 {409, "", `{"error":"session_expired"}`, false},
	"unprocessable":           {422, "", `{"detail":"SessionId unknown"}`, false},
	"no words":                {422, "text/plain", "", false},
	"other words":             {400, "text/plain", "セッションがありません", false},
	"status 200":              {200, "", fmt.Sprintf(rpcError, "null", -32001, "Session not found"), false},
	"status 200, other words": {200, "", fmt.Sprintf(rpcError, "null", -32600, "Invalid Request"), false},
	"status 200, own id":      {200, "", fmt.Sprintf(rpcError, "@id", -32001, "Session not found"), false},
	"no JSON-RPC":             {200, "", `{"error":"Session not found"}`, false},
	"no JSON-RPC, plain":      {200, "text/plain", `{"message":"session expired","request":"@id"}`, false},
	"no JSON-RPC, a stream": {200, "text/event-stream",
		"event: message\n" + data(`{"error":"Session not found"}`), false},
	"no JSON, a stream": {200, "text/event-stream", data("Session not found"), false},
	"status 200, a stream": {200, "text/event-stream",
		data(fmt.Sprintf(rpcError, "@id", -32001, "session expired")), false},
}

// TestForgottenForms checks that a call whose session the server has lost fails as not
// delivered and ends the connection, whatever form the answer has.
func TestForgottenForms(t *testing.T) {
	t.Parallel()
	for name, form := range forgottenForms {
		t.Run(name, func(t *testing.T) {
			c := forgetful(t, func(w http.ResponseWriter, body string) bool { form.write(w, body); return true })
			c.send(request(3, "tools/call"))
			if f := c.fails("3", "session_lost"); f.Delivered || !f.Ends || strings.Contains(f.Err.Message, "s-1") {
				t.Errorf("got %+v: %v", f, f.Err)
			}
			var e *sdk.Error
			if g := c.next(); !errors.As(g.err, &e) || e.Reason != "session_lost" {
				t.Errorf("the connection ended with %v", g.err)
			}
		})
	}
}

// TestUnauthorizedWithProvider checks that status 401 without a word about the session is
// about the credential if the server has an auth provider.
func TestUnauthorizedWithProvider(t *testing.T) {
	t.Parallel()
	for body, lost := range map[string]bool{"": false, `{"error":"unauthorized"}`: false, `"Session not found"`: true} {
		a := &account{}
		a.has(1, 1)
		var calls atomic.Int32
		s := answering(t, func(w http.ResponseWriter, _ *http.Request, msg string) bool {
			if refused := strings.Contains(msg, "ping") ||
				strings.Contains(msg, "tools/call") && calls.Add(1) > 1; !refused {
				return false
			}
			refusal{401, "", body, false}.write(w, msg)
			return true
		})
		c := connectAs(t, a, s.url)
		c.shake()
		c.send(request(2, "tools/call"))
		c.want(result(2))
		c.send(request(3, "tools/call"))
		if f := failedOf(c.next().err); f == nil || f.Ends != lost || (f.Err.Reason == "session_lost") != lost {
			t.Errorf("%s: got %+v", body, f)
		}
	}
}

// TestRefusalsOfOtherThings checks that the rejection of a call in a session that the
// server knows does not end the connection. It is the answer, and the next call works.
func TestRefusalsOfOtherThings(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]refusal{
		"arguments":            {400, "", fmt.Sprintf(rpcError, "@id", -32602, "invalid params"), false},
		"arguments, no id":     {400, "", fmt.Sprintf(rpcError, "null", -32602, "invalid params"), false},
		"text":                 {400, "text/plain", "bad request", false},
		"nothing":              {400, "text/plain", "", false},
		"conflict":             {409, "text/plain", "try again", false},
		"unprocessable":        {422, "", `{"detail":"name is required"}`, false},
		"method not found":     {404, "", fmt.Sprintf(rpcError, "@id", -32601, "Method not found"), false},
		"a tool's session":     {200, "", fmt.Sprintf(rpcError, "@id", -32000, "browser session not found"), false},
		"a tool's session 400": {400, "", fmt.Sprintf(rpcError, "@id", -32000, "no login session"), false},
		"a tool's session SSE": {200, "text/event-stream",
			data(fmt.Sprintf(rpcError, "@id", -32000, "session expired")), false},
		"error without id": {200, "", fmt.Sprintf(rpcError, "null", -32603, "database is locked"), false},
		"error, no id, stream": {200, "text/event-stream",
			data(`{"jsonrpc":"2.0","error":{"code":-32603,"message":"database is locked"}}`), false},
		"no credential":     {401, "text/plain", "", false},
		"no credential, id": {401, "", fmt.Sprintf(rpcError, "@id", -32001, "Unauthorized"), false},
		"challenge":         {401, "text/plain", "no valid session", true},
		"challenge, scope":  {403, "", `{"error":"session expired"}`, true},
		"forbidden":         {403, "text/plain", "your session does not permit this tool", false},
		"too large":         {413, "text/plain", "", false},
		"too many":          {429, "text/plain", "session limit: no session left", false},
		"broken":            {500, "text/plain", "session not found", false},
		"unavailable":       {503, "", fmt.Sprintf(rpcError, "null", -32000, "Too many open sessions"), false},
		"redirect":          {307, "text/plain", "session not found", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := forgetful(t, func(w http.ResponseWriter, body string) bool {
				refused := strings.Contains(body, `"id":3`)
				if refused {
					form.write(w, body)
				}
				return refused
			})
			c.send(request(3, "tools/call"))
			g := c.next()
			if f := failedOf(g.err); f != nil && (f.Ends || f.Err.Reason == "session_lost") ||
				f == nil && !strings.Contains(g.msg, `"id":3,"error"`) {
				t.Errorf("got %q, %v", g.msg, g.err)
			}
			c.send(request(4, "tools/call"))
			c.want(result(4))
		})
	}
}

// TestAnswersOfAnAPI checks that JSON which is no JSON-RPC does not end a session that a ping
// finds, and that the error of the call has its beginning.
func TestAnswersOfAnAPI(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]refusal{
		`{"error":"session not found"}`: {200, "", "", false},
		`{"error":"quota exceeded"}`:    {200, "", "", false},
		`{"error": "no session" }`:      {200, "text/event-stream", "", false},
		`{"error": "quota"}`:            {200, "text/event-stream", "", false},
		`no session`:                    {200, "text/event-stream", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			form.body = name
			if form.kind != "" {
				form.body = data(name)
			}
			c := forgetful(t, func(w http.ResponseWriter, body string) bool {
				refused := strings.Contains(body, `"id":3`)
				if refused {
					form.write(w, body)
				}
				return refused
			})
			c.send(request(3, "tools/call"))
			g := c.next()
			for g.err == nil { // the host ignores what is not a message
				g = c.next()
			}
			if f := failedOf(g.err); f == nil || f.Ends || f.Err.Reason != "bad_message" ||
				!slices.Equal(f.Err.Output, []string{name}) {
				t.Errorf("got %q, %v", g.msg, g.err)
			}
			c.send(request(4, "tools/call"))
			c.want(result(4))
		})
	}
}

// TestLostSessionInOpenStream checks that the stream with the answer of a lost session, and that of
// the ping, need not end.
func TestLostSessionInOpenStream(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	begun := time.Now()
	c := forgetful(t, func(w http.ResponseWriter, _ string) bool {
		events(w, data(`{"error":"Session not found"}`))
		<-stop
		return true
	})
	t.Cleanup(func() { close(stop) })
	c.send(request(3, "tools/call"))
	if f := c.fails("3", "session_lost"); f.Delivered || time.Since(begun) > pingTime {
		t.Errorf("%+v after %s", f, time.Since(begun))
	}
}

// TestUnnamedRefusalOfAll checks a server that rejects everything with an error for the
// request, without a word about the session: the session ends, but a tool call may have
// been executed.
func TestUnnamedRefusalOfAll(t *testing.T) {
	t.Parallel()
	for method, delivered := range map[string]bool{"tools/call": true, "tools/list": false} {
		c := forgetful(t, func(w http.ResponseWriter, body string) bool {
			refusal{400, "", fmt.Sprintf(rpcError, "@id", -32603, "database is locked"), false}.write(w, body)
			return true
		})
		c.send(request(3, method))
		if f := c.fails("3", "session_lost"); f.Delivered != delivered || !f.Ends ||
			!strings.Contains(f.Err.Message, "database is locked") {
			t.Errorf("%s: %+v: %v", method, f, f.Err)
		}
	}
}

// TestRefusalsOfNewSession checks that a session that never worked does not count as lost
// unless the server says so.
func TestRefusalsOfNewSession(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Method != "POST" || strings.Contains(body, `"initialize"`) {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
	c := connect(t, s.url)
	c.shake()
	for id := range 3 {
		c.send(request(10+id, "tools/call"))
		if f := c.fails(fmt.Sprint(10+id), "http_status"); f.Ends {
			t.Errorf("%+v", f)
		}
	}
	if n := len(s.requests()); n > 6 {
		t.Errorf("%d requests", n)
	}
}

// FuzzRejection checks that no rejection breaks its reader, and that its words stay short.
func FuzzRejection(f *testing.F) {
	for _, form := range forgottenForms {
		f.Add(form.status, form.kind, form.body)
	}
	f.Fuzz(func(t *testing.T, status int, kind, body string) {
		r := rejectionOf(status, http.Header{"Content-Type": {kind}}, []byte(body), []byte("1"))
		if len(r.words) > maxRejection {
			t.Errorf("%d bytes of words", len(r.words))
		}
		if v := r.verdict(true); v == forgotten && (status >= 500 || status == http.StatusTooManyRequests) {
			t.Errorf("status %d ends a session", status)
		}
	})
}
