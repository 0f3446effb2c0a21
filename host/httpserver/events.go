package httpserver

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

const (
	smallAnswer = 32 << 10 // bytes of a whole answer that the send buffer takes at once
	chunk       = 64 << 10 // bytes that a client must take within the time of one event
)

// writeJSON writes an answer as a JSON body. send is timeouts.send.
func (srv *Server) writeJSON(w http.ResponseWriter, r *http.Request, m sendqueue.Message, status int,
	send time.Duration) {
	h := w.Header()
	h["Content-Type"] = jsonType
	size := len(m.Head) + len(m.Body) + len(m.Tail)
	h["Content-Length"] = []string{strconv.Itoa(size)}
	if size < smallAnswer {
		httpconn.LimitWrite(w, r, time.Now().Add(chunkTimeout))
		w.WriteHeader(status)
		b := answerBuffers.Get().(*[]byte)
		*b = append(append(append((*b)[:0], m.Head...), m.Body...), m.Tail...)
		// After a failed write HTTP/2 may still use the buffer. Reusing it
		// could send one client's data to another.
		httpconn.Coalesce(r, len(*b), func() {
			if _, err := w.Write(*b); err == nil {
				answerBuffers.Put(b)
			}
		})
		return
	}
	w.WriteHeader(status)
	e := newEventWriter(w, chunkTimeout)
	e.shortTimeout = func() (time.Duration, bool) { return min(send, chunkTimeout), srv.memory.Half() }
	_ = e.write(m.Head, m.Body, m.Tail)
	_ = e.flush()
}

// answerBuffers holds buffers for small answers, which are written in one call.
var answerBuffers = sync.Pool{New: func() any { return new([]byte) }}

// chunkTimeout is how long a client may take for each chunk of a large body.
// While more than half of the memory for messages is used, it is timeouts.send.
const chunkTimeout = 30 * time.Second

// An eventWriter writes server-sent events to one client. Only one goroutine
// may use it. Writing fails if the client does not take a chunk within the
// timeout. The goroutine of the request makes it. A stream may pass it to a goroutine of its
// own, which then is the only user.
type eventWriter struct {
	w            http.ResponseWriter
	control      *http.ResponseController
	timeout      time.Duration
	shortTimeout func() (time.Duration, bool) // a shorter timeout if memory is short; may be nil
	begun        bool
}

func newEventWriter(w http.ResponseWriter, timeout time.Duration) *eventWriter {
	return &eventWriter{w: w, control: http.NewResponseController(w), timeout: timeout}
}

// begin sends the head of the response.
func (e *eventWriter) begin() error {
	h := e.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	e.w.WriteHeader(http.StatusOK)
	e.begun = true
	return e.flush()
}

// event writes one event. kind and id may be empty. The data must not contain
// line breaks, and no message does.
func (e *eventWriter) event(kind, id string, data ...[]byte) error {
	var head []byte
	if kind != "" {
		head = append(append(append(head, "event: "...), kind...), '\n')
	}
	if id != "" {
		head = append(append(append(head, "id: "...), id...), '\n')
	}
	head = append(head, "data: "...)
	if err := e.write(head); err != nil {
		return err
	}
	if err := e.write(data...); err != nil {
		return err
	}
	return e.write(eventEnd)
}

var (
	eventEnd = []byte("\n\n")
	comment  = []byte(":\n\n")
)

// write writes the parts in chunks, each with its own deadline.
func (e *eventWriter) write(parts ...[]byte) error {
	for _, p := range parts {
		for len(p) > 0 {
			n := min(len(p), chunk)
			timeout := e.timeout
			if e.shortTimeout != nil {
				if shorter, now := e.shortTimeout(); now {
					timeout = shorter
				}
			}
			_ = e.control.SetWriteDeadline(time.Now().Add(timeout))
			if _, err := e.w.Write(p[:n]); err != nil {
				return err
			}
			p = p[n:]
		}
	}
	return nil
}

// flush sends buffered data.
func (e *eventWriter) flush() error {
	_ = e.control.SetWriteDeadline(time.Now().Add(e.timeout))
	err := e.control.Flush()
	_ = e.control.SetWriteDeadline(time.Time{})
	return err
}
