package upstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A pending is an unanswered request to the server.
type pending struct {
	id         uint64
	method     string
	answer     chan answer // receives exactly one answer
	progress   func(params []byte)
	sent       atomic.Bool
	withdrawn  atomic.Bool
	progressed atomic.Bool // the server has sent progress
	suspected  atomic.Bool // see conn.suspect
	unmatched  int         // unmatched responses of the connection before this request
	giveUp     func()      // ends the wait for space in the queue; nil: there was space; guarded by the connection's mu
	// acknowledged receives the params of the server's acknowledgement. It is nil
	// except for listen requests.
	acknowledged chan []byte
	about        any             // from Call.About
	owner        authn.Principal // from Call.Principal
	clock        callClock       // the timeout, which begins when the request is registered
	// asked holds the cancel functions of the server's requests that belong to this
	// one. The connection's mu guards it.
	serverRequests []context.CancelFunc
}

// cancelServerRequests cancels the server's requests that belong to p. The caller holds the
// connection's mu.
func (p *pending) cancelServerRequests() {
	for _, cancel := range p.serverRequests {
		cancel()
	}
	p.serverRequests = nil
}

// An answer is the response to a request, or the error that replaces it.
type answer struct {
	reply *Reply // nil: see err
	err   error
}

// startRequest registers and sends a request.
func (c *conn) startRequest(ctx context.Context, p *pending, params []byte) error {
	if err := c.register(p); err != nil {
		return err
	}
	return c.queueRequest(ctx, p, params)
}

// register assigns an id to a request and starts its clock.
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
	p.unmatched = c.unmatched.count()
	if p.clock.d > 0 {
		p.clock.start(func() { c.expire(p) })
	}
	if p.acknowledged != nil {
		c.listens[p.id] = true
	}
	return nil
}

// queueRequest queues a registered request. It waits for space in the queue until ctx
// ends or the timeout of the request has passed.
func (c *conn) queueRequest(ctx context.Context, p *pending, params []byte) error {
	msg := c.compose(p, params)
	err := c.fits(msg)
	if err == nil && !c.out.Offer(msg) {
		err = c.sendLater(ctx, p, msg)
	}
	if err != nil {
		c.forget(p)
	}
	return err
}

// sendLater waits for space in the queue until ctx ends or the request expires.
func (c *conn) sendLater(ctx context.Context, p *pending, msg sendqueue.Message) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	if p.giveUp = cancel; c.pending[p.id] != p {
		cancel()
	}
	c.mu.Unlock()
	return c.out.Send(ctx, msg)
}

// pushRequest is like queueRequest, for a small request, and does not wait.
func (c *conn) pushRequest(p *pending, params []byte) { _ = c.out.Push(c.compose(p, params)) }

func (c *conn) compose(p *pending, params []byte) sendqueue.Message {
	id := strconv.AppendUint(nil, p.id, 10)
	if p.progress != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, id)
	}
	head, tail := mcp.RequestEnvelope(id, p.method, params != nil)
	return sendqueue.Message{Head: head, Body: params, Tail: tail, Sent: &p.sent, Withdrawn: &p.withdrawn}
}

// fits rejects a message larger than the limit of the link, which would close.
func (c *conn) fits(msg sendqueue.Message) error {
	size := len(msg.Head) + len(msg.Body) + len(msg.Tail)
	if most := c.up.opts.MaxMessage; size > most {
		return c.oversized(fault.New(fault.UpstreamTooLarge, "a message of %d bytes to the server exceeds the limit of %d bytes", size, most))
	}
	return nil
}

// forget removes a request, so that its response is ignored.
func (c *conn) forget(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, p.id)
	delete(c.listens, p.id)
	p.cancelServerRequests()
}

// do sends a request and waits for its response.
func (c *conn) do(ctx context.Context, p *pending, params []byte) (*Reply, error) {
	if err := c.startRequest(ctx, p, params); err != nil {
		return nil, c.sendError(err)
	}
	return c.wait(ctx, p)
}

// sendError returns the fault for a request that could not be sent.
func (c *conn) sendError(err error) error {
	switch {
	case errors.Is(err, sendqueue.ErrClosed):
		return c.endError()
	case fault.Is(err, fault.UpstreamTooLarge):
		return err
	}
	return fault.New(fault.UpstreamOverloaded, "the server does not read what is sent to it").
		WithHint("try again later; read the log of the server if it stays like this")
}

// wait waits for the response to a request. It cancels the request if ctx ends.
func (c *conn) wait(ctx context.Context, p *pending) (*Reply, error) {
	select {
	case a := <-p.answer:
		return a.reply, a.err
	case <-ctx.Done():
		if c.take(p) && !isHandshake(p.method) { // else it was answered, or cancelled by expire
			c.cancel(p, cancelReason(ctx))
		}
		select {
		case late := <-p.answer: // the response arrived at the same time
			late.reply.Release()
		default:
		}
		return nil, ctx.Err()
	}
}

// isHandshake reports whether a method belongs to the handshake. Legacy servers
// expect no cancellation of these.
func isHandshake(method string) bool {
	return method == mcp.MethodInitialize || method == mcp.MethodDiscover
}

// timedOut is the reason that a server gets for the end of a request that took too long.
const timedOut = "timed out"

func cancelReason(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return timedOut
	case fault.Is(cause, fault.UpstreamStopped):
		return "junctor is shutting down"
	}
	return "the client cancelled the request"
}

// cancel tells the server to cancel a request that it may have received. It does not
// block: each request has at most one cancellation.
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
	c.sendsNoRequest()
	_ = c.out.Push(sendqueue.Text(mcp.AppendNotification(nil, mcp.NoteCancelled, params)))
}

// spawn runs do in a goroutine that Close waits for. A panic closes the connection and
// thereby fails all pending requests.
func (c *conn) spawn(doing string, do func()) {
	c.up.work.Go(func() {
		var panicked error
		defer func() {
			if panicked != nil {
				c.link.Close(0)
			}
		}()
		defer fault.Recover(&panicked, c.up.opts.Log, c.up.opts.Name, doing)
		do()
	})
}

// suspectGrace is how long the only request in flight waits after a response with an
// unknown id. The server may have sent it by mistake and may still answer.
const suspectGrace = 5 * time.Second

// issued reports whether a request on this connection had the id.
func (c *conn) issued(id mcp.ID) bool {
	n, ok := id.Number()
	c.mu.Lock()
	defer c.mu.Unlock()
	return ok && n > 0 && n <= c.last
}

// soleRequest returns the single request in flight, or nil if there are none or several.
func (c *conn) soleRequest() *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending)-len(c.listens) != 1 {
		return nil
	}
	for n, p := range c.pending {
		if !c.listens[n] {
			return p
		}
	}
	return nil
}

// suspect fails the only request in flight after suspectGrace. The response that had an
// unknown id was probably meant for it.
func (c *conn) suspect(err error) {
	if p := c.soleRequest(); p != nil && p.suspected.CompareAndSwap(false, true) {
		time.AfterFunc(suspectGrace, func() { c.failPending(p, err) })
	}
}

// failPending fails a request unless it has been answered.
func (c *conn) failPending(p *pending, err error) {
	if p != nil && c.take(p) {
		p.answer <- answer{err: err}
	}
}

// errTimedOut is the answer to a request that was not answered in time.
var errTimedOut = errors.New("the time for the request has passed")

// expire cancels and fails a request whose time has passed.
func (c *conn) expire(p *pending) {
	if c.take(p) {
		c.cancel(p, timedOut)
		p.answer <- answer{err: errTimedOut}
	}
}

// take removes a request, for a caller that then answers it. It reports false if the
// request was removed before.
func (c *conn) take(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[p.id] != p {
		return false
	}
	delete(c.pending, p.id)
	delete(c.listens, p.id)
	p.cancelServerRequests()
	if p.giveUp != nil {
		p.giveUp()
	}
	return true
}

// memoryOwner returns the owner whose shares of the memory count the response; zero for
// a request of the host itself.
func (p *pending) memoryOwner() limit.Owner {
	if p.owner.Method == "" {
		return limit.Owner{}
	}
	return p.owner.Owner()
}
