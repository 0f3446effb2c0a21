package upstream

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A pending is an unanswered request to the server. The goroutine of the caller makes it and
// receives the answer. The one that takes it out of the request table sends the answer. The
// fields without another guard are set before it is registered.
type pending struct {
	id         uint64
	method     string
	answer     chan answer // receives exactly one answer
	progress   func(params []byte)
	sent       atomic.Bool
	withdrawn  atomic.Bool
	progressed atomic.Bool // the server has sent progress
	suspected  atomic.Bool // see dispatcher.suspect
	unmatched  int         // unmatched responses of the connection before this request
	// Ends the wait for space in the queue; nil: there was space; guarded by the mu of the request table.
	giveUp func()
	// acknowledged receives the params of the server's acknowledgement. It is nil
	// except for listen requests.
	acknowledged chan []byte
	about        any             // from Call.About
	owner        authn.Principal // from Call.Principal
	clock        callClock       // the timeout, which begins when the request is registered
	// asked holds the cancel functions of the server's requests that belong to this
	// one. The mu of the request table guards it.
	serverRequests []context.CancelFunc
}

// cancelServerRequests cancels the server's requests that belong to p. The caller holds the
// mu of the request table.
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

// do sends a request and waits for its response.
func (c *conn) do(ctx context.Context, p *pending, params []byte) (*Reply, error) {
	if err := c.writer.startRequest(ctx, p, params); err != nil {
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

// wait waits for the response to a request. It cancels the request if ctx ends. It blocks on
// the goroutine of the caller.
func (c *conn) wait(ctx context.Context, p *pending) (*Reply, error) {
	select {
	case a := <-p.answer:
		return a.reply, a.err
	case <-ctx.Done():
		if c.table.take(p) && !isHandshake(p.method) { // else it was answered, or cancelled by expire
			c.writer.cancel(p, cancelReason(ctx))
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

// errTimedOut is the answer to a request that was not answered in time.
var errTimedOut = errors.New("the time for the request has passed")

// memoryOwner returns the owner whose shares of the memory count the response; zero for
// a request of the host itself.
func (p *pending) memoryOwner() limit.Owner {
	if p.owner.Method == "" {
		return limit.Owner{}
	}
	return p.owner.Owner()
}
