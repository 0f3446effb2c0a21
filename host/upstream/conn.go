package upstream

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

const (
	roomToServer = 64 << 20 // bytes that may wait for a server that does not read
	cancelWindow = 100 * time.Millisecond

	requestsWaiting = 32 // of the server, before they are refused

	defaultMessage = 16 << 20 // bytes of a message to the server
)

// The eras of a connection; zero as long as the handshake goes on.
const (
	legacyEra = iota + 1
	modernEra
)

// A conn is one connection, from its first message to its end.
type conn struct {
	up   *Upstream
	link Link
	out  *sendqueue.Queue
	ctx  context.Context // ends with the connection
	end  context.CancelFunc

	era atomic.Int32 // for the reading goroutine; the others know the revision

	// Known once the handshake is over.
	revision     mcp.Revision
	serverInfo   []byte
	capabilities []byte
	instructions string
	offered      []byte // of the client's capabilities, to a server of the old era
	since        time.Time
	started      time.Time  // when the attempt began that made it
	lists        *listening // of a modern server whose lists change

	level string        // guarded by the upstream's mu; the server was told
	told  chan struct{} // guarded by the upstream's mu; closed when it answered

	mu      sync.Mutex
	last    uint64                        // guarded by mu; id of the last request
	pending map[uint64]*pending           // guarded by mu
	closed  bool                          // guarded by mu
	ending  bool                          // guarded by mu; by us
	listens map[uint64]bool               // guarded by mu; ids of our listen requests
	asked   map[string]context.CancelFunc // guarded by mu; requests of the server, by id

	arriving atomic.Pointer[limit.Hold] // of the message that is being read
	useful   atomic.Bool                // it has answered a client
	ignored  atomic.Uint64
	stray    sync.Once    // logs the first answer to no request
	requests atomic.Int32 // of the server, being answered
	handlers sync.WaitGroup
	done     chan struct{} // closed when the connection is over
	err      error         // why; valid once done is closed
}

func newConn(u *Upstream, link Link) *conn {
	c := &conn{
		up: u, link: link, pending: map[uint64]*pending{}, listens: map[uint64]bool{},
		asked: map[string]context.CancelFunc{}, done: make(chan struct{}), since: time.Now(),
	}
	c.ctx, c.end = context.WithCancel(u.ctx)
	c.out = sendqueue.New(link, roomToServer, u.opts.Budget)
	if link, ok := link.(Admitter); ok && u.opts.Budget != nil {
		link.Admit(c.admit)
	}
	if w, ok := link.(Watcher); ok {
		w.Watch(c.inFlight)
	}
	u.work.Go(c.read)
	u.work.Go(c.written)
	return c
}

// alive reports whether the connection can still be used.
func (c *conn) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && !c.ending
}

func (c *conn) inFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) - len(c.listens)
}

// read delivers everything the server sends, until the end.
func (c *conn) read() { c.over(c.readAll()) }

func (c *conn) readAll() (err error) {
	defer c.up.saved("reading what the server sends", &err)
	for {
		raw, err := c.link.Read()
		if err != nil {
			if cut, ok := errors.AsType[Cut](err); ok {
				c.cut(cut)
				continue
			}
			if failed, ok := errors.AsType[Unanswered](err); ok {
				c.unanswered(failed)
				continue
			}
			return err
		}
		c.take(raw)
	}
}

// take takes one message. It passes the message's memory on, or gives it back.
func (c *conn) take(raw []byte) {
	held := c.arriving.Swap(nil)
	m, err := mcp.Parse(raw)
	switch {
	case err != nil:
		c.invalid(err)
	case m.IsResponse():
		c.deliver(m, held)
		return
	case m.IsNotification():
		c.notified(m)
	default:
		c.requested(m, held)
		return
	}
	held.Release()
}

// admit reserves the memory of a message that is about to be read. Small messages
// are bounded by the requests in flight and by the queues that take them.
func (c *conn) admit(size int) bool {
	if size <= limit.Small {
		return true
	}
	held, err := c.up.opts.Budget.Hold(size)
	c.arriving.Swap(held).Release() // of a message that was read to the end of a closed link
	return err == nil
}

// written ends the connection when the server cannot be written to: a message
// may have arrived in part.
func (c *conn) written() {
	<-c.out.Done()
	if c.out.Err() != nil {
		c.link.Close(0)
	}
}

// over ends the connection: every pending call fails at once.
func (c *conn) over(err error) {
	c.mu.Lock()
	c.closed = true
	switch {
	case c.ending:
		err = errEnding
	case err == io.EOF && c.out.Err() != nil:
		err = fault.Because(fault.UpstreamExited, c.out.Err(), "writing to the server")
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
		c.link.Close(0) // first, for a message that is being written to nobody
		_ = c.out.Close()
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
			c.cancel(p, reason)
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

// gone says why a connection that has just ended did.
func (c *conn) gone() error {
	c.mu.Lock()
	ending := c.ending
	c.mu.Unlock()
	if ending {
		return errEnding
	}
	select {
	case <-c.done:
		return c.err
	case <-time.After(time.Second):
		return fault.New(fault.UpstreamExited, "the server ended the connection")
	}
}

// errEnding is what calls fail with when the connection is closed by us.
var errEnding = fault.New(fault.UpstreamStopped, "the connection was closed")

// notify sends a notification.
func (c *conn) notify(ctx context.Context, method string, params []byte) error {
	return c.send(ctx, mcp.AppendNotification(nil, method, params))
}

// send sends a message that is no request.
func (c *conn) send(ctx context.Context, text []byte) error {
	msg := sendqueue.Text(text)
	if err := c.fits(msg); err != nil {
		return err
	}
	return c.out.Send(ctx, msg)
}
