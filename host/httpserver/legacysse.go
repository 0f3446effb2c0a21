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
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// The transport HTTP+SSE of revision 2024-11-05 has one stream for everything
// that is sent to the client, and an endpoint for the client's messages. Its
// streams cannot be resumed.

// A legacyClient is a client over HTTP+SSE. It exists while its stream is open. stream makes it
// and ends it. Messages of its client may be handled concurrently.
type legacyClient struct {
	*gateway.Session
	owner string
	out   gateway.Stream
}

// legacySSE serves the clients over HTTP+SSE. The Server has one. Its methods may be called
// concurrently.
type legacySSE struct {
	server *Server

	mu      sync.Mutex
	clients map[string]*legacyClient // guarded by mu; by session id
}

// count returns the number of clients.
func (ls *legacySSE) count() int {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.clients)
}

func (ls *legacySSE) serve(w http.ResponseWriter, r *http.Request, settings *active) {
	method := http.MethodGet
	if r.URL.Path == "/messages" {
		method = http.MethodPost
	}
	setRequestID(w, r)
	p, ok := ls.server.admission.admit(w, r, settings, method)
	switch {
	case !ok:
	case r.Method != method:
		notAllowed(w, r, method)
	case method == http.MethodGet:
		ls.stream(w, r, p, settings)
	default:
		ls.message(w, r, p, settings)
	}
}

// stream opens the stream of a new client and serves it until the
// client disconnects, the session is too old, or the server ends. It blocks as long as the
// stream is open.
func (ls *legacySSE) stream(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active) {
	if !acceptOf(r.Header).stream {
		writeError(w, r, http.StatusNotAcceptable, errAcceptGet)
		return
	}
	defer httpconn.MarkStream(r)()
	stream := ls.server.openStream(newEventWriter(w, settings.Send), settings.Keepalive)
	defer stream.finish(sendqueue.Message{})
	id, c, err := ls.open(p, clientAddress(r, settings), settings, stream)
	if err != nil {
		ls.server.admission.refuse(p.Tenant, outcome.Overloaded, err.reason)
		writeRetryable(w, r, err.retryStatus(), sessionRetryAfter, err)
		return
	}
	defer ls.close(id, p, settings)
	// The address is relative, so that it works under every name of the server.
	_ = stream.Push(sendqueue.Text([]byte("event: endpoint\ndata: /messages?sessionId=" + id + "\n\n")))
	life := time.NewTimer(settings.Sessions.Life)
	defer life.Stop()
	ctx, done := ls.server.register(&clientStream{request: r, principal: p}, settings)
	defer done()
	var end *streamEnd
	grace := time.Duration(0)
	select {
	case <-stream.Done(): // the client does not read
	case <-life.C:
		end = &streamEnd{"end", sessionstore.ReasonMaxAge}
	case <-ctx.Done():
		if end = streamEndOf(ctx); end != nil && end != errRefused {
			grace = settings.Drain
		}
	}
	over, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	c.Close(over, grace)
	if end != nil {
		_ = stream.Push(sendqueue.Text(fmt.Appendf(nil, "event: %s\ndata: {\"reason\":%q}\n\n", end.kind, end.reason)))
	}
}

// open creates a client, or returns the error to send.
func (ls *legacySSE) open(
	p authn.Principal, address string, settings *active, out gateway.Stream,
) (id string, _ *legacyClient, _ *httpError) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.server.isDraining() {
		return "", nil, errStopping
	}
	if err := settings.sessions.acquire(p); err != nil {
		return "", nil, err
	}
	client := gateway.Client{Principal: p, Address: address, Out: out}
	c := &legacyClient{Session: ls.server.gateway.Open(client), owner: p.Key(), out: out}
	id = rand.Text()
	ls.clients[id] = c
	return id, c, nil
}

func (ls *legacySSE) close(id string, p authn.Principal, settings *active) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.clients, id)
	settings.sessions.release(p)
}

// message handles a message of a client. The answer is sent on the
// client's stream.
func (ls *legacySSE) message(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active) {
	ids := r.URL.Query()["sessionId"]
	if len(ids) != 1 {
		writeError(w, r, http.StatusBadRequest, errNoSession)
		return
	}
	ls.mu.Lock()
	c := ls.clients[ids[0]]
	ls.mu.Unlock()
	if c == nil || c.owner != p.Key() {
		writeError(w, r, http.StatusNotFound, errUnknownSession)
		return
	}
	c.UpdatePrincipal(p)
	b, ok := ls.server.readBody(w, r, p, settings)
	if !ok {
		return
	}
	if !ls.server.admission.acquire(w, r, p, settings.inFlight) {
		b.release()
		return
	}
	// An accepted message counts until it is answered.
	leave, accepted := sync.OnceFunc(func() { settings.inFlight.release(p); b.release() }), false
	defer func() {
		if !accepted {
			leave()
		}
	}()
	m, ok := parseMessage(w, b.text)
	if !ok {
		return
	}
	if m.IsRequest() && c.out.WaitForSpace(canceled()) != nil { // the client does not read earlier answers
		writeRetryable(w, r, http.StatusServiceUnavailable, time.Second, errNotReading)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	c.AcceptAs(correlated(w, r, gateway.Exchange{Principal: &p}), m, leave)
	accepted = true
}

// canceled returns a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
