package main

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

// Close ends the session and all requests.
func (c *conn) Close(ctx context.Context) error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		fallback := c.fallback
		c.mu.Unlock()
		c.flush(ctx)
		c.deleteSession(ctx)
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

// flush waits up to flushTime for messages being sent, most of all
// cancellations.
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

// terminate ends the connection with an error.
func (c *conn) terminate(err error) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.End(err)
	c.end()
}

// finished removes a request that has ended.
func (c *conn) finished(k *call) {
	c.mu.Lock()
	if c.calls[string(k.ID)] == k {
		delete(c.calls, string(k.ID))
	}
	lost, last := c.lost, len(c.calls) == 0
	c.mu.Unlock()
	if lost != nil && last {
		c.terminate(lost)
	}
}

// loseSession ends a connection whose session the server no longer knows. It
// waits up to loseTime, because other requests then fail with the same error
// and can be sent again. Requests that are cut off cannot.
func (c *conn) loseSession(err error) {
	c.mu.Lock()
	first, idle := c.lost == nil, len(c.calls) == 0
	if first {
		c.lost = err
	}
	c.mu.Unlock()
	switch {
	case idle:
		c.terminate(err)
	case first:
		time.AfterFunc(loseTime, func() { c.terminate(err) })
	}
}

// settled ends the request whose response arrived on another stream.
func (c *conn) settled(msg []byte) {
	c.mu.Lock()
	k := c.calls[string(jsonrpc.Member(msg, "id"))]
	c.mu.Unlock()
	if k != nil {
		k.cancel()
	}
}
