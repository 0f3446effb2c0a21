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

// A conn is one connection to the server, including its handshake. An attempt makes it. It ends
// with its link: because the server ended that, or by close. One goroutine reads (dispatcher),
// one writes (writer.out), and watchWriter waits for the latter. Fields above table, and table
// to listener, are set by newConn. Those of the handshake do not change after it and are read
// when the connection is ready.
type conn struct {
	up   *Upstream
	link Link
	ctx  context.Context // canceled when the connection ends
	end  context.CancelFunc

	table      *requestTable // what is not answered
	writer     *writer
	dispatcher *dispatcher
	listener   *listener

	era atomic.Int32 // for the reading goroutine, which runs during the handshake

	// Set by the handshake.
	revision     mcp.Revision
	serverInfo   []byte
	capabilities []byte
	instructions string
	offered      []byte // client capabilities sent to a legacy server
	since        time.Time
	started      time.Time // start of the connection attempt

	level    string        // guarded by the upstream's mu; the last level sent to the server
	levelSet chan struct{} // guarded by the upstream's mu; closed when the server answered it

	useful    atomic.Bool // the server has answered a client's request
	ignored   atomic.Uint64
	unmatched unmatched
	strays    strayCount
	requests  atomic.Int32 // unanswered requests of the server
	handlers  sync.WaitGroup
	done      chan struct{} // closed when the connection has ended
	err       error         // why the connection ended; valid after done is closed
}

func newConn(u *Upstream, link Link) *conn {
	c := &conn{up: u, link: link, table: newRequestTable(), done: make(chan struct{}), since: time.Now()}
	c.ctx, c.end = context.WithCancel(u.ctx)
	c.writer = &writer{
		out:       sendqueue.New(link, sendQueueBytes, u.opts.Budget),
		table:     c.table,
		unmatched: &c.unmatched,
		max:       u.opts.MaxMessage,
	}
	c.dispatcher, c.listener = &dispatcher{conn: c}, &listener{conn: c}
	if link, ok := link.(Admitter); ok && u.opts.Budget != nil {
		link.Admit(c.dispatcher.admit)
	}
	if w, ok := link.(Watcher); ok {
		w.Watch(c.table.inFlight)
	}
	u.work.Go(c.read)
	u.work.Go(c.watchWriter)
	return c
}

// read handles all messages of the server and ends the connection afterwards. It runs on a
// goroutine of its own, from newConn on.
func (c *conn) read() { c.terminate(c.dispatcher.readAll()) }

func (d *dispatcher) readAll() (err error) {
	defer fault.Recover(&err, d.conn.up.opts.Log, d.conn.up.opts.Name, "reading from the server")
	for {
		raw, err := d.conn.link.Read()
		if err != nil {
			if cut, ok := errors.AsType[Cut](err); ok {
				d.handleCut(cut)
				continue
			}
			if failed, ok := errors.AsType[Unanswered](err); ok {
				d.handleUnanswered(failed)
				continue
			}
			return err
		}
		d.handleMessage(raw)
	}
}

// handleMessage handles one message. It passes the message's memory on or
// releases it.
func (d *dispatcher) handleMessage(raw []byte) {
	held := d.arriving.Swap(nil)
	m, err := mcp.Parse(raw)
	if err != nil {
		d.handleBroken(raw, held, err)
		return
	}
	d.handleParsed(m, held)
}

// handleBroken handles a line that is no message, for the given reason, or not exactly one.
func (d *dispatcher) handleBroken(raw []byte, held *limit.Hold, why error) {
	messages, lost := mcp.Repair(raw)
	if len(messages) == 0 {
		d.handleInvalid(why)
	}
	log := func(level hclog.Level, text string, args ...any) {
		d.conn.up.opts.Lines.Log(level, d.conn.up.opts.Name, text, args...)
	}
	var parsed []*mcp.Message
	for _, text := range messages {
		m, err := mcp.Parse(text)
		if err != nil {
			d.handleInvalid(err)
			continue
		}
		parsed = append(parsed, m)
	}
	if len(parsed) > 0 {
		log(hclog.Warn, "the server sent a message that strict clients refuse; it was mended",
			"error", why, "messages", len(parsed))
	}
	for _, item := range lost {
		log(hclog.Warn, "the server sent an item that no client could read; it is left out", "item", item)
	}
	if len(parsed) == 1 {
		d.handleParsed(parsed[0], held)
		return
	}
	for _, m := range parsed {
		d.handleParsed(m, nil) // each is small
	}
	held.Release()
}

// handleParsed handles one message and its memory.
func (d *dispatcher) handleParsed(m *mcp.Message, held *limit.Hold) {
	switch {
	case m.IsResponse():
		d.deliver(m, held)
		return
	case m.IsNotification():
		d.handleNotification(m)
	default:
		d.handleRequest(m, held)
		return
	}
	held.Release()
}

// admit reserves memory for a message before it is read. Small messages need no
// reservation: the limits of requests and queues bound them.
func (d *dispatcher) admit(size int) bool {
	if size <= limit.Small {
		return true
	}
	held, err := d.conn.up.opts.Budget.Hold(size)
	d.arriving.Swap(held).Release() // memory of a message that the link never delivered
	return err == nil
}

// watchWriter closes the link when writing fails, because a message may have
// been written partially.
func (c *conn) watchWriter() {
	<-c.writer.out.Done()
	if c.writer.out.Err() != nil {
		c.link.Close(0)
	}
}

// terminate ends the connection and fails every pending call. The reading goroutine calls it,
// once, at its end.
func (c *conn) terminate(err error) {
	all, ending := c.table.drain()
	switch {
	case ending:
		err = errEnding
	case err == io.EOF && c.writer.out.Err() != nil:
		err = fault.Because(fault.UpstreamExited, c.writer.out.Err(), "writing to the server").WithHint(endedHint)
	case err == io.EOF:
		err = fault.New(fault.UpstreamExited, "the server ended the connection").WithHint(endedHint)
	}
	for _, p := range all {
		p.answer <- answer{err: err}
	}
	c.end()
	c.up.work.Go(func() {
		c.link.Close(0) // before the queue, which may be blocked in a write
		_ = c.writer.out.Close()
		c.handlers.Wait()
		c.err = err
		close(c.done)
	})
}

// close ends the connection. It cancels the calls in flight with the given reason,
// then closes the link within grace. It blocks until the connection has ended, so the reading
// goroutine must not call it. It may be called more than once.
func (c *conn) close(reason string, grace time.Duration) {
	open := c.table.setEnding()
	ctx, cancel := context.WithTimeout(context.Background(), cancelWindow)
	defer cancel()
	for _, p := range open {
		if !isHandshake(p.method) {
			c.writer.cancel(p, reason)
		}
	}
	flushed := make(chan struct{})
	go func() { defer close(flushed); _ = c.writer.out.Close() }()
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
	if c.table.isEnding() {
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
