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

// A resumableStream is the stream of a request in a session. Messages go into
// the session's log. A logReader writes them from there to the client, also
// after the client has reconnected. An exchange makes it with a goroutine that runs a
// logReader; finish waits for that. The methods of gateway.Stream may be called concurrently.
// The messages belong to the log from then on.
type resumableStream struct {
	log    *sessionstore.Log
	number uint32
	done   chan struct{} // closed when the reader has ended
	last   *finalAnswer
}

// A finalAnswer is the answer that ends a stream. The log may drop it before
// its client has read it, if other clients' answers are large. The stream sets it and its
// reader reads it, on two goroutines.
type finalAnswer struct {
	mu      sync.Mutex
	message sendqueue.Message // guarded by mu
	at      uint64            // guarded by mu; position, 0 before the answer
}

// newResumableStream begins to stream the answer of an exchange.
func newResumableStream(x *exchange, s *sessionstore.Session, id []byte) streamer {
	l := &resumableStream{log: s.Log(), number: s.Log().Begin(id), done: make(chan struct{}), last: &finalAnswer{}}
	f := &logReader{server: x.server, settings: x.settings, session: s, events: newEventWriter(x.w, x.settings.Send),
		number: l.number, live: true, last: l.last}
	x.server.work.Go(func() {
		defer close(l.done)
		defer func() {
			if p := recover(); p != nil {
				x.server.logPanic(p) // the client can resume from the log
			}
		}()
		taken, release := s.Client.(*sessionClient).takeStream(l.number)
		defer release()
		f.taken = taken
		l.log.AwaitWritten() // before the client hears of the stream
		_ = f.run(x.r.Context())
	})
	return l
}

func (s *resumableStream) Send(_ context.Context, m sendqueue.Message) error {
	appendMessage(s.log, s.number, m, false)
	return nil
}

func (s *resumableStream) TrySend(m sendqueue.Message) bool {
	appendMessage(s.log, s.number, m, false)
	return true
}

func (s *resumableStream) Push(m sendqueue.Message) error     { return s.Send(context.Background(), m) }
func (s *resumableStream) WaitForSpace(context.Context) error { return nil }

// finish appends the answer and waits until it is written or the client has
// gone. The answer stays in the log in both cases.
func (s *resumableStream) finish(answer sendqueue.Message) {
	s.last.mu.Lock()
	s.last.message, s.last.at = answer, appendMessage(s.log, s.number, answer, true)
	s.last.mu.Unlock()
	<-s.done
}

// A logReader writes a stream of a session's log to a client as it grows. One goroutine uses
// it: that of a GET, or the one of a resumableStream.
type logReader struct {
	server      *Server
	settings    *active
	session     *sessionstore.Session
	events      *eventWriter
	number      uint32
	at          uint64 // position that is written
	missedUntil uint64 // a reconnected client missed events up to here; see sessionstore.Log.Read
	live        bool
	last        *finalAnswer    // nil if only the log has the answer
	taken       <-chan struct{} // closed when another request takes over the stream; nil: never
}

// readBatch is the number of events that are read from the log at once.
const readBatch = 1000

// run writes the stream until it ends, ctx ends or writing fails. See Server.register
// for ctx.
func (l *logReader) run(ctx context.Context) error {
	if err := l.events.begin(); err != nil {
		return err
	}
	// The first event has only an id, so that a client can resume before any
	// message was sent.
	if err := l.events.event("", l.id(l.at)); err != nil {
		return err
	}
	alive := time.NewTicker(l.settings.Keepalive)
	defer alive.Stop()
	for {
		changed := l.session.Log().Changed(l.number)
		err := l.write()
		if errors.Is(err, io.EOF) {
			return l.writeEnd()
		}
		if err != nil {
			return err
		}
		if l.isTaken() {
			return l.end("end", "replaced")
		}
		select {
		case <-changed:
		case <-alive.C:
			if err := errors.Join(l.events.write(comment), l.events.flush()); err != nil {
				return err
			}
		case <-l.taken:
			return l.end("end", "replaced")
		case <-ctx.Done():
			if end := streamEndOf(ctx); end != nil {
				return l.end(end.kind, end.reason)
			}
			return ctx.Err()
		}
	}
}

// write writes all events that are in the log.
func (l *logReader) write() error {
	for {
		if !l.live && l.at >= l.missedUntil {
			l.live = true
		}
		batch, err := l.session.Log().Read(l.number, l.at, l.live, readBatch)
		if gap, ok := errors.AsType[*sessionstore.PurgedError](err); ok {
			if message, at := l.droppedAnswer(gap); at > 0 {
				return errors.Join(l.events.event("message", l.id(at), message.Head, message.Body, message.Tail),
					l.events.flush(), io.EOF)
			}
			l.at = gap.Resume
			if err := l.events.event("lagged", "", fmt.Appendf(nil, `{"dropped":%d}`, gap.Missed)); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return errors.Join(err, l.events.flush())
		}
		if len(batch) == 0 && l.live {
			return l.events.flush()
		}
		taken, err := l.writeEvents(batch)
		if err != nil || taken {
			return err
		}
		if len(batch) == 0 {
			l.at, l.live = max(l.at, l.missedUntil), true
		}
	}
}

// writeEvents writes events until another request takes over the stream. They
// stay in memory until they are written, even if the log drops them.
func (l *logReader) writeEvents(batch []sessionstore.Event) (taken bool, err error) {
	if size := sizeOf(batch); size > largeBatch {
		held, err := l.server.memory.Hold(size)
		if err != nil {
			return false, errors.Join(l.end("end", "overloaded"), err)
		}
		defer held.Release()
	}
	for _, e := range batch {
		if l.isTaken() {
			return true, nil
		}
		if err := l.events.event("message", l.id(e.Seq), e.Data...); err != nil {
			return false, err
		}
		l.at = e.Seq
	}
	return false, nil
}

// largeBatch is the size in bytes above which a batch is counted as memory
// while it is written. The log returns no more at once, unless a single event
// is larger.
const largeBatch = 256 << 10

func sizeOf(batch []sessionstore.Event) (n int) {
	for _, e := range batch {
		for _, part := range e.Data {
			n += len(part)
		}
	}
	return n
}

// isTaken reports whether another request has taken over the stream and its
// remaining events.
func (l *logReader) isTaken() bool {
	select {
	case <-l.taken:
		return true
	default:
		return false
	}
}

// stopping is the reason for ending streams when the server ends.
const stopping = "the gateway is shutting down"

// droppedAnswer returns the answer and its position if the log has dropped it.
func (l *logReader) droppedAnswer(gap *sessionstore.PurgedError) (sendqueue.Message, uint64) {
	if l.last == nil {
		return sendqueue.Message{}, 0
	}
	l.last.mu.Lock()
	defer l.last.mu.Unlock()
	if l.last.at == 0 || l.last.at > gap.Resume {
		return sendqueue.Message{}, 0
	}
	return l.last.message, l.last.at
}

// writeEnd writes why the stream of an ended session ends.
func (l *logReader) writeEnd() error {
	reason := l.session.Reason()
	switch {
	case l.number != sessionstore.Common || reason == "":
		return l.events.flush()
	case reason == sessionstore.ReasonShutdown:
		return l.end("shutdown", stopping)
	}
	return l.end("end", reason)
}

// end writes the last event of a stream.
func (l *logReader) end(kind, reason string) error {
	return errors.Join(l.events.event(kind, "", fmt.Appendf(nil, `{"reason":%q}`, reason)), l.events.flush())
}

// id returns an event id: the stream and the position. Clients send ids back in Last-Event-ID,
// perhaps to another process: their form must stay.
func (l *logReader) id(at uint64) string {
	return strconv.FormatUint(uint64(l.number), 10) + "-" + strconv.FormatUint(at, 10)
}

// lastEvent parses the Last-Event-ID header. found is false without the header.
func lastEvent(h http.Header) (stream uint32, at uint64, found bool, err error) {
	ids := h["Last-Event-Id"]
	if len(ids) == 0 {
		return 0, 0, false, nil
	}
	before, after, ok := strings.Cut(ids[0], "-")
	number, err1 := strconv.ParseUint(before, 10, 32)
	at, err2 := strconv.ParseUint(after, 10, 64)
	if len(ids) > 1 || !ok || err1 != nil || err2 != nil ||
		ids[0] != strconv.FormatUint(number, 10)+"-"+strconv.FormatUint(at, 10) {
		return 0, 0, true, sessionstore.ErrNoStream
	}
	return uint32(number), at, true, nil
}
