package httpserver

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// streamQueueBytes bounds the messages that are queued for a client that does
// not read, without answers.
const streamQueueBytes = 4 << 20

// An sseStream is the stream of a modern request, or of a client over HTTP+SSE.
// It cannot be resumed. The exchange, or the stream of a client over HTTP+SSE, owns it and ends
// it with finish. Its queue may be used concurrently.
type sseStream struct {
	*sendqueue.Queue
	alive *time.Timer
}

// newSSEStream begins to stream the answer of an exchange.
func newSSEStream(x *exchange) streamer {
	return x.server.openStream(newEventWriter(x.w, x.settings.Send), x.settings.Keepalive)
}

// openStream returns a stream that sends comments while no message is sent, at an
// interval of keepalive.
func (srv *Server) openStream(e *eventWriter, keepalive time.Duration) *sseStream {
	sink := &eventSink{eventWriter: e}
	b := &sseStream{Queue: sendqueue.New(sink, streamQueueBytes, srv.memory)}
	sink.dropped.Store(b.Queue)
	b.alive = time.AfterFunc(time.Hour, func() { // an hour: not before the field is set
		select {
		case <-b.Done():
			return
		default:
		}
		// If the client does not take this comment, the connection is closed
		// before the next one.
		_ = b.Push(sendqueue.Text(comment))
		b.alive.Reset(keepalive)
	})
	b.alive.Reset(keepalive)
	return b
}

// finish sends the answer and waits until it is written.
func (s *sseStream) finish(answer sendqueue.Message) {
	if answer.Head != nil {
		_ = s.Push(answer)
	}
	s.alive.Stop()
	_ = s.Close()
}

// An eventSink writes messages as events and everything else verbatim. Only the goroutine that
// writes the queue calls its methods.
type eventSink struct {
	*eventWriter
	dropped  atomic.Pointer[sendqueue.Queue] // the queue, which counts dropped messages
	reported uint64                          // dropped messages that the client knows about
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

// Flush sends buffered data and reports dropped messages to the client.
func (s *eventSink) Flush() error {
	if queue := s.dropped.Load(); queue != nil && queue.Dropped() > s.reported {
		n := queue.Dropped()
		if err := s.event("lagged", "", fmt.Appendf(nil, `{"dropped":%d}`, n-s.reported)); err != nil {
			return err
		}
		s.reported = n
	}
	return s.flush()
}
