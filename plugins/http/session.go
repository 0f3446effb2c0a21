package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

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
