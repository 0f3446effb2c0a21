package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// recvTime is how long Recv may take to say why a connection ended that Send can no
// longer use.
const recvTime = 2 * time.Second

// fromHost copies messages from the host to the server. It returns when the host has
// ended the stream, or when Send or Flush has failed in a way that ends the connection. A
// goroutine of instance.run calls it.
func (i *instance) fromHost(stream *Stream, to *hostWriter) {
	if f, ok := i.conn.(sdk.Flusher); ok {
		stream.beforeWait = func() {
			if err := f.Flush(); err != nil {
				stream.beforeWait = nil
				i.breakWith(err) // the next read fails
			}
		}
	}
	for {
		msg, ev, err := stream.Read()
		switch {
		case err != nil:
			return
		case msg == nil:
			i.pipeEvent(ev)
			continue
		}
		if err := i.conn.Send(msg); err != nil && !i.fail(to, msg, err) {
			stream.beforeWait = nil
			i.breakWith(err)
			return
		}
	}
}

// fail handles an error of Send for one message. It returns false if the connection
// cannot go on: it is over, or the message was no request whose failure could be reported.
func (i *instance) fail(to *hostWriter, msg []byte, err error) (goesOn bool) {
	i.log.Debug("sending to the server", "error", err)
	id := requestID(msg)
	if f, ok := errors.AsType[*sdk.Failed](err); ok {
		told := *f
		if told.ID == nil {
			told.ID = id
		}
		return told.ID != nil && to.failed(&told) == nil && to.flush() == nil
	}
	if id == nil || isOver(err) {
		return false
	}
	// The server may have received a part of the message, or all of it.
	failed := &sdk.Failed{ID: id, Err: asError(err), Delivered: true}
	return to.failed(failed) == nil && to.flush() == nil
}

// breakWith ends the connection with an error of Send or Flush. If the error says that
// the connection is over, Recv has recvTime to end with a better reason.
func (i *instance) breakWith(err error) {
	if isOver(err) {
		select {
		case <-i.recvEnd:
			return
		case <-i.ended:
			return
		case <-time.After(recvTime):
		}
	}
	if i.closing.Load() {
		return
	}
	var failure error = asError(err)
	i.failure.Store(&failure)
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	i.close(ctx)
}

// isOver reports whether an error of Send or Flush says that the way to the server is
// closed. Recv then ends too, and knows why.
func isOver(err error) bool {
	for _, over := range []error{io.EOF, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed, syscall.EPIPE,
		syscall.ECONNRESET, context.Canceled} {
		if errors.Is(err, over) {
			return true
		}
	}
	return sdk.CodeOf(err) == sdk.Canceled
}

// asError returns an error of Send as an [sdk.Error], with the text that was wrapped
// around it. An error without a code becomes one of code Unavailable.
func asError(err error) *sdk.Error {
	e := *flatten(err)[0]
	if _, ok := errors.AsType[*sdk.Error](err); !ok && e.Code == plainCode {
		e.Message = "sending to the server: " + e.Message
	}
	return &e
}

// requestID returns the id of a request, or nil if msg is another message.
func requestID(msg []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	if json.Unmarshal(msg, &m) != nil || m.Method == nil || len(m.ID) == 0 {
		return nil
	}
	return m.ID
}
