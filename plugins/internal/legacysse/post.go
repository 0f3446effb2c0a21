package legacysse

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/sdk"
)

// noteTime is the timeout for posting a notification or a response, which later
// messages wait for.
const noteTime = 10 * time.Second

// A post is a request that the server has not accepted yet.
type post struct {
	ctx    context.Context // done when the host cancels the request
	cancel context.CancelFunc
	over   atomic.Bool // the post was started, or cancelled before
}

// Send posts a message. Recv reports the outcome. Requests are posted
// concurrently. Notifications and responses are delivered in order, and before
// the requests sent after them. Cancellations wait for no other message, and no
// message waits for them.
func (c *Conn) Send(msg []byte) error {
	e := jsonrpc.Open(append([]byte(nil), msg...))
	switch {
	case e.Kind == jsonrpc.Request:
		return c.request(&e)
	case e.Method == jsonrpc.Cancelled:
		return c.cancel(&e)
	}
	opened := make(chan struct{})
	var after chan struct{}
	return c.note(func() { after, c.gate = c.gate, opened }, func() {
		defer close(opened)
		if c.passes(c.ctx, after) {
			c.post(c.ctx, &e)
		}
	})
}

func errClosed() error { return sdk.Errorf(sdk.Canceled, "the connection is closed") }

// passes waits until a gate is open. It returns false if ctx is done first.
func (c *Conn) passes(ctx context.Context, gate chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	}
}

// note runs f in a goroutine when a slot for notifications is free. f posts a
// message. order is called first, in the order of the calls of note.
func (c *Conn) note(order, f func()) error {
	select {
	case c.notes <- struct{}{}:
	case <-c.ctx.Done():
		return errClosed()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		<-c.notes
		return errClosed()
	}
	order()
	c.work.Go(func() {
		defer func() { <-c.notes }()
		f()
	})
	return nil
}

// request starts to post a request of the host.
func (c *Conn) request(e *jsonrpc.Envelope) error {
	p := &post{}
	p.ctx, p.cancel = context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		p.cancel()
		return errClosed()
	}
	full := len(c.requests) >= requestsMost
	if !full {
		c.requests[string(e.ID)] = p
	}
	after := c.gate
	c.work.Go(func() {
		defer p.cancel()
		if full {
			c.fail(e, sdk.Errorf(sdk.Unavailable, "limit reached: %d requests are waiting", requestsMost), false)
			return
		}
		c.carry(e, p, after)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.requests[string(e.ID)] == p {
			delete(c.requests, string(e.ID))
		}
	})
	return nil
}

// carry posts a request after earlier notifications were delivered and a slot
// is free.
func (c *Conn) carry(e *jsonrpc.Envelope, p *post, after chan struct{}) {
	select {
	case c.posts <- struct{}{}:
		defer func() { <-c.posts }()
	case <-p.ctx.Done():
		return
	}
	if c.passes(p.ctx, after) && p.over.CompareAndSwap(false, true) {
		c.post(p.ctx, e)
	}
}

// cancel gives up posting a request. It sends the cancellation to the server if
// that may have seen the request.
func (c *Conn) cancel(e *jsonrpc.Envelope) error {
	c.mu.Lock()
	p := c.requests[string(e.Cancels())]
	c.mu.Unlock()
	if p != nil && p.over.CompareAndSwap(false, true) {
		p.cancel()
		return nil
	}
	return c.note(func() {}, func() {
		c.post(c.ctx, e)
		if p != nil {
			p.cancel()
		}
	})
}

func (c *Conn) post(ctx context.Context, e *jsonrpc.Envelope) {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	asked := ctx
	if e.Kind != jsonrpc.Request {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, noteTime)
		defer cancel()
	}
	res, sent, err := c.o.Client.Do(ctx, httpclient.Request{Method: "POST", URL: c.endpoint, Header: h, Body: e.Raw})
	switch {
	case asked.Err() != nil:
		if err == nil {
			_ = res.Body.Close()
		}
	case err != nil:
		c.fail(e, err, sent)
	case res.StatusCode == http.StatusNotFound && !c.taken.Load():
		rejection, _ := httpclient.ErrorResponse(res)
		rejection.Message = fmt.Sprintf(
			"the server answered with HTTP status 404 at %s, the path that its endpoint event names",
			c.endpoint.EscapedPath(),
		)
		rejection.Hint = "if a proxy adds a prefix to the path of the server, it must also add it in this event"
		if e.Kind == jsonrpc.Request {
			c.Report(c.ctx, &sdk.Failed{ID: e.ID, Err: rejection, Ends: true})
		}
		c.over(rejection)
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		rejection, _ := httpclient.ErrorResponse(res)
		gone := &sdk.Error{Code: sdk.Unavailable, Reason: "session_lost",
			Message: "the server no longer knows the session", Output: rejection.Output,
			Hint: "call again, which begins a new session"}
		if e.Kind == jsonrpc.Request {
			c.Report(c.ctx, &sdk.Failed{ID: e.ID, Err: gone, Ends: true})
		}
		c.over(gone)
	case res.StatusCode < 200 || res.StatusCode >= 300:
		rejection, _ := httpclient.ErrorResponse(res)
		c.fail(e, rejection, true)
	default:
		c.taken.Store(true)
		_ = res.Body.Close()
	}
}

// fail reports to the host that a request failed.
func (c *Conn) fail(e *jsonrpc.Envelope, err error, sent bool) {
	why, ok := err.(*sdk.Error)
	if !ok {
		why = sdk.Errorf(sdk.Unavailable, "%v", err)
	}
	if e.Kind != jsonrpc.Request {
		c.o.Log.Debug("a message was not delivered", "method", e.Method, "error", why)
		return
	}
	c.Report(c.ctx, &sdk.Failed{ID: e.ID, Err: why, Delivered: sent})
}
