package httpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// sessionRefused is the reason for ending a session whose handshake failed.
const sessionRefused = "refused"

// maxSessionID is the length in bytes of the longest session id that is looked
// up.
const maxSessionID = 128

// beginSession creates the gateway's part of a new or restored session. The session store calls
// beginSession and endSession, once for each session.
func (srv *Server) beginSession(s *sessionstore.Session) any {
	// Each request sets its principal.
	c := gateway.Client{Out: &commonStream{s.Log()}, Changed: s.SetState, Session: sessionDigest(s.ID)}
	from := s.State()
	if len(from) == 0 {
		return &sessionClient{Session: srv.gateway.Open(c)}
	}
	// The previous process may or may not have executed the requests that it
	// did not answer.
	for _, open := range s.Log().Open() {
		lost := mcp.ErrorObject(mcp.CodeInternal,
			"junctor was restarted before the answer: it is not known whether the request was executed",
			map[string]string{"reason": "restarted"})
		s.Log().Append(open.Stream,
			sessionstore.Event{Data: [][]byte{mcp.AppendError(nil, open.Request, lost)}, Last: true})
	}
	return &sessionClient{Session: srv.gateway.Resume(c, from), opened: true}
}

// sessionDigest returns a name of a session that does not prove it.
func sessionDigest(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// endSession ends the gateway's part of a session.
func (srv *Server) endSession(s *sessionstore.Session) {
	srv.work.Go(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel() // does not wait for answers
		s.Client.(*sessionClient).Close(over, 0)
	})
}

// A sessionClient is the Client of a session: the gateway's session and the state of
// its streams. The session store keeps it with its session, from beginSession to endSession.
// Its methods may be called concurrently.
type sessionClient struct {
	*gateway.Session

	mu        sync.Mutex
	opened    bool                     // guarded by mu; the common stream was opened once
	following map[uint32]chan struct{} // guarded by mu; closed when another request takes over the stream
}

// takeStream assigns a stream to a request and takes it from the previous one. A
// client may reconnect before the server notices that the old connection is
// lost.
func (c *sessionClient) takeStream(number uint32) (taken <-chan struct{}, release func()) {
	mine := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.following[number]; before != nil {
		close(before)
	}
	if c.following == nil {
		c.following = map[uint32]chan struct{}{}
	}
	c.following[number] = mine
	return mine, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.following[number] == mine {
			delete(c.following, number)
		}
	}
}

// firstRead reports whether the common stream is opened for the first time.
func (c *sessionClient) firstRead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.opened
	c.opened = true
	return first
}

// findSession returns the session of a request, or answers the request. A
// session of another principal looks as if it did not exist.
func (srv *Server) findSession(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active,
	unknown *httpError) (*sessionstore.Session, bool) {
	ids := r.Header["Mcp-Session-Id"]
	if len(ids) != 1 || ids[0] == "" || len(ids[0]) > maxSessionID {
		writeError(w, r, http.StatusBadRequest, errNoSession)
		return nil, false
	}
	s, err := srv.sessions.Find(ids[0], p.Key())
	switch {
	case err == nil:
		s.Client.(*sessionClient).UpdatePrincipal(p)
		return s, true
	case errors.Is(err, sessionstore.ErrUnknown):
		writeError(w, r, http.StatusNotFound, unknown)
	default:
		srv.sessionError(w, r, settings, err)
	}
	return nil, false
}

// sessionRetryAfter is the Retry-After of a request that gets no session because of a
// limit or a failure of the store.
const sessionRetryAfter = 5 * time.Second

// sessionError answers a request after an error of the session store.
func (srv *Server) sessionError(w http.ResponseWriter, r *http.Request, settings *active, err error) {
	switch {
	case limit.IsShare(err) || errors.Is(err, limit.ErrQuota):
		why := settings.sessions.errorFor(err)
		srv.admission.refuse("", outcome.Overloaded, why.reason)
		writeRetryable(w, r, why.retryStatus(), sessionRetryAfter, why)
	case errors.Is(err, sessionstore.ErrClosed):
		writeRetryable(w, r, http.StatusServiceUnavailable, settings.Drain, errStopping)
	default:
		srv.log.Error("reading the session store failed", "error", err)
		writeRetryable(w, r, http.StatusServiceUnavailable, sessionRetryAfter, errStore)
	}
}

// deleteSession ends a session at the request of its client.
func (srv *Server) deleteSession(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active) {
	if mcp.Revision(r.Header.Get("Mcp-Protocol-Version")).Modern() {
		notAllowed(w, r, "POST")
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
	s.End(sessionstore.ReasonClosed)
	w.WriteHeader(http.StatusNoContent)
}

// A commonStream is the stream of a session that belongs to no request. It is immutable; its
// methods may be called concurrently and do not wait.
type commonStream struct{ log *sessionstore.Log }

var _ gateway.Stream = (*commonStream)(nil)

// appendMessage appends a message to the log, and returns its position.
func appendMessage(log *sessionstore.Log, number uint32, m sendqueue.Message, last bool) uint64 {
	return log.Append(number,
		sessionstore.Event{Data: [][]byte{m.Head, m.Body, m.Tail}, Transient: m.Transient, Last: last})
}

func (c *commonStream) Send(_ context.Context, m sendqueue.Message) error {
	appendMessage(c.log, sessionstore.Common, m, false)
	return nil
}

func (c *commonStream) TrySend(m sendqueue.Message) bool {
	appendMessage(c.log, sessionstore.Common, m, false)
	return true
}

func (c *commonStream) Push(m sendqueue.Message) error     { return c.Send(context.Background(), m) }
func (c *commonStream) WaitForSpace(context.Context) error { return nil }
