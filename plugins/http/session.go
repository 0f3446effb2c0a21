package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

const maxSessionID = 256

// Variables, because tests on a busy machine use longer times.
var (
	streamTime = 500 * time.Millisecond // for the server's GET stream to open before calls are sent
	loseTime   = 500 * time.Millisecond // for other requests to fail after the session was lost
)

// A session holds the headers for requests after the handshake, in revisions
// before 2026-07-28.
type session struct {
	id      string // empty: the server has no sessions
	version string // negotiated revision; empty before
	// gate is closed when the server has received notifications/initialized
	// and its GET stream is open. A server may reject requests sent before. It
	// is nil before a revision was negotiated.
	gate chan struct{}
	told bool

	headers *httpclient.Prepared // of messages without a revision of their own; nil: not built
}

// keepSession stores the session id of the initialize response.
func (k *call) keepSession(res *http.Response) *failure {
	if k.Method != jsonrpc.Initialize {
		return nil
	}
	id := res.Header.Get("Mcp-Session-Id")
	if id != "" && !httpclient.Visible(id, maxSessionID) {
		return bad("the server's session id is longer than 256 characters, or has one that is not visible ASCII")
	}
	k.conn.mu.Lock()
	defer k.conn.mu.Unlock()
	k.conn.session = session{id: id}
	return nil
}

// noteAnswer stores the results that affect later requests.
func (k *call) noteAnswer(msg []byte) {
	if k.Method != jsonrpc.Initialize && k.Method != jsonrpc.Discover && !k.conn.used.Load() {
		k.conn.used.Store(true)
	}
	switch {
	case k.Method == jsonrpc.Initialize:
		var version string
		_ = json.Unmarshal(jsonrpc.Member(jsonrpc.Member(msg, "result"), "protocolVersion"), &version)
		if !httpclient.Visible(version, 64) {
			return
		}
		k.conn.mu.Lock()
		s := &k.conn.session
		s.version, s.gate, s.headers = version, make(chan struct{}), nil
		k.conn.mu.Unlock()
	case k.Method == jsonrpc.ListTools && k.Version() != "":
		k.conn.params.learn(msg, jsonrpc.Member(k.Params, "cursor") == nil)
	}
}

// initialized opens the gate after notifications/initialized was sent or
// failed. Requests of the server during a call may arrive on the GET stream,
// and are lost before it is open. Calls therefore wait for the stream, up to
// streamTime.
func (c *conn) initialized(ok bool) {
	c.mu.Lock()
	s := &c.session
	gate, first := s.gate, s.gate != nil && !s.told
	s.told = s.told || first
	for _, k := range c.calls {
		if k.Method == jsonrpc.Discover {
			k.cancel() // the server answered initialize, so discovery is not needed
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

// httpRequest returns the HTTP request for a message. It reuses the headers of a session.
func (c *conn) httpRequest(e *jsonrpc.Envelope) httpclient.Request {
	r := httpclient.Request{Method: "POST", Body: e.Raw, NotCredential: c.notCredential}
	version, parent := e.Version(), e.Meta("traceparent")
	traced := isTraceparent(parent)
	c.mu.Lock()
	if version == "" && e.Kind != jsonrpc.Request && c.session.version == "" {
		version = c.modern // a notification has no revision of its own
	}
	s := &c.session
	switch {
	case version != "" || e.Method == jsonrpc.Initialize:
		r.Header = messageHeader()
	case traced:
		r.Header = messageHeader()
		s.header(r.Header)
	case s.headers == nil:
		h := messageHeader()
		s.header(h)
		s.headers = c.client.Prepare(h)
		fallthrough
	default:
		r.Prepared = s.headers
	}
	c.mu.Unlock()
	if version != "" {
		r.Header["Mcp-Protocol-Version"] = []string{plainValue(version)}
		if e.Method != "" {
			r.Header["Mcp-Method"] = []string{plainValue(e.Method)}
		}
		if subject := e.Subject(); subject != "" {
			r.Header["Mcp-Name"] = []string{headerValue(subject)}
		}
	}
	if traced {
		r.Header["Traceparent"] = []string{parent}
		if state := e.Meta("tracestate"); state != "" && len(state) <= 512 && plainValue(state) == state {
			r.Header["Tracestate"] = []string{state}
		}
	}
	return r
}

// Values that every message has. They are not changed.
var typeJSON, acceptBoth = []string{"application/json"}, []string{"application/json, text/event-stream"}

func messageHeader() http.Header { return http.Header{"Content-Type": typeJSON, "Accept": acceptBoth} }

// header adds the headers of the session.
func (s *session) header(h http.Header) {
	if s.version != "" {
		h.Set("MCP-Protocol-Version", s.version)
	}
	if s.id != "" {
		h.Set("Mcp-Session-Id", s.id)
	}
}

// deleteSession ends the session of the connection on the server.
func (c *conn) deleteSession(ctx context.Context) {
	c.mu.Lock()
	s := c.session
	skip := s.id == "" || c.fallback != nil || c.lost != nil
	c.mu.Unlock()
	if !skip {
		c.delete(ctx, s)
	}
}

// deleteProbed ends a session that the server has started for server/discover. The host
// does not use it: a server with sessions gets initialize next.
func (c *conn) deleteProbed(res *http.Response) {
	id := res.Header.Get("Mcp-Session-Id")
	if id != "" && httpclient.Visible(id, maxSessionID) {
		c.sending(func() { c.delete(c.ctx, session{id: id}) })
	}
}

// delete ends a session on the server.
func (c *conn) delete(ctx context.Context, s session) {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	h := http.Header{}
	s.header(h)
	res, _, err := c.client.Do(ctx, httpclient.Request{Method: "DELETE", Header: h})
	if err != nil {
		c.log.Debug("ending the session failed", "error", err)
		return
	}
	_ = res.Body.Close()
}
