package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/legacysse"
	"github.com/junctor-mcp/junctor/sdk"
)

// onlySSE holds the URLs of servers that have only the older transport, while
// the plugin runs. All connections of the process use it.
var onlySSE urls

type urls struct{ m sync.Map }

func (u *urls) Load(url string) bool { _, ok := u.m.Load(url); return ok }
func (u *urls) Store(url string)     { u.m.Store(url, struct{}{}) }
func (u *urls) Forget(url string)    { u.m.Delete(url) }

// answered reports whether the server that did not open a stream responded at
// all.
func answered(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && (e.Reason == "http_status" || e.Reason == "bad_message")
}

// legacyOnly reports whether a rejected initialize means that the server has
// only the older transport. answered is true if the body was a JSON-RPC
// response. A server without an MCP endpoint at this URL would not send one
// with 400 or 404.
func (c *conn) legacyOnly(k *call, status int, answered bool) bool {
	if !c.auto || k.Method != jsonrpc.Initialize || c.lived.Load() {
		return false
	}
	switch status {
	case http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return true
	case http.StatusBadRequest, http.StatusNotFound:
		return !answered
	}
	return false
}

// fallBack continues over the older transport.
func (k *call) fallBack(because *failure) *failure {
	c := k.conn
	old, err := legacysse.Dial(k.ctx, c.old)
	if err != nil {
		e := asError(err)
		return &failure{err: &sdk.Error{
			Code: e.Code, Reason: e.Reason, Hint: e.Hint, Output: because.err.Output,
			Message: fmt.Sprintf("%s; the older transport failed too: %s", because.err.Message, e.Message),
		}}
	}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.fallback = old
	}
	c.mu.Unlock()
	if closed {
		_ = old.Close(c.ctx)
		return nil
	}
	c.log.Info("falling back to the older transport, HTTP with server-sent events", "status", because.status)
	onlySSE.Store(c.client.URL.String())
	c.work.Go(func() { c.pump(old) })
	if err := old.Send(k.Raw); err != nil {
		return &failure{err: asError(err)}
	}
	return nil
}

// pump copies messages from the older transport, on a goroutine of its own, until that
// ends.
func (c *conn) pump(from sdk.Conn) {
	for {
		msg, err := from.Recv()
		_, dropped := errors.AsType[*sdk.Dropped](err)
		_, failed := errors.AsType[*sdk.Failed](err)
		switch {
		case err == nil:
			c.Put(c.ctx, bytes.Clone(msg), nil)
		case dropped || failed:
			c.Report(c.ctx, err)
		case err == io.EOF:
			c.terminate(nil)
			return
		default:
			c.terminate(err)
			return
		}
	}
}
