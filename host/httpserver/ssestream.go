package httpserver

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// roomInStream is what may wait for a client that does not read, in bytes,
// besides answers.
const roomInStream = 4 << 20

// A sseStream is the stream of a modern request, or of a client over HTTP with
// SSE: what was sent on it is gone.
type sseStream struct {
	*sendqueue.Queue
	alive *time.Timer
}

// newSSEStream begins to stream the answer of an exchange.
func newSSEStream(x *exchange) streamer {
	return x.front.openStream(newEvents(x.w, x.front.o.Send))
}

// openStream makes a stream of events, with comments where nothing is sent.
func (f *Server) openStream(e *events) *sseStream {
	keepalive := f.o.Keepalive
	sink := &eventSink{events: e}
	b := &sseStream{Queue: sendqueue.New(sink, roomInStream, f.budget)}
	sink.dropped.Store(b.Queue)
	b.alive = time.AfterFunc(time.Hour, func() { // an hour: not before the field is set
		select {
		case <-b.Done():
			return
		default:
		}
		// A client that does not even take this is given up before the next one.
		_ = b.Push(sendqueue.Text(comment))
		b.alive.Reset(keepalive)
	})
	b.alive.Reset(keepalive)
	return b
}

// finish sends the answer and waits until it was written.
func (b *sseStream) finish(answer sendqueue.Message) {
	if answer.Head != nil {
		_ = b.Push(answer)
	}
	b.alive.Stop()
	_ = b.Close()
}

// An eventSink writes each message as an event, and what is none as it stands.
type eventSink struct {
	*events
	dropped atomic.Pointer[sendqueue.Queue] // counts what was dropped
	told    uint64                          // of what was dropped
}

func (s *eventSink) Write(parts ...[]byte) error {
	if !s.begun {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if parts[0][0] != '{' {
		return s.write(parts...)
	}
	return s.event("message", "", parts...)
}

// Flush sends what was written, and says what was not.
func (s *eventSink) Flush() error {
	if box := s.dropped.Load(); box != nil && box.Dropped() > s.told {
		n := box.Dropped()
		if err := s.event("lagged", "", fmt.Appendf(nil, `{"dropped":%d}`, n-s.told)); err != nil {
			return err
		}
		s.told = n
	}
	return s.flush()
}
