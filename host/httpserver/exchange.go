package httpserver

import (
	"context"
	"net/http"
	"sync"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// An exchange is one POST with a request. Its answer is a JSON body, unless
// something is to be sent before it, or it takes long: then it is a stream, of
// which the answer is the last event.
type exchange struct {
	front *Server
	w     http.ResponseWriter
	r     *http.Request
	takes accept
	to    func(*exchange) streamer // makes the stream

	mu      sync.Mutex
	stream  streamer // guarded by mu; nil: it is not one so far
	streams func()   // guarded by mu; ends what began with the stream
	over    bool     // guarded by mu; nothing but the answer can be sent
}

// A streamer is a stream that ends with an answer.
type streamer interface {
	gateway.Stream
	// finish sends the answer, if there is one, and returns when everything was
	// sent that could be.
	finish(answer sendqueue.Message)
}

var _ gateway.Stream = (*exchange)(nil)

func (f *Server) exchange(w http.ResponseWriter, r *http.Request, takes accept, to func(*exchange) streamer) *exchange {
	x := &exchange{front: f, w: w, r: r, takes: takes, to: to}
	if takes.stream {
		f.overdue.begin(x)
	}
	return x
}

// await makes the answer a stream that its client can see to be one.
func (x *exchange) await() {
	x.mu.Lock()
	waits := x.stream == nil && !x.over
	x.mu.Unlock()
	if box, ok := x.open().(*sseStream); ok && waits {
		box.TrySend(sendqueue.Text(comment)) // the other kind begins with an id
	}
}

// open makes the answer a stream, if the client takes one. It returns nil when
// there is none.
func (x *exchange) open() streamer {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream == nil && !x.over && x.takes.stream {
		x.stream, x.streams = x.to(x), streams(x.r)
	}
	if x.over {
		return nil
	}
	return x.stream
}

// finish sends the answer; an empty one when there is none.
func (x *exchange) finish(answer sendqueue.Message, status int) {
	if x.takes.stream {
		x.front.overdue.end(x)
	}
	x.mu.Lock()
	x.over = true
	stream := x.stream
	x.mu.Unlock()
	switch {
	case stream != nil:
		x.end(stream, answer)
	case answer.Head == nil: // the client has gone, or nobody wants to know
		x.w.WriteHeader(http.StatusNoContent)
	case !x.takes.json && status == http.StatusOK:
		x.end(x.to(x), answer)
	default:
		x.front.writeJSON(x.w, x.r, answer, status)
	}
}

// end ends the stream. After a mistake of ours in it nobody may touch the response,
// which is being written to.
func (x *exchange) end(s streamer, answer sendqueue.Message) {
	x.mu.Lock()
	ends := x.streams
	x.mu.Unlock()
	if ends == nil {
		ends = streams(x.r)
	}
	defer ends()
	defer func() {
		if p := recover(); p != nil {
			x.front.panicked(p)
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

func (x *exchange) Room(context.Context) error { return nil }
