package gateway

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outbox"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// askTime bounds how long a client, and the person behind it, may take to
// answer what a server asks.
const askTime = 10 * time.Minute

// offered are the requests of servers that are passed on, with the capability
// a client must have said it has.
var offered = map[string]string{
	mcp.MethodSample: "sampling",
	mcp.MethodElicit: "elicitation",
	mcp.MethodRoots:  "roots",
}

// reverse keeps of a client's capabilities what servers may ask it for.
func reverse(caps []byte) []byte {
	out := []byte("{}")
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		if v := mcp.Member(caps, name); v != nil {
			out = mcp.SetMember(out, name, v)
		}
	}
	return out
}

// only returns the one client that a server can mean: a shared connection
// cannot say on whose behalf it asks.
func (g *Gateway) only() *Session {
	all := g.all()
	if len(all) != 1 || !all[0].legacy() {
		return nil
	}
	return all[0]
}

// Capabilities are what servers are offered: what the only client has, or
// nothing.
func (g *Gateway) Capabilities() []byte {
	s := g.only()
	if s == nil {
		return []byte("{}")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return reverse(s.caps)
}

// An asking is a request of a server that a client has been asked to answer.
type asking struct {
	answer chan *mcp.Message
	token  []byte // the server's progress token, nil for none
	server *upstream.Upstream
}

// ServerRequest answers what a server asks.
func (g *Gateway) ServerRequest(ctx context.Context, u *upstream.Upstream, method string, params []byte) (result, rpcErr []byte) {
	capability, known := offered[method]
	if !known {
		return nil, mcp.ErrorObject(mcp.CodeMethodNotFound, "method not found: "+clip(method), nil)
	}
	s := g.only()
	if s == nil {
		return nil, mcp.ErrorObject(mcp.CodeMethodNotFound, "there is no client that could answer "+method,
			map[string]string{"reason": "no_client"})
	}
	s.mu.Lock()
	has := mcp.Member(s.caps, capability) != nil
	s.mu.Unlock()
	if !has {
		return nil, mcp.ErrorObject(mcp.CodeMethodNotFound, fmt.Sprintf("the client does not have the capability %q", capability),
			map[string]string{"reason": "no_capability"})
	}
	if method == mcp.MethodElicit {
		if asked := mcp.Member(params, "requestedSchema"); asked != nil {
			if err := schema.VetElicitation(asked); err != nil {
				return nil, mcp.ErrorObject(mcp.CodeInvalidParams, "requestedSchema: "+err.Error(), nil)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return s.ask(ctx, u, method, params)
}

// ask sends the client a request and waits for its answer.
func (s *Session) ask(ctx context.Context, u *upstream.Upstream, method string, params []byte) (result, rpcErr []byte) {
	a := &asking{answer: make(chan *mcp.Message, 1), token: mcp.Member(params, "_meta", "progressToken"), server: u}
	s.mu.Lock()
	s.lastAsk++
	id := s.lastAsk
	s.asks[id] = a
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asks, id)
		s.mu.Unlock()
	}()
	text := strconv.AppendUint(nil, id, 10)
	if a.token != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, text)
	}
	if err := s.out.Send(ctx, outbox.Text(mcp.AppendRequest(nil, text, method, params))); err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client cannot be asked", nil)
	}
	select {
	case m := <-a.answer:
		return m.Result, m.Error
	case <-s.ctx.Done():
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client has gone", nil)
	case <-ctx.Done():
		s.tell(mcp.NoteCancelled, fmt.Appendf(nil, `{"requestId":%d,"reason":"the server no longer wants it"}`, id))
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client did not answer", map[string]string{"reason": "timeout"})
	}
}

// answered hands a client's answer to whoever asked.
func (s *Session) answered(m *mcp.Message) {
	n, ok := m.ID.Number()
	if !ok {
		return
	}
	s.mu.Lock()
	a := s.asks[n]
	delete(s.asks, n)
	s.mu.Unlock()
	if a != nil {
		a.answer <- m
	}
}

// askProgressed passes on the progress of a client that answers a request.
func (s *Session) askProgressed(params []byte) {
	n, ok := mcp.ID(mcp.Member(params, "progressToken")).Number()
	if !ok {
		return
	}
	s.mu.Lock()
	a := s.asks[n]
	s.mu.Unlock()
	if a != nil && a.token != nil {
		a.server.Notify(mcp.NoteProgress, mcp.SetMember(params, "progressToken", a.token))
	}
}
