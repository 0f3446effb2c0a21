package legacysse

import (
	"context"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/message"
	"github.com/junctor-mcp/junctor/plugins/internal/web"
	"github.com/junctor-mcp/junctor/sdk"
)

// noteTime is how long a message without an answer may take to arrive, for
// which others wait.
const noteTime = 10 * time.Second

// Send posts a message. What becomes of it arrives in Recv.
func (c *Conn) Send(msg []byte) error {
	if c.closed.Load() {
		return sdk.Errorf(sdk.Canceled, "the connection is closed")
	}
	e := message.Open(append([]byte(nil), msg...))
	select {
	case c.posts <- struct{}{}:
	case <-c.ctx.Done():
		return sdk.Errorf(sdk.Canceled, "the connection is closed")
	}
	// Requests travel side by side. What has no answer arrives in order, and
	// before the requests that were sent after it.
	c.mu.Lock()
	after, opened := c.gate, chan struct{}(nil)
	if e.Kind != message.Request {
		opened = make(chan struct{})
		c.gate = opened
	}
	c.mu.Unlock()
	c.work.Go(func() {
		defer func() {
			if opened != nil {
				close(opened)
			}
			<-c.posts
		}()
		if after != nil {
			select {
			case <-after:
			case <-c.ctx.Done():
				return
			}
		}
		c.post(&e)
	})
	return nil
}

func (c *Conn) post(e *message.Envelope) {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	ctx := c.ctx
	if e.Kind != message.Request {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, noteTime)
		defer cancel()
	}
	res, sent, err := c.o.Client.Do(ctx, web.Request{Method: "POST", URL: c.endpoint, Header: h, Body: e.Raw})
	switch {
	case c.ctx.Err() != nil:
	case err != nil:
		c.fail(e, err, sent)
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		refusal, _ := web.Refusal(res)
		gone := &sdk.Error{Code: sdk.Unavailable, Reason: "session_lost", Message: "the server no longer knows the session", Output: refusal.Output}
		if e.Kind == message.Request {
			c.Report(c.ctx, &sdk.Failed{ID: e.ID, Err: gone, Ends: true})
		}
		c.over(gone)
	case res.StatusCode < 200 || res.StatusCode >= 300:
		refusal, _ := web.Refusal(res)
		c.fail(e, refusal, true)
	default:
		_ = res.Body.Close()
	}
}

// fail tells the host that a request will not be answered.
func (c *Conn) fail(e *message.Envelope, err error, sent bool) {
	why, ok := err.(*sdk.Error)
	if !ok {
		why = sdk.Errorf(sdk.Unavailable, "%v", err)
	}
	if e.Kind != message.Request {
		c.o.Log.Debug("a message was not delivered", "method", e.Method, "error", why)
		return
	}
	c.Report(c.ctx, &sdk.Failed{ID: e.ID, Err: why, Delivered: sent})
}
