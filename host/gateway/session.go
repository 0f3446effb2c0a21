package gateway

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outbox"
)

// maxInFlight bounds the requests of one client that are being answered.
const maxInFlight = 500

// errStopping is why requests are refused, or given up, when a session ends.
var errStopping = fault.New(fault.UpstreamStopped, "junctor is shutting down")

// A Session is one connected client.
type Session struct {
	gw        *Gateway
	out       *outbox.Outbox
	principal identity.Principal
	ctx       context.Context // ends with the session
	end       context.CancelFunc
	work      sync.WaitGroup

	mu         sync.Mutex
	revision   mcp.Revision        // guarded by mu; of a legacy session; empty: none
	caps       []byte              // guarded by mu; what the legacy client offers
	level      string              // guarded by mu; of log messages; empty: all
	inFlight   map[string]*request // guarded by mu; by id as it was written
	closing    bool                // guarded by mu
	subs       map[string]string   // guarded by mu; legacy subscriptions: URI to server
	subscribed int                 // guarded by mu; subscriptions of both eras, and those being made
	listens    map[string]*listen  // guarded by mu; modern ones, by id
	asks       map[uint64]*asking  // guarded by mu; what we asked the client
	lastAsk    uint64              // guarded by mu
}

// Open begins a session. Its answers go to out.
func (g *Gateway) Open(out *outbox.Outbox, p identity.Principal) *Session {
	ctx, end := context.WithCancel(context.Background())
	s := &Session{
		gw: g, out: out, principal: p, ctx: ctx, end: end, inFlight: map[string]*request{},
		subs: map[string]string{}, listens: map[string]*listen{}, asks: map[uint64]*asking{},
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s] = struct{}{}
	return s
}

// Handle takes one message from the client; raw is the session's from then on.
// It does not wait for what the message asks, only for a client that does not
// read what it is sent. One goroutine calls it.
func (s *Session) Handle(raw []byte) {
	_ = s.out.Room(s.ctx)
	m, err := mcp.Parse(raw)
	if err != nil {
		pe := &mcp.ParseError{Code: mcp.CodeParse, Reason: err.Error()}
		_ = errors.As(err, &pe)
		s.unread(pe.ID, pe.Shape, mcp.ErrorObject(pe.Code, pe.Error(), nil))
		return
	}
	switch {
	case m.IsResponse():
		s.answered(m)
	case m.IsNotification():
		s.notified(m)
	default:
		s.request(m)
	}
}

// TooLong answers a message that was longer than allowed, of which only the
// beginning was kept.
func (s *Session) TooLong(prefix []byte, reason string) {
	_ = s.out.Room(s.ctx)
	id, shape := mcp.Glance(prefix)
	s.unread(id, shape, mcp.ErrorObject(mcp.CodeInvalidRequest, reason, map[string]string{"reason": "message_too_large"}))
}

// unread takes note of a message that could not be read. An answer is not
// answered: whoever waits for it is told.
func (s *Session) unread(id mcp.ID, shape mcp.Shape, rpcError []byte) {
	if shape == mcp.Answers {
		s.answered(&mcp.Message{ID: id, Error: rpcError})
		return
	}
	s.push(mcp.AppendError(nil, id, rpcError))
}

// request begins to answer a request.
func (s *Session) request(m *mcp.Message) {
	r, err := s.newRequest(m)
	if err != nil {
		s.push(mcp.AppendError(nil, m.ID, err.object()))
		return
	}
	h, immediate := handlerOf(m.Method)
	if immediate {
		s.finish(r, h)
		return
	}
	go s.finish(r, h)
}

// newRequest takes a request in, or says why not. One that was taken in counts
// as work until finish.
func (s *Session) newRequest(m *mcp.Message) (*request, *rpcError) {
	r := &request{session: s, id: append(mcp.ID(nil), m.ID...), method: m.Method, params: m.Params}
	if err := r.setEra(); err != nil {
		return nil, err
	}
	if h, _ := handlerOf(m.Method); h == nil {
		return nil, &rpcError{code: mcp.CodeMethodNotFound, message: "method not found: " + clip(m.Method)}
	}
	r.ctx, r.cancel = context.WithCancelCause(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return nil, faultError(errStopping, r.modern)
	case s.inFlight[string(r.id)] != nil:
		return nil, &rpcError{code: mcp.CodeInvalidRequest, message: "a request with this id is being answered"}
	case len(s.inFlight) >= maxInFlight:
		return nil, faultError(fault.New(fault.UpstreamOverloaded, "more than %d requests are being answered", maxInFlight), r.modern)
	}
	s.inFlight[string(r.id)] = r
	s.work.Add(1)
	return r, nil
}

// finish answers a request.
func (s *Session) finish(r *request, h handler) {
	defer s.work.Done()
	defer r.cancel(nil)
	result, err := s.result(r, h)
	s.mu.Lock()
	delete(s.inFlight, string(r.id))
	cancelled, stopped := r.cancelled, r.stopped
	s.mu.Unlock()
	r.progress.end()
	switch {
	case cancelled && r.modern:
		// After a modern cancel nothing more is sent.
	case cancelled:
		s.push(mcp.AppendError(nil, r.id, mcp.ErrorObject(mcp.CodeCancelled, "the request was cancelled", map[string]string{"reason": "cancelled", "code": string(fault.CallCanceled)})))
	case err != nil && stopped:
		s.push(mcp.AppendError(nil, r.id, mcp.FaultError(fault.New(fault.CallCanceled, "junctor is shutting down"), r.modern)))
	case err != nil:
		s.push(mcp.AppendError(nil, r.id, err.object()))
	case result != nil:
		head, tail := mcp.Answer(r.id)
		_ = s.out.Push(outbox.Message{Head: head, Body: result, Tail: tail})
	}
}

// result calls a handler. A mistake of ours in it costs this request only.
func (s *Session) result(r *request, h handler) (result []byte, err *rpcError) {
	defer func() {
		if p := recover(); p != nil {
			s.gw.opts.Log.Error("a request panicked", "method", clip(r.method), "panic", p, "stack", string(debug.Stack()))
			result, err = nil, r.fault(fault.New(fault.Internal, "something went wrong in junctor; its log says what"))
		}
	}()
	return h(r)
}

// notified takes note of what the client says.
func (s *Session) notified(m *mcp.Message) {
	switch m.Method {
	case mcp.NoteCancelled:
		s.cancel(mcp.Member(m.Params, "requestId"))
	case mcp.NoteProgress:
		s.askProgressed(m.Params)
	case mcp.NoteRootsChanged:
		if s.gw.only() != s {
			return // servers were not offered this client's roots
		}
		for _, u := range s.gw.upstreams {
			u.Notify(m.Method, nil)
		}
	}
}

// cancel ends the request that a client no longer wants answered.
func (s *Session) cancel(id mcp.ID) {
	s.mu.Lock()
	r := s.inFlight[string(id)]
	if r != nil && r.method != mcp.MethodInitialize {
		r.cancelled = true
	} else {
		r = nil
	}
	s.mu.Unlock()
	if r == nil {
		return
	}
	if r.modern {
		r.progress.drop()
	}
	r.cancel(nil)
}

// push sends what is bounded by the requests in flight.
func (s *Session) push(msg []byte) { _ = s.out.Push(outbox.Text(msg)) }

// tell sends a notification, which is lost when the client does not read.
func (s *Session) tell(method string, params []byte) {
	s.out.TrySend(outbox.Text(mcp.AppendNotification(nil, method, params)))
}

// Close ends the session: requests in flight have grace to end, as long as ctx
// has not ended, then they are cancelled. It returns when every answer is in the
// outbox.
func (s *Session) Close(ctx context.Context, grace time.Duration) {
	s.mu.Lock()
	s.closing = true
	for _, l := range s.listens {
		l.stop()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); s.work.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		s.mu.Lock()
		for _, r := range s.inFlight {
			r.stopped = true
			r.cancel(errStopping)
		}
		s.mu.Unlock()
	}
	s.end()
	<-done
	s.gw.leave(s)
}

// leave forgets a session and gives back what it subscribed to.
func (g *Gateway) leave(s *Session) {
	g.mu.Lock()
	delete(g.sessions, s)
	g.mu.Unlock()
	s.mu.Lock()
	subs := s.subs
	s.subs = map[string]string{}
	s.mu.Unlock()
	for uri, server := range subs {
		g.upstreams[server].Unsubscribe(uri)
	}
}

// all returns the sessions there are.
func (g *Gateway) all() []*Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*Session, 0, len(g.sessions))
	for s := range g.sessions {
		list = append(list, s)
	}
	return list
}

// clip shortens what a stranger wrote, for a message.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
