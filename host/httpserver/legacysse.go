package httpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// HTTP with SSE is how clients came in before there was one endpoint
// (2024-11-05, "HTTP with SSE"): a stream that everything is sent on, and an
// endpoint for what they say. Nothing can be taken up again.

// An oldClient is one such client, as long as its stream is open.
type oldClient struct {
	*gateway.Session
	owner string
	out   gateway.Stream
}

func (f *Server) legacySSEEndpoint(w http.ResponseWriter, r *http.Request) {
	method := http.MethodGet
	if r.URL.Path == "/messages" {
		method = http.MethodPost
	}
	p, ok := f.admit(w, r, method)
	switch {
	case !ok:
	case r.Method != method:
		notAllowed(w, r, method)
	case method == http.MethodGet:
		f.legacySSEStream(w, r, p)
	default:
		f.legacySSEMessage(w, r, p)
	}
}

// legacySSEStream is the stream of a new client, as long as it stays.
func (f *Server) legacySSEStream(w http.ResponseWriter, r *http.Request, p authn.Principal) {
	if !accepted(r.Header).stream {
		refuse(w, r, http.StatusNotAcceptable, errAcceptGet)
		return
	}
	defer streams(r)()
	box := f.openStream(newEvents(w, f.o.Send))
	defer box.finish(sendqueue.Message{})
	id, c, why := f.openLegacySSE(p, box)
	if why != nil {
		busy(w, r, why.busy(), fullWait, why)
		return
	}
	defer f.forgetLegacySSE(id)
	// Relative, so that it holds whatever the client calls us.
	_ = box.Push(sendqueue.Text([]byte("event: endpoint\ndata: /messages?sessionId=" + id + "\n\n")))
	life := time.NewTimer(f.life)
	defer life.Stop()
	kind, reason, grace := "", "", time.Duration(0)
	select {
	case <-r.Context().Done():
	case <-box.Done(): // it does not read
	case <-life.C:
		kind, reason = "end", sessionstore.ReasonMaxAge
	case <-f.draining:
		kind, reason, grace = "shutdown", stopping, f.o.Drain
	}
	over, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	c.Close(over, grace)
	if kind != "" {
		_ = box.Push(sendqueue.Text(fmt.Appendf(nil, "event: %s\ndata: {\"reason\":%q}\n\n", kind, reason)))
	}
}

// openLegacySSE makes a client, if there is room for one.
func (f *Server) openLegacySSE(p authn.Principal, out gateway.Stream) (id string, _ *oldClient, _ *httpError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.isDraining():
		return "", nil, errStopping
	case len(f.old)+f.sessions.Len() >= f.most:
		return "", nil, errFull
	case f.o.Several && f.legacySSESession(p.Key())+f.sessions.Of(p.Key()) >= int(half(int64(f.most))):
		return "", nil, errEnoughSessions
	}
	c := &oldClient{Session: f.o.Gateway.Open(gateway.Client{Principal: p, Out: out}), owner: p.Key(), out: out}
	id = rand.Text()
	f.old[id] = c
	return id, c, nil
}

// legacySSESession counts the clients of a principal. The caller holds mu.
func (f *Server) legacySSESession(owner string) (n int) {
	for _, c := range f.old {
		if c.owner == owner {
			n++
		}
	}
	return n
}

func (f *Server) forgetLegacySSE(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.old, id)
}

// legacySSEMessage takes a message; what it asks for is answered on the stream.
func (f *Server) legacySSEMessage(w http.ResponseWriter, r *http.Request, p authn.Principal) {
	ids := r.URL.Query()["sessionId"]
	if len(ids) != 1 {
		refuse(w, r, http.StatusBadRequest, errNoSession)
		return
	}
	f.mu.Lock()
	c := f.old[ids[0]]
	f.mu.Unlock()
	if c == nil || c.owner != p.Key() {
		refuse(w, r, http.StatusNotFound, errUnknown)
		return
	}
	b, ok := f.text(w, r, p)
	if !ok {
		return
	}
	if !f.enter(w, r, p, &f.inFlight) {
		b.release()
		return
	}
	leave, accepted := sync.OnceFunc(func() { f.inFlight.leave(p, 1); b.release() }), false // then it counts until it is answered
	defer func() {
		if !accepted {
			leave()
		}
	}()
	m, ok := parsed(w, b.text)
	if !ok {
		return
	}
	if m.IsRequest() && c.out.Room(canceled()) != nil { // it does not read what it asked for before
		busy(w, r, http.StatusServiceUnavailable, time.Second, errUnread)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	c.Accept(m, leave)
	accepted = true
}

// canceled returns a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
