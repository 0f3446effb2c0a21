package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outbox"
)

const (
	roomToServer = 64 << 20 // bytes that may wait for a server that does not read
	cancelWindow = 100 * time.Millisecond

	requestsWaiting = 32 // of the server, before they are refused
)

// A conn is one connection, from its first message to its end.
type conn struct {
	up   *Upstream
	link Link
	out  *outbox.Outbox
	ctx  context.Context // ends with the connection
	end  context.CancelFunc

	// Known once the handshake is over.
	revision     mcp.Revision
	serverInfo   []byte
	capabilities []byte
	instructions string
	since        time.Time

	mu      sync.Mutex
	last    uint64                        // guarded by mu; id of the last request
	pending map[uint64]*pending           // guarded by mu
	closed  bool                          // guarded by mu
	ending  bool                          // guarded by mu; by us
	listens map[uint64]bool               // guarded by mu; ids of our listen requests
	asked   map[string]context.CancelFunc // guarded by mu; requests of the server, by id

	ignored  atomic.Uint64
	requests atomic.Int32 // of the server, being answered
	handlers sync.WaitGroup
	done     chan struct{} // closed when the connection is over
	err      error         // why; valid once done is closed
}

// A pending is a request that has not been answered.
type pending struct {
	id        uint64
	method    string
	listens   bool        // it is a request that stays open
	answer    chan answer // takes exactly one
	progress  func(params []byte)
	note      func(method string, params []byte)
	sent      atomic.Bool
	withdrawn atomic.Bool
}

type answer struct {
	result, rpcError []byte
	err              error
}

func newConn(u *Upstream, link Link) *conn {
	c := &conn{
		up: u, link: link, pending: map[uint64]*pending{}, listens: map[uint64]bool{},
		asked: map[string]context.CancelFunc{}, done: make(chan struct{}), since: time.Now(),
	}
	c.ctx, c.end = context.WithCancel(u.ctx)
	c.out = outbox.New(link, roomToServer)
	u.work.Go(c.read)
	return c
}

func (c *conn) inFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) - len(c.listens)
}

// read delivers everything the server sends, until the end.
func (c *conn) read() {
	for {
		raw, err := c.link.Read()
		if err != nil {
			if cut, ok := errors.AsType[Cut](err); ok {
				c.cut(cut)
				continue
			}
			c.over(err)
			return
		}
		m, err := mcp.Parse(raw)
		if err != nil {
			c.invalid(err)
			continue
		}
		switch {
		case m.IsResponse():
			c.deliver(m)
		case m.IsNotification():
			c.notified(m)
		default:
			c.requested(m)
		}
	}
}

// over ends the connection: every pending call fails at once.
func (c *conn) over(err error) {
	c.mu.Lock()
	c.closed = true
	switch {
	case c.ending:
		err = fault.New(fault.UpstreamStopped, "the connection was closed")
	case err == io.EOF:
		err = fault.New(fault.UpstreamExited, "the server ended the connection")
	}
	all := c.pending
	c.pending = map[uint64]*pending{}
	c.mu.Unlock()
	for _, p := range all {
		p.answer <- answer{err: err}
	}
	c.end()
	c.up.work.Go(func() {
		_ = c.out.Close()
		c.link.Close(0)
		c.handlers.Wait()
		c.err = err
		close(c.done)
	})
}

// close ends the connection politely: what is in flight is cancelled, giving a
// reason to the server, then the link is closed.
func (c *conn) close(reason string, grace time.Duration) {
	c.mu.Lock()
	c.ending = true
	var open []*pending
	for _, p := range c.pending {
		open = append(open, p)
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), cancelWindow)
	defer cancel()
	for _, p := range open {
		if !handshaking(p.method) {
			c.cancel(ctx, p, reason)
		}
	}
	flushed := make(chan struct{})
	go func() { defer close(flushed); _ = c.out.Close() }()
	select {
	case <-flushed:
	case <-ctx.Done(): // a server that does not read is not waited for
	}
	c.link.Close(grace)
	<-c.done
}

// start sends a request.
func (c *conn) start(ctx context.Context, p *pending, params []byte) error {
	p.answer = make(chan answer, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return outbox.ErrClosed
	}
	c.last++
	p.id = c.last
	c.pending[p.id] = p
	if p.listens {
		c.listens[p.id] = true
	}
	c.mu.Unlock()
	id := strconv.AppendUint(nil, p.id, 10)
	if p.progress != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, id)
	}
	head, tail := mcp.Request(id, p.method, params != nil)
	msg := outbox.Message{Head: head, Body: params, Tail: tail, Sent: &p.sent, Withdrawn: &p.withdrawn}
	if err := c.out.Send(ctx, msg); err != nil {
		c.forget(p)
		return err
	}
	return nil
}

// forget makes an answer that may still come go nowhere.
func (c *conn) forget(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, p.id)
	delete(c.listens, p.id)
}

// do sends a request and waits for its answer.
func (c *conn) do(ctx context.Context, p *pending, params []byte) (answer, error) {
	if err := c.start(ctx, p, params); err != nil {
		if errors.Is(err, outbox.ErrClosed) {
			return answer{}, c.gone()
		}
		return answer{}, fault.New(fault.UpstreamOverloaded, "the server does not read what is sent to it")
	}
	select {
	case a := <-p.answer:
		return a, a.err
	case <-ctx.Done():
		p.withdrawn.Store(true)
		c.forget(p)
		if !handshaking(p.method) {
			c.cancel(context.Background(), p, cancelReason(ctx))
		}
		return answer{}, ctx.Err()
	}
}

// handshaking reports whether a method stands before the handshake's end, where
// a server of an old era does not expect a cancellation.
func handshaking(method string) bool {
	return method == mcp.MethodInitialize || method == mcp.MethodDiscover
}

// gone says why a connection that has just ended did.
func (c *conn) gone() error {
	select {
	case <-c.done:
		return c.err
	case <-time.After(time.Second):
		return fault.New(fault.UpstreamExited, "the server ended the connection")
	}
}

func cancelReason(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "timed out"
	}
	return "the client cancelled the request"
}

// cancel tells the server that an answer is no longer wanted.
func (c *conn) cancel(ctx context.Context, p *pending, reason string) {
	if !p.sent.Load() {
		p.withdrawn.Store(true)
		return
	}
	params := fmt.Appendf(nil, `{"requestId":%d}`, p.id)
	if reason != "" {
		params = mcp.SetMember(params, "reason", mcp.AppendText(nil, reason))
	}
	_ = c.out.Send(ctx, outbox.Text(mcp.AppendNotification(nil, mcp.NoteCancelled, params)))
}

// notify sends a notification.
func (c *conn) notify(ctx context.Context, method string, params []byte) error {
	return c.out.Send(ctx, outbox.Text(mcp.AppendNotification(nil, method, params)))
}
