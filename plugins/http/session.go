package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/sdk"
)

const sessionIDMost = 256

// Tests on a busy machine have more of both.
var (
	streamTime = 500 * time.Millisecond // that calls wait for the server's stream
	loseTime   = 500 * time.Millisecond // for other calls to hear that the session is lost
)

// A session is what a server of a revision before 2026-07-28 is told with every
// request after the handshake.
type session struct {
	id      string // empty: the server keeps none
	version string // that was agreed on; empty before
	// gate is closed when the server has been told that the handshake is over
	// and its stream is open; nil before it was agreed on anything. What is sent
	// earlier, a server may refuse.
	gate chan struct{}
	told bool
}

// begins takes note of what the headers of an answer say about the session.
func (k *call) begins(res *http.Response) *failure {
	if k.Method != jsonrpc.Initialize {
		return nil
	}
	id := res.Header.Get("Mcp-Session-Id")
	if id != "" && !httpclient.Visible(id, sessionIDMost) {
		return bad("the server's session id is longer than 256 characters, or has one that is not visible ASCII")
	}
	k.conn.mu.Lock()
	defer k.conn.mu.Unlock()
	k.conn.session = session{id: id}
	return nil
}

// noteAnswer takes note of what an answer means for later requests.
func (k *call) noteAnswer(msg []byte) {
	switch {
	case k.Method == jsonrpc.Initialize:
		var version string
		_ = json.Unmarshal(jsonrpc.Member(jsonrpc.Member(msg, "result"), "protocolVersion"), &version)
		if !httpclient.Visible(version, 64) {
			return
		}
		k.conn.mu.Lock()
		k.conn.session.version, k.conn.session.gate = version, make(chan struct{})
		k.conn.mu.Unlock()
	case k.Method == jsonrpc.ListTools && k.Version() != "":
		k.conn.params.learn(msg, jsonrpc.Member(k.Params, "cursor") == nil)
	}
}

// initialized opens the gate: the server knows that the handshake is over, or
// did not want to. What a server asks in a call may come over the stream for
// what it says on its own account, and is lost where that is not open yet; so
// calls wait for it, but not long.
func (c *conn) initialized(ok bool) {
	c.mu.Lock()
	s := &c.session
	gate, first := s.gate, s.gate != nil && !s.told
	s.told = s.told || first
	for _, k := range c.calls {
		if k.Method == jsonrpc.Discover {
			k.cancel() // nobody waits any longer for what the server does not answer
		}
	}
	c.mu.Unlock()
	switch {
	case !first:
	case ok:
		open := sync.OnceFunc(func() { close(gate) })
		time.AfterFunc(streamTime, open)
		c.work.Go(func() { c.listen(open) })
	default:
		close(gate)
	}
}

// header makes the headers that go with a message.
func (c *conn) header(e *jsonrpc.Envelope) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	version := e.Version()
	c.mu.Lock()
	if version == "" && e.Kind != jsonrpc.Request && c.session.version == "" {
		version = c.modern // a notification does not say which revision it is of
	}
	if version == "" && e.Method != jsonrpc.Initialize {
		c.session.header(h)
	}
	c.mu.Unlock()
	if version != "" {
		h.Set("MCP-Protocol-Version", plainValue(version))
		if e.Method != "" {
			h.Set("Mcp-Method", plainValue(e.Method))
		}
		if subject := e.Subject(); subject != "" {
			h.Set("Mcp-Name", headerValue(subject))
		}
	}
	if parent := e.Meta("traceparent"); isTraceparent(parent) {
		h.Set("traceparent", parent)
		if state := e.Meta("tracestate"); state != "" && len(state) <= 512 && plainValue(state) == state {
			h.Set("tracestate", state)
		}
	}
	return h
}

func (s *session) header(h http.Header) {
	if s.version != "" {
		h.Set("MCP-Protocol-Version", s.version)
	}
	if s.id != "" {
		h.Set("Mcp-Session-Id", s.id)
	}
}

// forgotten reports whether a refusal means that the server no longer knows the
// session.
func (c *conn) forgotten(status int, body []byte, k *call) bool {
	c.mu.Lock()
	id := c.session.id
	c.mu.Unlock()
	return id != "" && k.Version() == "" && k.Method != jsonrpc.Initialize && unknownSession(status, body)
}

// unknownSession reports whether a server says that there is no such session,
// which it does before it looks at the request. The specification has 404 for
// that; servers written after the examples of the TypeScript SDK answer 400, in
// these words.
func unknownSession(status int, body []byte) bool {
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	switch status {
	case http.StatusNotFound:
		return true
	case http.StatusBadRequest:
		return json.Unmarshal(jsonrpc.Member(body, "error"), &e) == nil && e.Code == invalidSession &&
			strings.Contains(strings.ToLower(e.Message), "session id")
	}
	return false
}

// invalidSession is the error code that goes with such words.
const invalidSession = -32000

// lost is what becomes of a request to a server that no longer knows the
// session: it has not been looked at, and a new connection begins a new one.
func lost(because *sdk.Error) *failure {
	return &failure{ends: true, status: http.StatusNotFound, err: &sdk.Error{
		Code: sdk.Unavailable, Reason: "session_lost", Message: "the server no longer knows the session", Output: because.Output,
	}}
}

// leave tells the server that the session is over.
func (c *conn) leave(ctx context.Context) {
	c.mu.Lock()
	s := c.session
	nothing := s.id == "" || c.fallback != nil || c.lost != nil
	c.mu.Unlock()
	if nothing {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	h := http.Header{}
	s.header(h)
	res, _, err := c.client.Do(ctx, httpclient.Request{Method: "DELETE", Header: h})
	if err != nil {
		c.log.Debug("ending the session", "error", err)
		return
	}
	_ = res.Body.Close()
}
