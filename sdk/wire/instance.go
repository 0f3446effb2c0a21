package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	// drainTimeout limits how long Close waits until the server has received the
	// messages that the host sent before, such as cancellations.
	drainTimeout = 500 * time.Millisecond
	// closeWait is the time in which a host that ended its stream may call Close.
	closeWait = 100 * time.Millisecond
	// closeGrace is the time to close a connection without a call of Close.
	closeGrace = 2 * time.Second
)

// An instance is one open connection to a server. It copies messages between
// the author's Conn and the host's stream, with one goroutine for each
// direction. Server.open makes it, and Control.Open starts run, which owns the
// Conn and the stream and closes both. close may be called from any goroutine.
type instance struct {
	conn  sdk.Conn
	limit int // maximum size of a message in bytes
	log   hclog.Logger

	once    sync.Once
	sent    chan struct{} // closed when every message from the host was sent to the server
	ended   chan struct{} // closed when the connection is closed
	recvEnd chan struct{} // closed when no more messages come from the server

	failure atomic.Pointer[error] // panic or error of Send that ended the connection; nil: none
	closing atomic.Bool           // close was called

	piped    sdk.Piped // the connection, if the host takes its streams; else nil
	from, to *os.File  // these streams, until they are passed
}

func newInstance(conn sdk.Conn, limit int, log hclog.Logger) *instance {
	return &instance{conn: conn, limit: limit, log: log, sent: make(chan struct{}), ended: make(chan struct{}),
		recvEnd: make(chan struct{})}
}

// takePipes takes the server's own streams from the connection, to pass them to the
// host. It reports whether it did.
func (i *instance) takePipes(wanted bool) bool {
	p, ok := i.conn.(sdk.Piped)
	if !ok || !wanted {
		return false
	}
	from, to := p.Pipes()
	if from == nil || to == nil || !passable(from) || !passable(to) {
		return false
	}
	i.piped, i.from, i.to = p, from, to
	p.PipesPassed()
	return true
}

// stream returns the stream to the host.
func (i *instance) stream(c net.Conn) *Stream {
	if i.piped != nil {
		return newEventStream(c)
	}
	return NewStream(c, i.limit)
}

// run copies messages between the connection and the host's stream until either
// ends. It returns when both are closed.
func (i *instance) run(accept func() (net.Conn, error)) {
	c, err := accept()
	if err == nil && i.piped != nil {
		err = sendPipes(c.(*socket).UnixConn, i.from, i.to)
	}
	if err != nil {
		i.closePipes()
		close(i.sent)
		close(i.recvEnd)
		i.log.Warn("the host did not connect to the data stream", "error", err)
		i.close(expired())
		return
	}
	stream := i.stream(c)
	to := &hostWriter{stream: stream, limit: i.limit, log: i.log}
	go func() {
		defer close(i.sent)
		if err := withRecover(i.log, func() error { i.fromHost(stream, to); return nil }); err != nil {
			i.failure.Store(&err)
			go i.close(expired()) // ends Recv; run then reports the panic
			return
		}
		go i.closeUnasked()
	}()
	go i.endStuckStream(stream)
	end := withRecover(i.log, func() error { return i.toHost(to) })
	close(i.recvEnd)

	grace, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	i.close(grace)
	if errors.Is(end, io.EOF) {
		end = nil
	}
	if err := i.failure.Load(); err != nil {
		end = *err
	}
	to.closed(end)
	_ = c.SetReadDeadline(time.Now()) // the host need not close its side
	<-i.sent
	stream.Leave() // ends reading too if the author's code ended the connection before the host did
}

// closePipes closes the server's own streams if they were not passed.
func (i *instance) closePipes() {
	if i.piped != nil {
		_ = i.from.Close()
		_ = i.to.Close()
	}
}

// toHost copies messages from the server to the host. It returns the reason of
// the end, or io.EOF if the host ended the stream.
func (i *instance) toHost(to *hostWriter) error {
	if l, ok := i.conn.(sdk.Limiter); ok {
		l.LimitMessages(i.limit)
	}
	w, gathers := i.conn.(sdk.Waiter)
	r, _ := i.conn.(sdk.Relater)
	if gathers {
		w.BeforeWait(func() { _ = to.flush() }) // the next write returns the error
	}
	for {
		msg, err := i.conn.Recv()
		if err == nil && len(msg) == 0 {
			err = sdk.Errorf(sdk.Internal, "Recv of the transport returned neither a message nor an error")
		}
		if err == nil {
			err = to.forward(msg, r)
		} else if d, ok := errors.AsType[*sdk.Dropped](err); ok {
			err = to.dropped(d)
		} else if f, ok := errors.AsType[*sdk.Failed](err); ok {
			err = to.failed(f)
		} else {
			_ = to.flush()
			return err
		}
		if err == nil && !gathers {
			err = to.flush()
		}
		if err != nil {
			i.log.Debug("sending to the host", "error", err)
			return io.EOF
		}
	}
}

// pipeEvent tells the connection what the host has seen. Events that only later versions
// know are ignored.
func (i *instance) pipeEvent(ev *Event) {
	switch {
	case i.piped == nil:
	case ev.Name == eventFirstMessage:
		i.piped.PipeEvent(sdk.FirstMessage)
	case ev.Name == eventEndOfOutput:
		i.piped.PipeEvent(sdk.EndOfOutput)
	}
}

// closeUnasked closes the connection if the host ended its stream and does not
// call Close in time, for example because it died.
func (i *instance) closeUnasked() {
	select {
	case <-i.ended:
	case <-time.After(closeWait):
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		i.close(ctx)
	}
}

// endStuckStream ends the stream of a closed connection if Recv or the host still waits
// after closeGrace.
func (i *instance) endStuckStream(stream *Stream) {
	<-i.ended
	select {
	case <-i.recvEnd:
	case <-time.After(closeGrace):
		i.log.Warn("the connection was closed but still receives")
		stream.Leave()
	}
}

// drain waits until the messages that the host has sent reach the server.
func (i *instance) drain() {
	select {
	case <-i.sent:
	case <-i.recvEnd:
	case <-time.After(drainTimeout):
	}
}

// close closes the connection once. Every call waits until it is closed.
func (i *instance) close(ctx context.Context) {
	i.once.Do(func() {
		defer close(i.ended)
		i.closing.Store(true)
		if err := withRecover(i.log, func() error { return i.conn.Close(ctx) }); err != nil {
			i.log.Debug("closing", "error", err)
		}
	})
	<-i.ended
}
