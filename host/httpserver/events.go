package httpserver

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/sendqueue"
)

const (
	wholeQuick = 32 << 10 // bytes of an answer that the system takes at once
	chunk      = 64 << 10 // bytes that a client has the time of one event for
)

// writeJSON writes an answer as a JSON body.
func (f *Server) writeJSON(w http.ResponseWriter, r *http.Request, m sendqueue.Message, status int) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(m.Head) + len(m.Body) + len(m.Tail))}
	if len(m.Body) < wholeQuick {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyPatience))
		w.WriteHeader(status)
		b := wholes.Get().(*[]byte)
		*b = append(append(append((*b)[:0], m.Head...), m.Body...), m.Tail...)
		// After a write that failed HTTP/2 may not be done with the buffer, and what
		// is another client's must not get into it.
		joined(r, len(*b), func() {
			if _, err := w.Write(*b); err == nil {
				wholes.Put(b)
			}
		})
		return
	}
	w.WriteHeader(status)
	e := newEvents(w, bodyPatience)
	e.hurry = func() (time.Duration, bool) { return min(f.o.Send, bodyPatience), f.budget.Half() }
	_ = e.write(m.Head, m.Body, m.Tail)
	_ = e.flush()
}

// wholes are buffers for small answers, which are written in one piece.
var wholes = sync.Pool{New: func() any { return new([]byte) }}

// bodyPatience is how long a client may take for each chunk of a large body. While
// more than half of the memory for messages is taken, that is timeouts.send.
const bodyPatience = 30 * time.Second

// An events writes server-sent events to one client. Only one goroutine may use
// it. A client that does not take what is written within its patience is given
// up.
type events struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	hurry    func() (time.Duration, bool) // another patience, when memory is short; may be nil
	begun    bool
}

func newEvents(w http.ResponseWriter, patience time.Duration) *events {
	return &events{w: w, control: http.NewResponseController(w), patience: patience}
}

// begin sends the head of the response.
func (e *events) begin() error {
	h := e.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	e.w.WriteHeader(http.StatusOK)
	e.begun = true
	return e.flush()
}

// event writes one event; kind and id may be empty. The data has no line
// breaks: no message has any.
func (e *events) event(kind, id string, data ...[]byte) error {
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

// write writes in pieces, each of which has its time.
func (e *events) write(parts ...[]byte) error {
	for _, p := range parts {
		for len(p) > 0 {
			n := min(len(p), chunk)
			patience := e.patience
			if e.hurry != nil {
				if shorter, now := e.hurry(); now {
					patience = shorter
				}
			}
			_ = e.control.SetWriteDeadline(time.Now().Add(patience))
			if _, err := e.w.Write(p[:n]); err != nil {
				return err
			}
			p = p[n:]
		}
	}
	return nil
}

// flush sends what was written.
func (e *events) flush() error {
	_ = e.control.SetWriteDeadline(time.Now().Add(e.patience))
	err := e.control.Flush()
	_ = e.control.SetWriteDeadline(time.Time{})
	return err
}
