package gateway

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// askTime bounds how long a client, and the person behind it, may take to answer a
// server's question.
const askTime = 10 * time.Minute

// offered holds the methods of server requests that are relayed to clients, with
// the client capability that each needs.
var offered = map[string]string{
	mcp.MethodSample: "sampling",
	mcp.MethodElicit: "elicitation",
	mcp.MethodRoots:  "roots",
}

// noCapability is the reason of an error about a client that cannot be asked.
const noCapability = "no_capability"

// serverFacingCapabilities keeps of a client's capabilities what servers may ask it for, and the
// extensions that it knows.
func serverFacingCapabilities(caps []byte) []byte {
	out := []byte("{}")
	for _, name := range []string{"roots", "sampling", "elicitation", "extensions"} {
		if v := mcp.Member(caps, name); v != nil {
			out = mcp.SetMember(out, name, v)
		}
	}
	return out
}

// checkQuestion returns the error of a question that a client with these
// capabilities cannot be asked; nil when it can.
func checkQuestion(caps []byte, method string, params []byte) (rpcErr []byte) {
	capability, known := offered[method]
	switch {
	case !known:
		return mcp.ErrorObject(mcp.CodeMethodNotFound, "method not found: "+clip(method), nil)
	case mcp.Member(caps, capability) == nil:
		return mcp.ErrorObject(mcp.CodeMethodNotFound, fmt.Sprintf("the client does not have the capability %q", capability),
			map[string]string{"reason": noCapability})
	}
	if err := missingSubCapability(mcp.Member(caps, capability), method, params); err != "" {
		return mcp.ErrorObject(mcp.CodeInvalidParams, err, map[string]string{"reason": noCapability})
	}
	if method == mcp.MethodElicit {
		if asked := mcp.Member(params, "requestedSchema"); asked != nil {
			if err := schema.VetElicitation(asked); err != nil {
				return mcp.ErrorObject(mcp.CodeInvalidParams, "requestedSchema: "+err.Error(), nil)
			}
		}
	}
	return nil
}

// missingSubCapability returns which member of the capability a question needs and
// the client lacks; empty: none.
func missingSubCapability(capability []byte, method string, params []byte) string {
	has := func(name string) bool { return mcp.Member(capability, name) != nil }
	mode, _ := mcp.TextMember(params, "mode")
	switch {
	case method == mcp.MethodElicit && mode == "url" && !has("url"):
		return "the client does not have the capability \"elicitation.url\""
	case method == mcp.MethodElicit && mode != "url" && has("url") && !has("form"):
		return "the client does not have the capability \"elicitation.form\""
	case method == mcp.MethodSample && !has("tools") && (mcp.Member(params, "tools") != nil || mcp.Member(params, "toolChoice") != nil):
		return "the client does not have the capability \"sampling.tools\""
	}
	return ""
}

// noClient returns the error of a question that no client can answer.
func noClient(method string) (rpcErr []byte) {
	return mcp.ErrorObject(mcp.CodeMethodNotFound, "there is no client that could answer "+clip(method), map[string]string{"reason": "no_client"})
}

// capabilities are what the client of a legacy session said that it has; none
// without a session.
func (s *Session) capabilities() []byte {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

// An pendingQuestion is a request of a server that a client has been asked to answer.
type pendingQuestion struct {
	answer chan *mcp.Message
	token  []byte // the server's progress token, nil for none
	server *upstream.Upstream
}

// question asks a legacy client what a server wants to know, on the stream it
// belongs to.
func (s *Session) question(ctx context.Context, to Stream, u *upstream.Upstream, method string, params []byte) (result, rpcErr []byte) {
	if err := s.gw.checkQuestion(u.Name(), s.capabilities(), method, params); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a := &pendingQuestion{answer: make(chan *mcp.Message, 1), token: mcp.Member(params, "_meta", "progressToken"), server: u}
	id := s.recordQuestion(a)
	defer s.forgetQuestion(id)
	text := strconv.AppendUint(nil, id, 10)
	if a.token != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, text)
	}
	if method == mcp.MethodElicit {
		s.rememberPendingURL(u.Name(), params)
	}
	if err := to.Send(ctx, sendqueue.Text(mcp.AppendRequest(nil, text, method, params))); err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client cannot be asked", nil)
	}
	select {
	case m := <-a.answer:
		return m.Result, m.Error
	case <-s.ctx.Done():
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client has gone", nil)
	case <-ctx.Done():
		sendNotification(to, mcp.NoteCancelled, fmt.Appendf(nil, `{"requestId":%d,"reason":"the server no longer wants it"}`, id))
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client did not answer", map[string]string{"reason": "timeout"})
	}
}

// recordQuestion takes note of a question and gives it an id.
func (s *Session) recordQuestion(a *pendingQuestion) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asks == nil {
		s.asks = map[uint64]*pendingQuestion{}
	}
	s.lastAsk++
	s.asks[s.lastAsk] = a
	return s.lastAsk
}

func (s *Session) forgetQuestion(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asks, id)
}

// handleResponse delivers a client's response to the question it answers.
func (s *Session) handleResponse(m *mcp.Message) {
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
