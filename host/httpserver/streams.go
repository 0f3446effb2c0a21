package httpserver

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A clientStream is an open stream that the server may end before its client does. It does not
// change once it is registered.
type clientStream struct {
	request   *http.Request
	principal authn.Principal
	listener  *Listener
	answers   bool // ends with the answer of a request
	listens   bool // the stream of a subscriptions/listen request
	end       context.CancelCauseFunc
}

// StoredSessions returns the number of sessions whose clients have sent nothing since the
// process started. They count against the limit of sessions.
func (srv *Server) StoredSessions() int { return srv.sessions.Unloaded() }

// Streams returns the number of open streams for messages to clients, without those that
// end with an answer.
func (srv *Server) Streams() int { return srv.streams.count() }

// streamSet are the open streams. Its methods may be called concurrently.
type streamSet struct {
	mu  sync.Mutex
	all map[*clientStream]struct{} // guarded by mu
}

func (s *streamSet) add(stream *clientStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[stream] = struct{}{}
}

func (s *streamSet) remove(stream *clientStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, stream)
}

// count returns the number of streams that do not end with an answer.
func (s *streamSet) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream := range s.all {
		if !stream.answers {
			n++
		}
	}
	return n
}

// end ends the streams that match.
func (s *streamSet) end(match func(*clientStream) bool, why *streamEnd) {
	s.mu.Lock()
	list := slices.Collect(maps.Keys(s.all))
	s.mu.Unlock()
	for _, stream := range list {
		if match(stream) {
			stream.end(why)
		}
	}
}

// A streamEnd is the reason why the server ends a stream.
type streamEnd struct{ kind, reason string }

func (e *streamEnd) Error() string { return e.reason }

var (
	errMoved    = &streamEnd{"end", "moved"}
	errRefused  = &streamEnd{"end", "unauthorized"}
	errExpired  = &streamEnd{"end", "token_expired"}
	errShutdown = &streamEnd{"shutdown", stopping}
)

// streamEndOf returns why the server ended a stream, or nil if it did not.
func streamEndOf(ctx context.Context) *streamEnd {
	end, _ := errors.AsType[*streamEnd](context.Cause(ctx))
	return end
}

// register registers a stream. The context ends with the request, or with a streamEnd
// as its cause when the server ends the stream, which it does when the client's
// credential expires. The caller calls done when the stream
// has ended. The handler of the stream calls it, on the goroutine of the request.
func (srv *Server) register(s *clientStream, settings *active) (ctx context.Context, done func()) {
	s.listener = listenerOf(s.request)
	ctx, s.end = context.WithCancelCause(s.request.Context())
	srv.streams.add(s)
	// The settings may have changed since the request was admitted, and the listener
	// may have begun to drain.
	if latest := srv.active.Load(); latest != settings && !s.accepted(latest, time.Now().Add(recheckTime)) {
		s.end(errRefused)
	}
	switch {
	case s.answers:
	case srv.isDraining() && !s.listens:
		s.end(errShutdown)
	case isClosed(s.listener.draining):
		s.end(errMoved)
	}
	var expiry *time.Timer
	if at := s.principal.Expires; !at.IsZero() {
		expiry = time.AfterFunc(time.Until(at), func() { s.end(errExpired) })
	}
	return ctx, func() {
		if expiry != nil {
			expiry.Stop()
		}
		srv.streams.remove(s)
		s.end(nil)
	}
}

// accepted reports whether the client of the stream is still the same principal. A credential
// that cannot be checked until the deadline is accepted: the stream ends with it anyway.
func (s *clientStream) accepted(settings *active, deadline time.Time) bool {
	ctx, cancel := context.WithDeadline(s.request.Context(), deadline)
	defer cancel()
	p, err := authenticate(settings, s.request.WithContext(ctx))
	if _, unknown := errors.AsType[*authn.UnavailableError](err); unknown {
		return true
	}
	return err == nil && p.Same(s.principal)
}

// recheckTime is the time to check the credentials of all open streams again.
const recheckTime = 2 * time.Second

// endRefusedStreams ends the streams of clients whose credentials are not accepted any
// longer. It checks the streams one after another, on the goroutine of Apply.
func (srv *Server) endRefusedStreams(settings *active) {
	deadline := time.Now().Add(recheckTime)
	srv.streams.end(func(s *clientStream) bool { return !s.accepted(settings, deadline) }, errRefused)
}
