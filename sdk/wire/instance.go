package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	// drainFor is how long a Close waits for the messages that the host sent
	// before it, such as cancellations.
	drainFor = 500 * time.Millisecond
	// askFor is how long a host that ended its stream has to ask for a Close.
	askFor = 100 * time.Millisecond
	// closeGrace is for a connection whose host stream ended unasked.
	closeGrace = 2 * time.Second
)

// An instance is one open connection in the plugin: the author's Conn on one
// side, the host's stream on the other, and a goroutine for each direction.
type instance struct {
	conn  sdk.Conn
	limit int // of a message
	log   hclog.Logger

	once    sync.Once
	sent    chan struct{} // closed when everything from the host has been sent on
	ended   chan struct{} // closed when the connection has been closed
	recvEnd chan struct{} // closed when nothing more comes from the server

	panicked atomic.Pointer[error] // of Send; nil: it did not panic
}

func newInstance(conn sdk.Conn, limit int, log hclog.Logger) *instance {
	return &instance{conn: conn, limit: limit, log: log, sent: make(chan struct{}), ended: make(chan struct{}), recvEnd: make(chan struct{})}
}

// run joins the connection to the host's stream until either ends. It returns
// when nothing is left of both.
func (i *instance) run(accept func() (net.Conn, error)) {
	c, err := accept()
	if err != nil {
		close(i.sent)
		close(i.recvEnd)
		i.log.Warn("the host did not come for the connection", "error", err)
		i.close(expired())
		return
	}
	stream := NewStream(c, i.limit)
	go func() {
		defer close(i.sent)
		if err := i.guard(func() error { return i.fromHost(stream) }); sdk.CodeOf(err) == sdk.Panicked {
			i.panicked.Store(&err)
			go i.close(expired()) // Recv returns, and run reports the panic
			return
		}
		go i.closeUnasked()
	}()
	go i.hangUp(stream)
	end := i.guard(func() error { return i.toHost(stream) })
	close(i.recvEnd)

	grace, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	i.close(grace)
	if err := i.panicked.Load(); err != nil {
		end = *err
	}
	closed := Event{Name: "closed"}
	if end != nil && !errors.Is(end, io.EOF) {
		s := StatusOf(end)
		closed.Status = &s
	}
	_ = stream.SetWriteDeadline(time.Now().Add(closeGrace))
	if stream.WriteEvent(closed) == nil {
		_ = stream.Flush()
	}
	_ = stream.Close()
	_ = c.SetReadDeadline(time.Now()) // the host may keep its side open as long as it likes
	<-i.sent
	stream.Leave() // the author's code may have ended the reading, and not the host
}

// toHost passes messages on from the server. It returns why there are no more,
// or io.EOF when that is the host's own doing.
func (i *instance) toHost(stream *Stream) error {
	if l, ok := i.conn.(sdk.Limiter); ok {
		l.LimitMessages(i.limit)
	}
	w, gathers := i.conn.(sdk.Waiter)
	r, _ := i.conn.(sdk.Relater)
	if gathers {
		w.BeforeWait(func() { _ = stream.Flush() }) // the next write has the error
	}
	for {
		msg, err := i.conn.Recv()
		if err == nil && len(msg) == 0 {
			err = sdk.Errorf(sdk.Internal, "the transport received neither a message nor an error")
		}
		if err == nil {
			err = i.pass(stream, msg, r)
		} else if d, ok := errors.AsType[*sdk.Dropped](err); ok {
			err = writeDropped(stream, d)
		} else if f, ok := errors.AsType[*sdk.Failed](err); ok {
			err = writeFailed(stream, f)
		} else {
			_ = stream.Flush()
			return err
		}
		if err == nil && !gathers {
			err = stream.Flush()
		}
		if err != nil {
			i.log.Debug("sending to the host", "error", err)
			return io.EOF
		}
	}
}

// pass passes one message on to the host, or says why not.
func (i *instance) pass(stream *Stream, msg []byte, r sdk.Relater) error {
	received := msg
	msg, err := ndjson.Message(msg)
	switch {
	case err != nil:
		i.log.Warn("the transport received what is not a message")
		return writeDropped(stream, &sdk.Dropped{Reason: "bad_message", Size: int64(len(received)), Prefix: received})
	case len(msg) > i.limit:
		return writeDropped(stream, &sdk.Dropped{Reason: "message_too_large", Size: int64(len(msg)), Limit: int64(i.limit), Prefix: msg})
	}
	if r != nil {
		if id := r.Related(); len(id) > 0 {
			if err := stream.WriteEvent(Event{Name: "related", ID: id[:min(len(id), prefixKept)]}); err != nil {
				return err
			}
		}
	}
	return stream.WriteMessage(msg)
}

func writeFailed(stream *Stream, f *sdk.Failed) error {
	s := StatusOf(f.Unwrap())
	return stream.WriteEvent(Event{
		Name: "failed", Status: &s, ID: f.ID[:min(len(f.ID), prefixKept)], Delivered: f.Delivered, Ends: f.Ends,
	})
}

func writeDropped(stream *Stream, d *sdk.Dropped) error {
	return stream.WriteEvent(Event{
		Name: "dropped", Reason: clip(d.Reason, textKept), Size: d.Size, Limit: d.Limit, Prefix: d.Prefix[:min(len(d.Prefix), prefixKept)],
	})
}

// fromHost passes messages on to the server until the host ends the stream.
func (i *instance) fromHost(stream *Stream) error {
	send := i.conn.Send
	if f, ok := i.conn.(sdk.Flusher); ok {
		stream.beforeWait = func() { _ = f.Flush() } // the next Send has the error
	}
	for {
		msg, _, err := stream.Read()
		if err != nil {
			return err
		}
		if msg == nil {
			continue // an event of a later version
		}
		if err := send(msg); err != nil {
			// Recv reports the reason better: it knows how the server ended.
			i.log.Debug("sending to the server", "error", err)
			stream.beforeWait = nil
			send = func([]byte) error { return nil }
		}
	}
}

// closeUnasked closes the connection when the host ended its stream and no
// Close call comes, as when the host died.
func (i *instance) closeUnasked() {
	select {
	case <-i.ended:
	case <-time.After(askFor):
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		i.close(ctx)
	}
}

// hangUp ends the stream of a connection that was closed but whose Recv, or
// whose host, still waits. Neither may hold up the other.
func (i *instance) hangUp(stream *Stream) {
	<-i.ended
	select {
	case <-i.recvEnd:
	case <-time.After(closeGrace):
		i.log.Warn("the connection was closed but still receives")
		stream.Leave()
	}
}

// drain waits until what the host sent so far has reached the server.
func (i *instance) drain() {
	select {
	case <-i.sent:
	case <-i.recvEnd:
	case <-time.After(drainFor):
	}
}

// close closes the connection once; every call returns when that is done.
func (i *instance) close(ctx context.Context) {
	i.once.Do(func() {
		defer close(i.ended)
		if err := i.guard(func() error { return i.conn.Close(ctx) }); err != nil {
			i.log.Debug("closing", "error", err)
		}
	})
	<-i.ended
}

func (i *instance) guard(f func() error) error { return guard(i.log, f) }

// guard keeps a panic in the author's code from ending the whole plugin.
func guard(log hclog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			log.Error("panic", "value", v, "stack", string(stack))
			err = panicked(v, stack).Err()
		}
	}()
	return f()
}
