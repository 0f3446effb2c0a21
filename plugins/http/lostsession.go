package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
	"github.com/junctor-mcp/junctor/sdk"
)

// The specification demands status 404 for an unknown session. Servers also say so
// with other statuses, as text, as an SSE stream, or as a JSON-RPC error with status
// 200. The meaning of a rejection decides, and a ping decides if it is unclear.

const (
	pingTime     = 5 * time.Second
	maxRejection = 4 << 10 // bytes of a JSON-RPC error that may be about the session
	maxWords     = 200     // bytes of the server's words in an error
)

// A rejection is an error response of the server to one request. The functions of this file decide
// whether it means that the session is lost; conn.loseSession then ends the connection.
type rejection struct {
	status    int
	own       bool   // it is a JSON-RPC error with the id of the request
	foreign   bool   // it has the place of an answer with status 200, and is no message
	words     string // the server's message
	challenge bool   // the server demands other credentials
}

// A verdict is what a rejection means for the session.
type verdict int

const (
	other     verdict = iota // the rejection is about something else
	unclear                  // a ping in the same session shows the meaning
	forgotten                // the server does not know the session and has not processed the request
)

// verdict judges a rejection. used is true if the session has worked before.
func (r *rejection) verdict(used bool) verdict {
	about := aboutSession(r.words)
	switch {
	case r.challenge, r.status >= 300 && r.status < 400:
		return other
	case r.status == http.StatusNotFound || r.status == http.StatusGone:
		if r.own && used && !about {
			return unclear // some servers answer an unknown method like this
		}
		return forgotten
	case about && r.status < 500 && r.status != http.StatusTooManyRequests:
		if r.own || r.foreign {
			return unclear // a tool may have failed because of a session of its own
		}
		return forgotten // the server could not relate the error to a request
	case used && (mayMeanSession(r.status) || r.status == http.StatusOK && !r.own):
		return unclear
	}
	return other
}

// mayMeanSession reports whether a status without words about the session may mean it.
// The other client errors have a meaning of their own. An auth provider gets each status 401
// without words about the session first, and returns an error of its own.
func mayMeanSession(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusConflict, http.StatusPreconditionFailed,
		http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// sessionWords match messages that servers send for a session that they do not know, or
// for a request that they expect after initialize only.
var sessionWords = regexp.MustCompile(`session.{0,80}\b(not? (been )?(found|valid|known|exist|active|initiali[sz]ed|recogni[sz]ed|available)|does ?n.t exist|does not exist|unknown|invalid|expired|missing|terminated|closed|ended|gone|lost|stale|inactive|mismatch|required|timed out|no longer)` +
	`|\b(no|not|unknown|invalid|expired|missing|stale|terminated|bad|unrecogni[sz]ed|without an?)\b.{0,40}\bsession` +
	`|\b(could|can) ?not find .{0,40}session` +
	`|\b(not|never)\b.{0,20}\binitiali[sz]ed\b|\buninitiali[sz]ed\b` +
	`|\bexpect(s|ed|ing)?\b.{0,20}\binitiali[sz]e\b|\binitiali[sz]e\b.{0,20}\bfirst\b|\bbefore\b.{0,20}\binitiali[sz](e|ed|ation|ing)\b`)

// aboutSession reports whether the words of a rejection say that the server does not
// know the session.
func aboutSession(words string) bool {
	words = strings.ToLower(words)
	if !strings.Contains(words, "session") && !strings.Contains(words, "initiali") {
		return false
	}
	words = strings.NewReplacer("_", " ", "-", " ", "\n", " ", "sessionid", "session id").Replace(words)
	return sessionWords.MatchString(words)
}

// rejectionOf reads an error response. id is that of the request.
func rejectionOf(status int, h http.Header, body, id []byte) *rejection {
	body = document(h, body)
	r := &rejection{status: status, challenge: h.Get("WWW-Authenticate") != "" &&
		(status == http.StatusUnauthorized || status == http.StatusForbidden)}
	var e struct {
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	switch rpcError := jsonrpc.Member(body, "error"); {
	case len(rpcError) > 0 && rpcError[0] == '{' && json.Unmarshal(rpcError, &e) == nil:
		r.own = len(id) > 0 && jsonrpc.Answers(body, id)
		r.words = e.Message
		if text := string(e.Data); strings.HasPrefix(text, `"`) {
			r.words += " " + strings.Trim(text, `"`)
		}
	case bytes.HasPrefix(body, []byte("<")): // a page for browsers
	default:
		r.words = string(body)
	}
	r.words = strings.TrimSpace(r.words[:min(len(r.words), maxRejection)])
	return r
}

// document returns the JSON document of an error response, or its text. Some servers
// send the document as the first event of a stream.
func document(h http.Header, body []byte) []byte {
	body = bytes.TrimSpace(body)
	if httpclient.ContentType(h) != "text/event-stream" || len(body) > 0 && body[0] == '{' {
		return body
	}
	r := sse.NewReader(strings.NewReader(string(body)+"\n\n"), len(body)+1)
	for {
		ev, err := r.Next()
		if err != nil {
			return body
		}
		if len(ev.Data) > 0 {
			return bytes.Clone(ev.Data)
		}
	}
}

// lostSession returns the failure for a rejection that means that the server no longer
// knows the session, or nil for any other.
//
// A request counts as not delivered if the server refused it because of the session, and
// so has not executed it. If the server did not name the session but answered with the
// request's id, it may have executed it.
func (k *call) lostSession(r *rejection) *failure {
	c := k.conn
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if k.Version() != "" || k.Method == jsonrpc.Initialize || s.version == "" {
		return nil
	}
	used := c.used.Load()
	if s.id == "" && !(used && aboutSession(r.words)) {
		return nil // without an id, only words can mean the session
	}
	switch r.verdict(used) {
	case other:
		return nil
	case unclear:
		if !c.refusesPing(k.ctx, r) {
			return nil
		}
	}
	f := lost(r, s.id)
	f.sent = r.own && r.status != http.StatusUnauthorized && !aboutSession(r.words) && !jsonrpc.Safe(k.Method)
	return f
}

// saysLost reports whether a message, which answers the request, says that the server does
// not know the session. It keeps the failure.
func (k *call) saysLost(msg []byte) bool {
	if len(msg) > maxRejection || !bytes.Contains(msg, []byte(`"error"`)) || jsonrpc.Member(msg, "error") == nil {
		return false
	}
	k.lost = k.lostSession(rejectionOf(http.StatusOK, http.Header{}, msg, k.ID))
	return k.lost != nil
}

// foreignSaysLost reports whether data in the place of the answer, which is no message, says
// that the server does not know the session. It keeps the failure.
func (k *call) foreignSaysLost(data []byte) bool {
	if len(data) > maxRejection || !aboutSession(string(data)) {
		return false
	}
	r := rejectionOf(http.StatusOK, http.Header{}, data, k.ID)
	r.foreign = true
	k.lost = k.lostSession(r)
	return k.lost != nil
}

// isForeign reports whether short data is no message, such as {"error": "Session not found"}.
func isForeign(data []byte) bool {
	if len(data) > maxRejection {
		return false
	}
	switch kind, _ := jsonrpc.Glance(data); kind {
	case jsonrpc.Request, jsonrpc.Notification:
		return false
	}
	return jsonrpc.Member(data, "jsonrpc") == nil && jsonrpc.Member(data, "id") == nil
}

// pingID is the id of the ping that examines a session. The host's ids are numbers.
const pingID = `"junctor-session"`

// refusesPing reports whether the server rejects a ping in the session in the same way as
// a request. The rejection is then about the session and not about the request.
func (c *conn) refusesPing(ctx context.Context, like *rejection) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	e := jsonrpc.Open([]byte(`{"jsonrpc":"2.0","id":` + pingID + `,"method":"ping"}`))
	res, _, err := c.client.Do(ctx, c.httpRequest(&e))
	if err != nil {
		return false
	}
	if res.StatusCode != like.status {
		_ = res.Body.Close()
		return false
	}
	var body []byte
	if res.StatusCode < 300 {
		var f *failure
		fits := func(msg []byte) bool { return isAnswer(msg, e.ID) || like.foreign && isForeign(msg) }
		if body, f = c.answerTo(res, fits); f != nil {
			return false
		}
		if like.foreign {
			return isForeign(bytes.TrimSpace(body)) && aboutSession(string(body))
		}
		return jsonrpc.Member(body, "error") != nil &&
			rejectionOf(res.StatusCode, http.Header{}, body, e.ID).words == like.words
	}
	_, body = httpclient.ErrorResponse(res)
	return rejectionOf(res.StatusCode, res.Header, body, e.ID).words == like.words
}

// refusesSession reports whether a response with status 401 is about the session and not
// about the credential. It keeps the body readable.
func (c *conn) refusesSession(res *http.Response) bool {
	c.mu.Lock()
	id := c.session.id
	c.mu.Unlock()
	if id == "" || res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") != "" {
		return false
	}
	body := peekBody(res, maxRejection)
	return aboutSession(rejectionOf(res.StatusCode, res.Header, body, nil).words)
}

// lost returns the failure of a request with an unknown session. A new connection starts
// a new session. The error shows the words of the server without the id of the session.
func lost(because *rejection, id string) *failure {
	e := &sdk.Error{
		Code: sdk.Unavailable, Reason: "session_lost", Message: "the server no longer knows the session",
		Hint: "call again, which begins a new session",
	}
	words, _, _ := strings.Cut(because.words, "\n")
	if id != "" {
		words = strings.ReplaceAll(words, id, "…")
	}
	if words != "" {
		e.Message += fmt.Sprintf(": its answer was %.*q (status %d)", maxWords, words, because.status)
	}
	return &failure{ends: true, status: http.StatusNotFound, err: e}
}
