package upstream

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

const (
	sendQueueBytes = 64 << 20 // bytes in the send queue of a server
	cancelWindow   = 100 * time.Millisecond

	maxServerRequests = 32 // unanswered requests of the server, above which new ones are rejected

	defaultMessage = 16 << 20 // default limit of a message to the server, in bytes
)

// The era of a connection. It is zero until the handshake is over.
const (
	legacyEra = iota + 1
	modernEra
)

// A conn is one connection to the server, including its handshake.
type conn struct {
	up   *Upstream
	link Link
	out  *sendqueue.Queue
	ctx  context.Context // canceled when the connection ends
	end  context.CancelFunc

	era atomic.Int32 // for the reading goroutine, which runs during the handshake

	// Set by the handshake.
	revision     mcp.Revision
	serverInfo   []byte
	capabilities []byte
	instructions string
	offered      []byte // client capabilities sent to a legacy server
	since        time.Time
	started      time.Time      // start of the connection attempt
	lists        *listenRequest // list changes of a modern server

	level    string        // guarded by the upstream's mu; the last level sent to the server
	levelSet chan struct{} // guarded by the upstream's mu; closed when the server answered it

	mu             sync.Mutex
	last           uint64                        // guarded by mu; id of the newest request
	noted          uint64                        // guarded by mu; see excuses
	pending        map[uint64]*pending           // guarded by mu
	tasks          map[uint64]*pending           // guarded by mu; requests for results of tasks, by the id of the call
	closed         bool                          // guarded by mu
	ending         bool                          // guarded by mu; the host is closing the connection
	listens        map[uint64]bool               // guarded by mu; ids of open listen requests
	serverRequests map[string]context.CancelFunc // guarded by mu; unanswered requests of the server, by id

	arriving  atomic.Pointer[limit.Hold] // memory of the message being read
	useful    atomic.Bool                // the server has answered a client's request
	ignored   atomic.Uint64
	unmatched unmatched
	strays    strayCount
	requests  atomic.Int32 // unanswered requests of the server
	handlers  sync.WaitGroup
	done      chan struct{} // closed when the connection has ended
	err       error         // why the connection ended; valid after done is closed
}

func newConn(u *Upstream, link Link) *conn {
	c := &conn{
		up: u, link: link, pending: map[uint64]*pending{}, listens: map[uint64]bool{},
		serverRequests: map[string]context.CancelFunc{}, done: make(chan struct{}), since: time.Now(),
	}
	c.ctx, c.end = context.WithCancel(u.ctx)
	c.out = sendqueue.New(link, sendQueueBytes, u.opts.Budget)
	if link, ok := link.(Admitter); ok && u.opts.Budget != nil {
		link.Admit(c.admit)
	}
	if w, ok := link.(Watcher); ok {
		w.Watch(c.inFlight)
	}
	u.work.Go(c.read)
	u.work.Go(c.watchWriter)
	return c
}

// alive reports whether the connection accepts requests.
func (c *conn) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && !c.ending
}

// inFlight returns the number of unanswered requests, without listen requests.
func (c *conn) inFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) - len(c.listens)
}

// read handles all messages of the server and ends the connection afterwards.
func (c *conn) read() { c.terminate(c.readAll()) }

func (c *conn) readAll() (err error) {
	defer fault.Recover(&err, c.up.opts.Log, c.up.opts.Name, "reading from the server")
	for {
		raw, err := c.link.Read()
		if err != nil {
			if cut, ok := errors.AsType[Cut](err); ok {
				c.handleCut(cut)
				continue
			}
			if failed, ok := errors.AsType[Unanswered](err); ok {
				c.handleUnanswered(failed)
				continue
			}
			return err
		}
		c.handleMessage(raw)
	}
}

// handleMessage handles one message. It passes the message's memory on or
// releases it.
func (c *conn) handleMessage(raw []byte) {
	held := c.arriving.Swap(nil)
	m, err := mcp.Parse(raw)
	if err != nil {
		c.handleBroken(raw, held, err)
		return
	}
	c.handleParsed(m, held)
}

// handleBroken handles a line that is no message, for the given reason, or not exactly one.
func (c *conn) handleBroken(raw []byte, held *limit.Hold, why error) {
	messages, lost := mcp.Repair(raw)
	if len(messages) == 0 {
		c.handleInvalid(why)
	}
	log := func(level hclog.Level, text string, args ...any) {
		c.up.opts.Lines.Log(level, c.up.opts.Name, text, args...)
	}
	var parsed []*mcp.Message
	for _, text := range messages {
		m, err := mcp.Parse(text)
		if err != nil {
			c.handleInvalid(err)
			continue
		}
		parsed = append(parsed, m)
	}
	if len(parsed) > 0 {
		log(hclog.Warn, "the server sent a message that strict clients refuse; it was mended", "error", why, "messages", len(parsed))
	}
	for _, item := range lost {
		log(hclog.Warn, "the server sent an item that no client could read; it is left out", "item", item)
	}
	if len(parsed) == 1 {
		c.handleParsed(parsed[0], held)
		return
	}
	for _, m := range parsed {
		c.handleParsed(m, nil) // each is small
	}
	held.Release()
}

// handleParsed handles one message and its memory.
func (c *conn) handleParsed(m *mcp.Message, held *limit.Hold) {
	switch {
	case m.IsResponse():
		c.deliver(m, held)
		return
	case m.IsNotification():
		c.handleNotification(m)
	default:
		c.handleRequest(m, held)
		return
	}
	held.Release()
}

// admit reserves memory for a message before it is read. Small messages need no
// reservation: the limits of requests and queues bound them.
func (c *conn) admit(size int) bool {
	if size <= limit.Small {
		return true
	}
	held, err := c.up.opts.Budget.Hold(size)
	c.arriving.Swap(held).Release() // memory of a message that the link never delivered
	return err == nil
}

// watchWriter closes the link when writing fails, because a message may have
// been written partially.
func (c *conn) watchWriter() {
	<-c.out.Done()
	if c.out.Err() != nil {
		c.link.Close(0)
	}
}

// terminate ends the connection and fails every pending call.
func (c *conn) terminate(err error) {
	c.mu.Lock()
	c.closed = true
	switch {
	case c.ending:
		err = errEnding
	case err == io.EOF && c.out.Err() != nil:
		err = fault.Because(fault.UpstreamExited, c.out.Err(), "writing to the server").WithHint(endedHint)
	case err == io.EOF:
		err = fault.New(fault.UpstreamExited, "the server ended the connection").WithHint(endedHint)
	}
	all := c.pending
	c.pending = map[uint64]*pending{}
	c.mu.Unlock()
	for _, p := range all {
		p.answer <- answer{err: err}
	}
	c.end()
	c.up.work.Go(func() {
		c.link.Close(0) // before the queue, which may be blocked in a write
		_ = c.out.Close()
		c.handlers.Wait()
		c.err = err
		close(c.done)
	})
}

// close ends the connection. It cancels the calls in flight with the given reason,
// then closes the link within grace.
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
		if !isHandshake(p.method) {
			c.cancel(p, reason)
		}
	}
	flushed := make(chan struct{})
	go func() { defer close(flushed); _ = c.out.Close() }()
	select {
	case <-flushed:
	case <-ctx.Done(): // the server does not read
	}
	c.link.Close(grace)
	<-c.done
}

// endError returns why the connection ended. It waits up to one second for the
// reason.
func (c *conn) endError() error {
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
		return fault.New(fault.UpstreamExited, "the server ended the connection").WithHint(endedHint)
	}
}

// endedHint is the hint for a server that ended its connection without a reason.
const endedHint = "call again to reconnect, and read the log of the server to see why it ended"

// errEnding is the error of calls when the host closes the connection.
var errEnding = fault.New(fault.UpstreamStopped, "the connection was closed")

// notify sends a notification.
func (c *conn) notify(ctx context.Context, method string, params []byte) error {
	return c.send(ctx, mcp.AppendNotification(nil, method, params))
}

// send sends a message that is not a request.
func (c *conn) send(ctx context.Context, text []byte) error {
	msg := sendqueue.Text(text)
	if err := c.fits(msg); err != nil {
		return err
	}
	c.sendsNoRequest()
	return c.out.Send(ctx, msg)
}
