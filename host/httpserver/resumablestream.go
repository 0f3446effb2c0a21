package httpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// A resumableStream is the stream of a request of a session: what is sent on it goes
// into the session's log, from where it is written to the client, and written
// again to one that comes back.
type resumableStream struct {
	log    *sessionstore.Log
	number uint32
	done   chan struct{} // closed when nothing is written any longer
	last   *lastWord
}

// A lastWord is the answer that a stream ends with. The log may drop it before
// the one who waits for it has read it: many large answers are more than a log
// keeps for those who are away.
type lastWord struct {
	mu      sync.Mutex
	message sendqueue.Message // guarded by mu
	at      uint64            // guarded by mu; its position, 0 before it is there
}

// newResumableStream begins to stream the answer of an exchange.
func newResumableStream(x *exchange, s *sessionstore.Session, id []byte) streamer {
	l := &resumableStream{log: s.Log(), number: s.Log().Begin(id), done: make(chan struct{}), last: &lastWord{}}
	f := &follower{front: x.front, session: s, events: newEvents(x.w, x.front.o.Send), number: l.number, live: true, last: l.last}
	x.front.work.Go(func() {
		defer close(l.done)
		defer func() {
			if p := recover(); p != nil {
				x.front.panicked(p) // the client can come back for what is in the log
			}
		}()
		taken, release := s.Client.(*client).follow(l.number)
		defer release()
		f.taken = taken
		_ = f.run(x.r.Context())
	})
	return l
}

func (l *resumableStream) Send(_ context.Context, m sendqueue.Message) error {
	add(l.log, l.number, m, false)
	return nil
}

func (l *resumableStream) TrySend(m sendqueue.Message) bool {
	add(l.log, l.number, m, false)
	return true
}

func (l *resumableStream) Push(m sendqueue.Message) error { return l.Send(context.Background(), m) }
func (l *resumableStream) Room(context.Context) error     { return nil }

// finish sends the answer and waits until it was written, or the client has
// gone: then it stays in the log.
func (l *resumableStream) finish(answer sendqueue.Message) {
	l.last.mu.Lock()
	l.last.message, l.last.at = answer, add(l.log, l.number, answer, true)
	l.last.mu.Unlock()
	<-l.done
}

// A follower writes a stream of a session's log to a client as it grows.
type follower struct {
	front   *Server
	session *sessionstore.Session
	events  *events
	number  uint32
	at      uint64 // what was written so far
	back    uint64 // up to here the client missed what was there; see session.Log.Read
	live    bool
	last    *lastWord       // nil where only the log has it
	taken   <-chan struct{} // closed when another request follows the stream; nil: none can
}

// readAtOnce is how many events are read from the log at once.
const readAtOnce = 1000

// run writes until the stream ends, or the client's request, or what it is told
// at the end says.
func (f *follower) run(ctx context.Context) error {
	if err := f.events.begin(); err != nil {
		return err
	}
	// So that a client that is cut off before anything happened can come back.
	if err := f.events.event("", f.id(f.at)); err != nil {
		return err
	}
	alive := time.NewTicker(f.front.o.Keepalive)
	defer alive.Stop()
	for {
		changed := f.session.Log().Changed(f.number)
		err := f.write()
		if errors.Is(err, io.EOF) {
			return f.goodbye()
		}
		if err != nil {
			return err
		}
		if f.isTaken() {
			return f.end("end", "replaced")
		}
		select {
		case <-changed:
		case <-alive.C:
			if err := errors.Join(f.events.write(comment), f.events.flush()); err != nil {
				return err
			}
		case <-f.taken:
			return f.end("end", "replaced")
		case <-f.draining():
			return f.end("shutdown", stopping)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// draining is closed when the stream is to end because the gateway does; that of
// a request lasts until its answer.
func (f *follower) draining() <-chan struct{} {
	if f.number != sessionstore.Common {
		return nil
	}
	return f.front.draining
}

// write writes what is there, batch after batch.
func (f *follower) write() error {
	for {
		if !f.live && f.at >= f.back {
			f.live = true
		}
		batch, err := f.session.Log().Read(f.number, f.at, f.live, readAtOnce)
		if gap, ok := errors.AsType[*sessionstore.PurgedError](err); ok {
			if message, at := f.lost(gap); at > 0 {
				return errors.Join(f.events.event("message", f.id(at), message.Head, message.Body, message.Tail), f.events.flush(), io.EOF)
			}
			f.at = gap.Resume
			if err := f.events.event("lagged", "", fmt.Appendf(nil, `{"dropped":%d}`, gap.Missed)); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return errors.Join(err, f.events.flush())
		}
		if len(batch) == 0 && f.live {
			return f.events.flush()
		}
		taken, err := f.writeEvents(batch)
		if err != nil || taken {
			return err
		}
		if len(batch) == 0 {
			f.at, f.live = max(f.at, f.back), true
		}
	}
}

// writeEvents writes events until another request takes the stream. They stay in
// memory until they are written, even when the log drops them meanwhile.
func (f *follower) writeEvents(batch []sessionstore.Event) (taken bool, err error) {
	if size := sizeOf(batch); size > largeBatch {
		held, err := f.front.budget.Hold(size)
		if err != nil {
			return false, errors.Join(f.end("end", "overloaded"), err)
		}
		defer held.Release()
	}
	for _, e := range batch {
		if f.isTaken() {
			return true, nil
		}
		if err := f.events.event("message", f.id(e.Seq), e.Data...); err != nil {
			return false, err
		}
		f.at = e.Seq
	}
	return false, nil
}

// largeBatch is the size above which events are counted while they are written:
// what the log reads at once, unless one event is larger.
const largeBatch = 256 << 10

func sizeOf(batch []sessionstore.Event) (n int) {
	for _, e := range batch {
		for _, part := range e.Data {
			n += len(part)
		}
	}
	return n
}

// isTaken reports whether another request follows the stream, so that what is
// left is for that one.
func (f *follower) isTaken() bool {
	select {
	case <-f.taken:
		return true
	default:
		return false
	}
}

// stopping is why streams end because the gateway does.
const stopping = "the gateway is about to end"

// lost returns the answer when the log has dropped it.
func (f *follower) lost(gap *sessionstore.PurgedError) (sendqueue.Message, uint64) {
	if f.last == nil {
		return sendqueue.Message{}, 0
	}
	f.last.mu.Lock()
	defer f.last.mu.Unlock()
	if f.last.at == 0 || f.last.at > gap.Resume {
		return sendqueue.Message{}, 0
	}
	return f.last.message, f.last.at
}

// goodbye says why a stream ends that could have gone on.
func (f *follower) goodbye() error {
	reason := f.session.Reason()
	switch {
	case f.number != sessionstore.Common || reason == "":
		return f.events.flush()
	case reason == sessionstore.ReasonShutdown:
		return f.end("shutdown", stopping)
	}
	return f.end("end", reason)
}

// end writes the last event of a stream.
func (f *follower) end(kind, reason string) error {
	return errors.Join(f.events.event(kind, "", fmt.Appendf(nil, `{"reason":%q}`, reason)), f.events.flush())
}

// id is what a client asks for again: the stream and the position.
func (f *follower) id(at uint64) string {
	return strconv.FormatUint(uint64(f.number), 10) + "-" + strconv.FormatUint(at, 10)
}

// lastEvent reads where a client was cut off. found is false when it does not say.
func lastEvent(h http.Header) (stream uint32, at uint64, found bool, err error) {
	ids := h["Last-Event-Id"]
	if len(ids) == 0 {
		return 0, 0, false, nil
	}
	before, after, ok := strings.Cut(ids[0], "-")
	number, err1 := strconv.ParseUint(before, 10, 32)
	at, err2 := strconv.ParseUint(after, 10, 64)
	if len(ids) > 1 || !ok || err1 != nil || err2 != nil || ids[0] != strconv.FormatUint(number, 10)+"-"+strconv.FormatUint(at, 10) {
		return 0, 0, true, sessionstore.ErrNoStream
	}
	return uint32(number), at, true, nil
}
