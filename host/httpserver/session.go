package httpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// sessionRefused is why a session ends whose handshake failed.
const sessionRefused = "refused"

// maxSessionID bounds what is looked for.
const maxSessionID = 128

// begin brings the gateway's side of a session to life.
func (f *Server) begin(s *sessionstore.Session) any {
	c := gateway.Client{Out: &common{s.Log()}, Changed: s.SetState} // the request says who it is
	from := s.State()
	if len(from) == 0 {
		return &client{Session: f.o.Gateway.Open(c)}
	}
	// The process that answered them is gone, and nobody knows what became of
	// the requests that it did not answer.
	for _, open := range s.Log().Open() {
		lost := mcp.ErrorObject(mcp.CodeInternal, "junctor was started again before the answer: whether this was done is not known", map[string]string{"reason": "restarted"})
		s.Log().Append(open.Stream, sessionstore.Event{Data: [][]byte{mcp.AppendError(nil, open.Request, lost)}, Last: true})
	}
	return &client{Session: f.o.Gateway.Resume(c, from), seen: true}
}

// ended ends the gateway's side of a session.
func (f *Server) ended(s *sessionstore.Session) {
	f.work.Go(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel() // nobody waits for the answers
		s.Client.(*client).Close(over, 0)
	})
}

// A client is the other end of a session.
type client struct {
	*gateway.Session

	mu        sync.Mutex
	seen      bool                     // guarded by mu; the common stream was read once
	following map[uint32]chan struct{} // guarded by mu; closed when another request takes the stream over
}

// follow gives a stream to a request, and takes it from the one that had it: a
// client that comes back may be quicker than the news that it was cut off.
func (c *client) follow(number uint32) (taken <-chan struct{}, release func()) {
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

// first reports whether the common stream is read for the first time.
func (c *client) first() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.seen
	c.seen = true
	return first
}

// find returns the session that a request belongs to, or answers it. A session
// of somebody else looks as if it were not there.
func (f *Server) find(w http.ResponseWriter, r *http.Request, p authn.Principal, unknown *httpError) (*sessionstore.Session, bool) {
	ids := r.Header["Mcp-Session-Id"]
	if len(ids) != 1 || ids[0] == "" || len(ids[0]) > maxSessionID {
		refuse(w, r, http.StatusBadRequest, errNoSession)
		return nil, false
	}
	s, err := f.sessions.Find(ids[0], p.Key())
	switch {
	case err == nil:
		s.Client.(*client).UpdatePrincipal(p)
		return s, true
	case errors.Is(err, sessionstore.ErrUnknown):
		refuse(w, r, http.StatusNotFound, unknown)
	default:
		f.noSession(w, r, err)
	}
	return nil, false
}

// fullWait is when to try again where there is no room for a session.
const fullWait = 5 * time.Second

// noSession answers a request for which there is no session.
func (f *Server) noSession(w http.ResponseWriter, r *http.Request, err error) {
	full, ok := errors.AsType[*sessionstore.FullError](err)
	switch {
	case ok && full.Owner:
		busy(w, r, errEnoughSessions.busy(), fullWait, errEnoughSessions)
	case ok:
		busy(w, r, http.StatusServiceUnavailable, fullWait, errFull)
	case errors.Is(err, sessionstore.ErrClosed):
		busy(w, r, http.StatusServiceUnavailable, f.o.Drain, errStopping)
	default:
		f.o.Log.Error("a session cannot be had", "error", err)
		busy(w, r, http.StatusServiceUnavailable, fullWait, errStore)
	}
}

// remove ends a session because its client says so.
func (f *Server) remove(w http.ResponseWriter, r *http.Request, p authn.Principal) {
	if mcp.Revision(r.Header.Get("Mcp-Protocol-Version")).Modern() {
		notAllowed(w, r, "POST")
		return
	}
	if !knownVersion(r.Header) {
		refuse(w, r, http.StatusBadRequest, errVersion)
		return
	}
	s, ok := f.find(w, r, p, errUnknown)
	if !ok {
		return
	}
	s.End(sessionstore.ReasonClosed)
	w.WriteHeader(http.StatusNoContent)
}

// A common is the stream of a session that belongs to no request.
type common struct{ log *sessionstore.Log }

var _ gateway.Stream = (*common)(nil)

// add puts a message into the log, where whoever reads the stream finds it.
func add(log *sessionstore.Log, number uint32, m sendqueue.Message, last bool) uint64 {
	return log.Append(number, sessionstore.Event{Data: [][]byte{m.Head, m.Body, m.Tail}, Transient: m.Passing, Last: last})
}

func (c *common) Send(_ context.Context, m sendqueue.Message) error {
	add(c.log, sessionstore.Common, m, false)
	return nil
}

func (c *common) TrySend(m sendqueue.Message) bool {
	add(c.log, sessionstore.Common, m, false)
	return true
}

func (c *common) Push(m sendqueue.Message) error { return c.Send(context.Background(), m) }
func (c *common) Room(context.Context) error     { return nil }
