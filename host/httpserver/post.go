package httpserver

import (
	"context"
	"net/http"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// post takes one message.
func (f *Server) post(w http.ResponseWriter, r *http.Request, p authn.Principal) {
	takes := accepted(r.Header)
	if !takes.json && !takes.stream {
		refuse(w, r, http.StatusNotAcceptable, errAccept)
		return
	}
	b, ok := f.text(w, r, p)
	if !ok {
		return
	}
	defer b.release()
	place := &f.inFlight
	if !f.enter(w, r, p, place) {
		return
	}
	defer func() { place.leave(p, 1) }()
	m, ok := parsed(w, b.text)
	if !ok {
		return
	}
	if modern(r.Header, m) {
		if m.Method == mcp.MethodListen && m.IsRequest() {
			// It is answered when the client goes. Until then it counts as what a
			// session is to a legacy client.
			if !f.enter(w, r, p, &f.listening) {
				return
			}
			f.inFlight.leave(p, 1)
			place = &f.listening
		}
		f.postModern(w, r, p, m, takes)
		return
	}
	f.postLegacy(w, r, p, m, takes)
}

// An accept is what a client can read.
type accept struct{ json, stream bool }

// accepted reads the Accept header. Who does not send it takes everything.
func accepted(h http.Header) (a accept) {
	values := h["Accept"]
	if len(values) == 0 {
		return accept{true, true}
	}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "*/*":
				return accept{true, true}
			case "application/json", "application/*":
				a.json = true
			case "text/event-stream", "text/*":
				a.stream = true
			}
		}
	}
	return a
}

// postModern answers a message that stands for itself.
func (f *Server) postModern(w http.ResponseWriter, r *http.Request, p authn.Principal, m *mcp.Message, takes accept) {
	switch {
	case m.IsResponse():
		refuse(w, r, http.StatusBadRequest, errResponse)
		return
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if wrong := mismatch(r.Header, m); wrong != nil {
		body(w, http.StatusBadRequest, mcp.AppendError(nil, m.ID, wrong))
		return
	}
	x := f.exchange(w, r, takes, newSSEStream)
	a := x.answer(m, func() gateway.Answer {
		return f.o.Gateway.Answer(r.Context(), gateway.Client{Principal: p, Out: x}, m, gateway.Exchange{Out: x, Header: r.Header})
	})
	defer a.Message.Hold.Release()
	x.finish(a.Message, statusOf(a))
}

// statusOf is the status of an answer to a modern request.
func statusOf(a gateway.Answer) int {
	switch {
	case a.Code == 0:
		return http.StatusOK
	case a.Code == mcp.CodeMethodNotFound && a.Refused:
		return http.StatusNotFound
	case a.Refused, a.Code == mcp.CodeHeaderMismatch, a.Code == mcp.CodeMissingCapability, a.Code == mcp.CodeUnsupported:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// postLegacy takes a message of a session, or the one that begins a session.
func (f *Server) postLegacy(w http.ResponseWriter, r *http.Request, p authn.Principal, m *mcp.Message, takes accept) {
	if !knownVersion(r.Header) {
		refuse(w, r, http.StatusBadRequest, errVersion)
		return
	}
	if m.Method == mcp.MethodInitialize && m.IsRequest() {
		f.initialize(w, r, p, m)
		return
	}
	s, ok := f.find(w, r, p, errUnknown)
	if !ok {
		return
	}
	defer s.Hold()()
	c := s.Client.(*client)
	if !m.IsRequest() {
		c.Take(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	x := f.exchange(w, r, takes, func(x *exchange) streamer { return newResumableStream(x, s, m.ID) })
	a := x.answer(m, func() gateway.Answer { return c.Answer(m, gateway.Exchange{Out: x}) })
	defer a.Message.Hold.Release()
	x.finish(a.Message, legacyStatus(a))
}

// legacyStatus is the status of an answer to a legacy request.
func legacyStatus(a gateway.Answer) int {
	if a.Refused && a.Code == mcp.CodeInvalidRequest {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// initialize begins a session.
func (f *Server) initialize(w http.ResponseWriter, r *http.Request, p authn.Principal, m *mcp.Message) {
	if f.isDraining() {
		busy(w, r, http.StatusServiceUnavailable, f.o.Drain, errStopping)
		return
	}
	s, err := f.sessions.New(p.Key(), nil)
	if err != nil {
		f.noSession(w, r, err)
		return
	}
	c := s.Client.(*client)
	c.UpdatePrincipal(p)
	a := c.Answer(m, gateway.Exchange{Out: nowhere{}})
	if a.Code != 0 || a.Empty() {
		s.End(sessionRefused)
		f.writeJSON(w, r, a.Message, http.StatusOK)
		return
	}
	w.Header()["Mcp-Session-Id"] = []string{s.ID}
	f.writeJSON(w, r, a.Message, http.StatusOK)
}

// nowhere is the stream of a request that nothing is sent for but its answer.
type nowhere struct{}

func (nowhere) Send(context.Context, sendqueue.Message) error { return sendqueue.ErrClosed }
func (nowhere) TrySend(sendqueue.Message) bool                { return false }
func (nowhere) Push(sendqueue.Message) error                  { return sendqueue.ErrClosed }
func (nowhere) Room(context.Context) error                    { return nil }
