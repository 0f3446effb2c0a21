package httpserver

import (
	"context"
	"net/http"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// post handles a POST, which has one message. The goroutine of the request runs it and
// everything below, and waits for the answer of the gateway.
func (srv *Server) post(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active) {
	takes := acceptOf(r.Header)
	if !takes.json && !takes.stream {
		writeError(w, r, http.StatusNotAcceptable, errAccept)
		return
	}
	b, ok := srv.readBody(w, r, p, settings)
	if !ok {
		return
	}
	defer b.release()
	quota := settings.inFlight
	if !srv.admission.acquire(w, r, p, quota) {
		return
	}
	defer func() { quota.release(p) }()
	m, ok := parseMessage(w, b.text)
	if !ok {
		return
	}
	if era.Of(m, mcp.Revision(r.Header.Get("Mcp-Protocol-Version"))) == era.Modern {
		if m.Method == mcp.MethodListen && m.IsRequest() {
			// It ends with the client's connection. Until then it counts like a
			// session of a legacy client.
			if !srv.admission.acquire(w, r, p, settings.listening) {
				return
			}
			settings.inFlight.release(p)
			quota = settings.listening
		}
		srv.postModern(w, r, p, settings, m, takes)
		return
	}
	srv.postLegacy(w, r, p, settings, m, takes)
}

// postModern answers a message of a modern client.
func (srv *Server) postModern(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active,
	m *mcp.Message, takes accept) {
	switch {
	case m.IsResponse():
		writeError(w, r, http.StatusBadRequest, errResponse)
		return
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if wrong := checkHeaders(r.Header, m); wrong != nil {
		writeBody(w, http.StatusBadRequest, mcp.AppendError(nil, m.ID, wrong))
		return
	}
	ctx, done := r.Context(), func() {}
	if m.Method == mcp.MethodListen {
		ctx, done = srv.register(&clientStream{request: r, principal: p, listens: true}, settings)
	}
	defer done()
	about := gateway.Exchange{Era: era.Modern, Header: r.Header, Principal: &p, Address: clientAddress(r, settings)}
	about = correlated(w, r, about) // before a stream writes headers
	x := srv.exchange(w, r, settings, takes, newSSEStream)
	defer x.abandon()
	about.Out = x
	a := srv.gateway.Answer(ctx, m, about)
	defer a.Message.Hold.Release()
	if a.Empty() && streamEndOf(ctx) != nil {
		a.Message = sendqueue.Text(mcp.AppendResult(nil, m.ID,
			mcp.SetPath([]byte(`{"resultType":"complete"}`), []string{"_meta", mcp.MetaSubscription}, m.ID)))
	}
	x.finish(a, modernStatus(a))
}

// modernStatus returns the HTTP status of an answer to a modern request.
func modernStatus(a *gateway.Answer) int {
	switch {
	case a.Code == 0:
		return http.StatusOK
	case a.Code == mcp.CodeMethodNotFound && a.Refused:
		return http.StatusNotFound
	case a.Refused, a.Code == mcp.CodeHeaderMismatch, a.Code == mcp.CodeMissingCapability,
		a.Code == mcp.CodeUnsupported:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// postLegacy handles a message of a session, or one that begins a session.
func (srv *Server) postLegacy(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active,
	m *mcp.Message, takes accept) {
	if m.Method == mcp.MethodInitialize && m.IsRequest() {
		srv.initialize(w, r, p, settings, m, takes) // the body negotiates the version, whatever the header says
		return
	}
	if !knownVersion(r.Header) {
		writeError(w, r, http.StatusBadRequest, errVersion)
		return
	}
	s, ok := srv.findSession(w, r, p, settings, errUnknownSession)
	if !ok {
		return
	}
	defer s.Hold()()
	c := s.Client.(*sessionClient)
	if !m.IsRequest() {
		c.Take(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	about := gateway.Exchange{Era: era.Legacy, Principal: &p, Address: clientAddress(r, settings)}
	about = correlated(w, r, about) // before a stream writes headers
	x := srv.exchange(w, r, settings, takes, func(x *exchange) streamer { return newResumableStream(x, s, m.ID) })
	defer x.abandon()
	about.Out = x
	a := c.Answer(m, about)
	defer a.Message.Hold.Release()
	x.finish(a, legacyStatus(a))
}

// legacyStatus returns the HTTP status of an answer to a legacy request.
func legacyStatus(a *gateway.Answer) int {
	if a.Refused && a.Code == mcp.CodeInvalidRequest {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// initialize begins a session.
func (srv *Server) initialize(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active,
	m *mcp.Message, takes accept) {
	if srv.isDraining() {
		writeRetryable(w, r, http.StatusServiceUnavailable, settings.Drain, errStopping)
		return
	}
	s, err := srv.sessions.New(p.Key(), nil)
	if err != nil {
		srv.sessionError(w, r, settings, err)
		return
	}
	c := s.Client.(*sessionClient)
	c.UpdatePrincipal(p)
	about := gateway.Exchange{Era: era.Legacy, Out: closedStream{}, Address: clientAddress(r, settings)}
	a := c.Answer(m, correlated(w, r, about))
	if a.Code != 0 || a.Empty() {
		s.End(sessionRefused)
	} else {
		w.Header()["Mcp-Session-Id"] = []string{s.ID}
	}
	if takes.json {
		srv.writeJSON(w, r, a.Message, http.StatusOK, settings.Send)
		return
	}
	x := &exchange{server: srv, settings: settings, w: w, r: r}
	x.end(newSSEStream(x), a.Message)
}

// A closedStream is the stream of a request that can send nothing but its
// answer.
type closedStream struct{}

func (closedStream) Send(context.Context, sendqueue.Message) error { return sendqueue.ErrClosed }
func (closedStream) TrySend(sendqueue.Message) bool                { return false }
func (closedStream) Push(sendqueue.Message) error                  { return sendqueue.ErrClosed }
func (closedStream) WaitForSpace(context.Context) error            { return nil }
