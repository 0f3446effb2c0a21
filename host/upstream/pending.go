package upstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A pending is a request that has not been answered.
type pending struct {
	id        uint64
	method    string
	answer    chan answer // takes exactly one
	progress  func(params []byte)
	sent      atomic.Bool
	withdrawn atomic.Bool
	doubted   atomic.Bool // see conn.doubt
	// acknowledged is not nil for a request to listen, which stays open, and
	// takes what the server agreed to.
	acknowledged chan []byte
	about        any    // of the call
	owner        string // of the call; whose share of the memory the answer counts for
	clock        *clock // of the call; nil when it has none
	// asked are the server's questions in the course of it, which end with it;
	// guarded by the connection's mu.
	asked []context.CancelFunc
}

// over ends what the server asked in the course of the request. The caller
// holds the connection's mu.
func (p *pending) over() {
	for _, cancel := range p.asked {
		cancel()
	}
	p.asked = nil
}

type answer struct {
	result, rpcError []byte
	names            mcp.Names // of the result's members
	err              error
	hold             *limit.Hold // of the bytes
}

// start sends a request.
func (c *conn) start(ctx context.Context, p *pending, params []byte) error {
	if err := c.register(p); err != nil {
		return err
	}
	return c.post(ctx, p, params)
}

// register gives a request its id.
func (c *conn) register(p *pending) error {
	p.answer = make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return sendqueue.ErrClosed
	}
	c.last++
	p.id = c.last
	c.pending[p.id] = p
	if p.acknowledged != nil {
		c.listens[p.id] = true
	}
	return nil
}

// post queues a request that has its id, waiting for room.
func (c *conn) post(ctx context.Context, p *pending, params []byte) error {
	msg := c.compose(p, params)
	err := c.fits(msg)
	if err == nil {
		err = c.out.Send(ctx, msg)
	}
	if err != nil {
		c.forget(p)
	}
	return err
}

// push is post for a small request that cannot wait.
func (c *conn) push(p *pending, params []byte) { _ = c.out.Push(c.compose(p, params)) }

func (c *conn) compose(p *pending, params []byte) sendqueue.Message {
	id := strconv.AppendUint(nil, p.id, 10)
	if p.progress != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, id)
	}
	head, tail := mcp.Request(id, p.method, params != nil)
	return sendqueue.Message{Head: head, Body: params, Tail: tail, Sent: &p.sent, Withdrawn: &p.withdrawn}
}

// fits refuses a message that the link would, which would be its end.
func (c *conn) fits(msg sendqueue.Message) error {
	size := len(msg.Head) + len(msg.Body) + len(msg.Tail)
	if most := c.up.opts.MaxMessage; size > most {
		return c.oversized(fault.New(fault.UpstreamTooLarge, "a message of %d bytes to the server is larger than %d", size, most))
	}
	return nil
}

// forget makes an answer that may still come go nowhere.
func (c *conn) forget(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, p.id)
	delete(c.listens, p.id)
	p.over()
}

// do sends a request and waits for its answer.
func (c *conn) do(ctx context.Context, p *pending, params []byte) (answer, error) {
	if err := c.start(ctx, p, params); err != nil {
		return answer{}, c.unsent(err)
	}
	return c.wait(ctx, p)
}

// unsent says why a request could not be sent.
func (c *conn) unsent(err error) error {
	switch {
	case errors.Is(err, sendqueue.ErrClosed):
		return c.gone()
	case fault.Is(err, fault.UpstreamTooLarge):
		return err
	}
	return fault.New(fault.UpstreamOverloaded, "the server does not read what is sent to it")
}

// wait waits for the answer to a request.
func (c *conn) wait(ctx context.Context, p *pending) (answer, error) {
	select {
	case a := <-p.answer:
		return a, a.err
	case <-ctx.Done():
		c.forget(p)
		if !handshaking(p.method) {
			c.cancel(p, cancelReason(ctx))
		}
		select {
		case late := <-p.answer: // it came at the same time
			late.hold.Release()
		default:
		}
		return answer{}, ctx.Err()
	}
}

// handshaking reports whether a method stands before the handshake's end, where
// a server of an old era does not expect a cancellation.
func handshaking(method string) bool {
	return method == mcp.MethodInitialize || method == mcp.MethodDiscover
}

func cancelReason(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return "timed out"
	case fault.Is(cause, fault.UpstreamStopped):
		return "junctor is shutting down"
	}
	return "the client cancelled the request"
}

// cancel tells the server, if it may have seen the request, that an answer is no
// longer wanted. It does not wait: there is one at most for each request.
func (c *conn) cancel(p *pending, reason string) {
	p.withdrawn.Store(true)
	if !p.sent.Load() {
		c.out.Purge()
		return
	}
	params := fmt.Appendf(nil, `{"requestId":%d}`, p.id)
	if reason != "" {
		params = mcp.SetMember(params, "reason", mcp.AppendText(nil, reason))
	}
	_ = c.out.Push(sendqueue.Text(mcp.AppendNotification(nil, mcp.NoteCancelled, params)))
}
