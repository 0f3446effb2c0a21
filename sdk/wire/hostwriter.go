package wire

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// A hostWriter writes to the host what happens on one connection. The goroutines of Recv
// and of Send both use it: mu is held during a write, because a Stream has one writer.
type hostWriter struct {
	limit int // maximum size of a message in bytes
	log   hclog.Logger

	mu     sync.Mutex
	stream *Stream // written with mu held
}

// forward writes one message, or reports that it was dropped.
func (w *hostWriter) forward(msg []byte, r sdk.Relater) error {
	received := msg
	msg, err := ndjson.Message(msg)
	switch {
	case err != nil:
		w.log.Warn("the transport received data that is not a message")
		return w.dropped(&sdk.Dropped{Reason: "bad_message", Size: int64(len(received)), Prefix: received})
	case len(msg) > w.limit:
		return w.dropped(&sdk.Dropped{Reason: "message_too_large", Size: int64(len(msg)),
			Limit: int64(w.limit), Prefix: msg})
	}
	var related []byte
	if r != nil {
		related = r.Related()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(related) > 0 {
		if err := w.stream.WriteEvent(Event{Name: "related", ID: related[:min(len(related), maxPrefix)]}); err != nil {
			return err
		}
	}
	return w.stream.WriteMessage(msg)
}

// failed reports that a request gets no response.
func (w *hostWriter) failed(f *sdk.Failed) error {
	s := StatusOf(f.Unwrap())
	return w.event(Event{
		Name: "failed", Status: &s, ID: f.ID[:min(len(f.ID), maxPrefix)], Delivered: f.Delivered, Ends: f.Ends,
	})
}

// dropped reports that a message was not delivered.
func (w *hostWriter) dropped(d *sdk.Dropped) error {
	return w.event(Event{
		Name: "dropped", Reason: clip(d.Reason, maxText), Size: d.Size, Limit: d.Limit,
		Prefix: d.Prefix[:min(len(d.Prefix), maxPrefix)],
	})
}

// closed reports the end of the connection, and ends the stream in this direction. err
// is why the connection ended, or nil.
func (w *hostWriter) closed(err error) {
	closed := Event{Name: "closed"}
	if err != nil {
		s := StatusOf(err)
		closed.Status = &s
	}
	_ = w.stream.SetWriteDeadline(time.Now().Add(closeGrace)) // also ends a write that holds mu
	if w.event(closed) == nil {
		_ = w.flush()
	}
	_ = w.stream.Close()
}

func (w *hostWriter) event(ev Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream.WriteEvent(ev)
}

func (w *hostWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream.Flush()
}
