package main

import (
	"context"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

const (
	maxSessionID = 256             // characters
	closeTime    = 2 * time.Second // to delete the session
)

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
