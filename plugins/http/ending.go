package main

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

// Close ends the session and everything that is open.
func (c *conn) Close(ctx context.Context) error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		fallback := c.fallback
		c.mu.Unlock()
		c.flush(ctx)
		c.leave(ctx)
		c.end()
		if fallback != nil {
			_ = fallback.Close(ctx)
		}
		c.End(nil)
		c.leaving.Wait()
		c.work.Wait()
		c.client.Close()
	})
	return nil
}

// flush waits a moment for what is being sent, cancellations most of all.
func (c *conn) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	sent := make(chan struct{})
	go func() { defer close(sent); c.leaving.Wait() }()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}

// over ends the connection on the server's account.
func (c *conn) over(err error) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.End(err)
	c.end()
}

// finished takes a request off the list that is over.
func (c *conn) finished(k *call) {
	c.mu.Lock()
	if c.calls[string(k.ID)] == k {
		delete(c.calls, string(k.ID))
	}
	lost, last := c.lost, len(c.calls) == 0
	c.mu.Unlock()
	if lost != nil && last {
		c.over(lost)
	}
}

// lose ends the connection to a server that no longer knows the session. What
// was sent at the same time hears so by itself, and can then be sent again; what
// is cut off cannot.
func (c *conn) lose(err error) {
	c.mu.Lock()
	first, idle := c.lost == nil, len(c.calls) == 0
	if first {
		c.lost = err
	}
	c.mu.Unlock()
	switch {
	case idle:
		c.over(err)
	case first:
		time.AfterFunc(loseTime, func() { c.over(err) })
	}
}

// settled ends a request whose answer came where it was not expected.
func (c *conn) settled(msg []byte) {
	c.mu.Lock()
	k := c.calls[string(jsonrpc.Member(msg, "id"))]
	c.mu.Unlock()
	if k != nil {
		k.cancel()
	}
}
