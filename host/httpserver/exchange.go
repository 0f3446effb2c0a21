package httpserver

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// streamAfter is how long an answer may take before it becomes a stream, which
// can be kept alive and, in a session, resumed.
const streamAfter = time.Second

// An exchange is one POST with a request. Its answer is a JSON body, unless
// messages are sent before the answer or the answer takes long. It is then a
// stream whose last event is the answer. The goroutine of the request makes it and calls
// finish. The gateway calls the methods of gateway.Stream, and the timer of SlowResponses Slow,
// from other goroutines. All fields above mu are set by then.
type exchange struct {
	server   *Server
	settings *active
	w        http.ResponseWriter
	r        *http.Request
	takes    accept
	to       func(*exchange) streamer // creates the stream

	mu      sync.Mutex
	stream  streamer // guarded by mu; nil: not a stream
	streams func()   // guarded by mu; undoes httpconn.MarkStream
	over    bool     // guarded by mu; only the answer can be sent
}

// A streamer is a stream that ends with an answer. The exchange ends it: finish is called at
// most once.
type streamer interface {
	gateway.Stream
	// finish sends the answer, if it is not empty, and returns when everything
	// is written or cannot be written.
	finish(answer sendqueue.Message)
}

var _ gateway.Stream = (*exchange)(nil)

func (srv *Server) exchange(w http.ResponseWriter, r *http.Request, settings *active, takes accept,
	to func(*exchange) streamer) *exchange {
	x := &exchange{server: srv, settings: settings, w: w, r: r, takes: takes, to: to}
	if takes.stream {
		srv.slow.Begin(x)
	}
	return x
}

// Slow makes the answer a stream and sends its first bytes, so that the client
// knows that the request is in progress. The goroutine of the timer calls it.
func (x *exchange) Slow() {
	x.mu.Lock()
	waits := x.stream == nil && !x.over
	x.mu.Unlock()
	if stream, ok := x.open().(*sseStream); ok && waits {
		stream.TrySend(sendqueue.Text(comment)) // a resumable stream begins with an id instead
	}
}

// open makes the answer a stream if the client accepts one, and returns the
// stream. It returns nil if there is none or the answer was sent.
func (x *exchange) open() streamer {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream == nil && !x.over && x.takes.stream {
		x.stream, x.streams = x.to(x), httpconn.MarkStream(x.r)
	}
	if x.over {
		return nil
	}
	return x.stream
}

// finish sends the answer. An empty answer becomes status 204. Unless the answer is a
// stream already, the time after which the client may try again is also a header: proxies
// do not read bodies. It is called once, and blocks until the answer is written or cannot be.
func (x *exchange) finish(a *gateway.Answer, status int) {
	answer := a.Message
	if x.takes.stream {
		x.server.slow.End(x)
	}
	x.mu.Lock()
	x.over = true
	stream := x.stream
	x.mu.Unlock()
	if stream == nil && a.RetryAfter > 0 {
		setRetryAfter(x.w, a.RetryAfter)
	}
	switch {
	case stream != nil:
		x.end(stream, answer)
	case answer.Head == nil: // the request was cancelled
		x.w.WriteHeader(http.StatusNoContent)
	case !x.takes.json && status == http.StatusOK:
		x.end(x.to(x), answer)
	default:
		x.server.writeJSON(x.w, x.r, answer, status, x.settings.Send)
	}
}

// end ends the stream with the answer. After a panic the response must not be
// used, because another goroutine may be writing it.
func (x *exchange) end(s streamer, answer sendqueue.Message) {
	x.mu.Lock()
	ends := x.streams
	x.mu.Unlock()
	if ends == nil {
		ends = httpconn.MarkStream(x.r)
	}
	defer ends()
	defer func() {
		if p := recover(); p != nil {
			x.server.logPanic(p)
			panic(http.ErrAbortHandler)
		}
	}()
	s.finish(answer)
}

func (x *exchange) Send(ctx context.Context, m sendqueue.Message) error {
	if s := x.open(); s != nil {
		return s.Send(ctx, m)
	}
	return sendqueue.ErrClosed
}

func (x *exchange) TrySend(m sendqueue.Message) bool {
	s := x.open()
	return s != nil && s.TrySend(m)
}

func (x *exchange) Push(m sendqueue.Message) error {
	if s := x.open(); s != nil {
		return s.Push(m)
	}
	return sendqueue.ErrClosed
}

func (x *exchange) WaitForSpace(context.Context) error { return nil }
