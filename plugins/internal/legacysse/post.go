package legacysse

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/sdk"
)

// noteTime is how long a message without an answer may take to arrive, for
// which others wait.
const noteTime = 10 * time.Second

// A post is a request until the server has taken it.
type post struct {
	ctx    context.Context // ends when the host no longer wants the answer
	cancel context.CancelFunc
	over   atomic.Bool // the wait for its turn: it is sent, or given up before
}

// Send posts a message. What becomes of it arrives in Recv. Requests travel side
// by side. What has no answer arrives in order, and before the requests that were
// sent after it; but nothing waits for a cancellation, nor that for anything.
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

// passes waits until a gate is open; false when ctx ends before.
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

// note runs f, which posts a message without an answer, when there is room, and
// first, in the order of the calls, order.
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

// request begins a request of the host's.
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
			c.fail(e, sdk.Errorf(sdk.Unavailable, "%d requests are waiting already", requestsMost), false)
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

// carry posts a request when its turn has come.
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

// cancel tells the server that an answer is no longer wanted, unless it cannot
// have seen the request, and gives up posting that.
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
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		refusal, _ := httpclient.Refusal(res)
		gone := &sdk.Error{Code: sdk.Unavailable, Reason: "session_lost", Message: "the server no longer knows the session", Output: refusal.Output}
		if e.Kind == jsonrpc.Request {
			c.Report(c.ctx, &sdk.Failed{ID: e.ID, Err: gone, Ends: true})
		}
		c.over(gone)
	case res.StatusCode < 200 || res.StatusCode >= 300:
		refusal, _ := httpclient.Refusal(res)
		c.fail(e, refusal, true)
	default:
		_ = res.Body.Close()
	}
}

// fail tells the host that a request will not be answered.
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
