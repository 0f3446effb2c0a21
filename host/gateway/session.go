package gateway

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/subscription"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// errStopping is the error of requests that are refused or cancelled because a session ends.
var errStopping = fault.New(fault.UpstreamStopped, "junctor is shutting down")

// A Session is the state of one client connection: a legacy client, the client on standard input, or one modern
// request that listens or asks for log messages. The transport that makes it with Open or Resume closes it with
// Close. The methods may be called concurrently, but for Handle and TooLong, which only the goroutine that
// reads the client's messages calls. The fields above mu are set before the session is registered, or have
// locks of their own. saving may be held when mu is taken, and never the other way round.
type Session struct {
	gw        *Gateway
	client    Client
	principal atomic.Pointer[authn.Principal]
	ctx       context.Context // ends with the session
	end       context.CancelFunc
	// renewals ends before the session does; subscriptions are made again until then.
	renewals     context.Context
	stopRenewals context.CancelFunc
	work         sync.WaitGroup // subscriptions that are being made again
	saving       sync.Mutex     // serialises calls of Changed; not taken while mu is held
	saved        []byte         // guarded by saving; the last state that Changed received

	subs      *subscription.Set
	sent      sentLists
	inFlight  requestsInFlight
	workers   *workers // answer the requests that Accept takes
	questions question.Pending
	pages     question.Pages // that servers sent the user to

	stateless bool // it belongs to one request over HTTP; see openSession
	since     time.Time

	mu       sync.Mutex
	listed   time.Time    // guarded by mu; when the client first asked for a list
	revision mcp.Revision // guarded by mu; of a legacy session; empty: none
	info     string       // guarded by mu; name and version of the client, as it says; empty: unknown
	label    string       // guarded by mu; names the session to servers; empty: no server was told
	caps     []byte       // guarded by mu; capabilities of the legacy client
	level    string       // guarded by mu; of log messages; empty: all

	shown shownTools // what the client knows of output schemas

	noted   bool            // guarded by mu; see noteOpened
	closing bool            // guarded by mu
	logins  map[string]bool // guarded by mu; ids of logins whose end is reported to the legacy client
}

// Open begins a session.
func (g *Gateway) Open(c Client) *Session {
	s := g.session(context.Background(), c)
	g.sessions.add(s)
	return s
}

// session makes a session that ends with ctx at the latest. It gets no notifications until it is registered.
func (g *Gateway) session(ctx context.Context, c Client) *Session {
	ctx, end := context.WithCancel(ctx)
	s := &Session{gw: g, client: c, ctx: ctx, end: end, since: time.Now(), workers: newWorkers(),
		subs: subscription.NewSet(c.Out)}
	s.renewals, s.stopRenewals = context.WithCancel(ctx)
	s.principal.Store(&c.Principal)
	return s
}

// Principal returns the principal of the client.
func (s *Session) Principal() authn.Principal { return *s.principal.Load() }

// UpdatePrincipal sets the principal: the same one, with the roles it has now. Requests in
// flight keep the principal that they began with.
func (s *Session) UpdatePrincipal(p authn.Principal) {
	if !s.Principal().Is(p) {
		changed := p // only a principal that is kept is copied to the heap
		s.principal.Store(&changed)
	}
}

// Answer answers one modern request over HTTP. It returns when there is nothing more to send; when ctx ends,
// the request is cancelled. No session is made unless the request listens or asks for log messages. The
// caller's goroutine is the goroutine of the request.
func (g *Gateway) Answer(ctx context.Context, m *mcp.Message, x Exchange) *Answer {
	r, refused := g.newRequest(*x.Principal, nil, m, x)
	if refused != nil {
		return errorAnswer(m.ID, refused)
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.closeSession()
	return r.run(ctx)
}

// openSession makes a session for a stateless request that gets notifications until it
// ends. Notifications are sent by session. closeSession ends the session.
func (r *pendingRequest) openSession(ctx context.Context) {
	if r.session != nil {
		return
	}
	s := r.gw.session(ctx, Client{Principal: r.principal, Out: r.out})
	s.stateless = true
	_ = s.inFlight.add(r) // the only one
	r.session = s
}

// closeSession ends the session of a stateless request, if openSession made one.
func (r *pendingRequest) closeSession() {
	if s := r.session; s != nil {
		s.inFlight.work.Done()
		s.end()
		s.leave()
	}
}

// Handle takes one message from the client; raw is the session's from then on. It does not wait for what the
// message asks, only for a client that does not read what it is sent. One goroutine calls it.
func (s *Session) Handle(raw []byte) {
	_ = s.client.Out.WaitForSpace(s.ctx)
	m, err := mcp.Parse(raw)
	if err != nil {
		pe := &mcp.ParseError{Code: mcp.CodeParse, Reason: err.Error()}
		_ = errors.As(err, &pe)
		s.rejectUnparsable(pe.ID, pe.Shape, mcp.ErrorObject(pe.Code, pe.Error(), nil))
		return
	}
	s.Accept(m, func() {})
}

// Accept is Handle for a message that was parsed. done is called once, when
// nothing is done about the message any longer.
func (s *Session) Accept(m *mcp.Message, done func()) { s.AcceptAs(Exchange{}, m, done) }

// AcceptAs is Accept for a message with a credential or an id of its own; see [Exchange]. x.Out must be nil. A
// request runs on a worker; an immediate one is answered before AcceptAs returns.
func (s *Session) AcceptAs(x Exchange, m *mcp.Message, done func()) {
	if !m.IsRequest() {
		s.Take(m)
		done()
		return
	}
	r, ctx, refused := s.begin(m, x)
	if refused != nil {
		s.push(errorAnswer(m.ID, refused))
		done()
		return
	}
	answer := func() {
		defer s.inFlight.work.Done()
		defer done()
		s.push(r.run(ctx)) // on a stream of the session, which no answer ends
	}
	if r.route.immediate {
		answer()
		return
	}
	s.workers.do(s.ctx, answer)
}

// Answer answers a request and returns when there is nothing to wait for any longer. The caller's goroutine is
// the goroutine of the request. Over HTTP there are several at a time.
func (s *Session) Answer(m *mcp.Message, x Exchange) *Answer {
	r, ctx, refused := s.begin(m, x)
	if refused != nil {
		return errorAnswer(m.ID, refused)
	}
	defer s.inFlight.work.Done()
	return r.run(ctx)
}

// Take takes a notification or an answer from the client. It does not wait.
func (s *Session) Take(m *mcp.Message) {
	if m.IsResponse() {
		s.questions.Deliver(m)
		return
	}
	s.handleNotification(m)
}

// TooLong answers a message that was longer than allowed, of which only the beginning was kept.
func (s *Session) TooLong(prefix []byte, reason string) {
	_ = s.client.Out.WaitForSpace(s.ctx)
	id, shape := mcp.Glance(prefix)
	s.rejectUnparsable(id, shape,
		mcp.ErrorObject(mcp.CodeInvalidRequest, reason, map[string]string{"reason": "message_too_large"}))
}

// rejectUnparsable answers a message that could not be parsed. A response gets no
// answer; it fails the question that it would have answered.
func (s *Session) rejectUnparsable(id mcp.ID, shape mcp.Shape, rpcError []byte) {
	if shape == mcp.ShapeResponse {
		s.questions.Deliver(&mcp.Message{ID: id, Error: rpcError})
		return
	}
	_ = s.client.Out.Push(sendqueue.Text(mcp.AppendError(nil, id, rpcError)))
}

// begin takes a request of the session in, or says why not. The caller calls
// inFlight.work.Done when the answer was sent.
func (s *Session) begin(m *mcp.Message, x Exchange) (*pendingRequest, context.Context, *rpcError) {
	if x.Out == nil {
		x.Out = s.client.Out
	}
	who := s.principal.Load()
	if x.Principal != nil {
		who = x.Principal
	}
	r, refused := s.gw.newRequest(*who, s, m, x)
	if refused != nil {
		return nil, nil, refused
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancelCause(s.ctx)
	if refused := s.inFlight.add(r); refused != nil {
		r.cancel(nil)
		s.gw.audit.refuse(r, refused)
		r.leaveGeneration()
		return nil, nil, refused
	}
	return r, ctx, nil
}

// handleNotification handles a notification of the client.
func (s *Session) handleNotification(m *mcp.Message) {
	switch m.Method {
	case mcp.NoteCancelled:
		s.inFlight.cancel(mcp.Member(m.Params, "requestId"))
	case mcp.NoteProgress:
		s.questions.ForwardProgress(m.Params)
	case mcp.NoteRootsChanged:
		rootsChanged(s)
	}
}

// push sends an answer, which is bounded by the requests in flight. A cancelled request
// gets none: "notifications/cancelled" says that the client ignores it.
func (s *Session) push(a *Answer) {
	switch {
	case a.Cancelled:
		a.Message.Hold.Release()
	case !a.Empty():
		_ = s.client.Out.Push(a.Message)
	}
}

// notify sends a notification that belongs to no request. It is lost when the client does not read.
func (s *Session) notify(method string, params []byte) {
	subscription.Notify(s.client.Out, method, params)
}

// clip shortens an untrusted text for a message.
func clip(s string) string { return truncate.Bytes(s, 100) }

// Close ends the session. Requests in flight have grace to finish, but not beyond the end of ctx, and are then
// cancelled. Close returns when every answer is in the send queue. It is called once.
func (s *Session) Close(ctx context.Context, grace time.Duration) {
	s.refuse()
	s.stopRenewals()
	s.subs.EndListens()
	done := make(chan struct{})
	go func() { defer close(done); s.inFlight.work.Wait(); s.work.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		s.cancelRequests()
	}
	s.end()
	<-done
	s.workers.work.Wait()
	s.leave()
}

// leave removes a session, its subscriptions and its own connections. It is the last use of the session.
func (s *Session) leave() {
	s.gw.sessions.remove(s)
	s.noteClosed()
	own := s.gw.conns.CloseOwner(s)
	for _, sub := range s.subs.RemoveAll() {
		if !slices.ContainsFunc(own, func(c *connpool.Conn[*serverPeer]) bool { return c.Upstream == sub.Upstream }) {
			sub.Upstream.Unsubscribe(sub.URI)
		}
	}
}

// cancelRequests cancels the requests in flight because junctor stops.
func (s *Session) cancelRequests() {
	s.refuse()
	s.inFlight.cancelAll()
}

// refuse makes the session begin nothing more.
func (s *Session) refuse() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.inFlight.refuse()
}
