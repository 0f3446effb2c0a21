package upstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// deliver passes a response and its memory to the request.
func (c *conn) deliver(m *mcp.Message, held *limit.Hold) {
	p := c.takePending(m.ID)
	if p == nil {
		c.handleUnmatched(m)
		held.Release()
		return
	}
	if held != nil { // small messages are not counted
		if err := held.Assign(p.memoryOwner()); err != nil {
			held.Release()
			p.answer <- answer{err: c.overloadError(err)}
			return
		}
	}
	p.answer <- answer{reply: &Reply{Result: m.Result, Names: m.Names, Error: m.Error, Hold: held}}
}

// overloadError returns the fault of a call whose response was dropped because of
// the memory limit.
func (c *conn) overloadError(why error) error {
	return fault.Because(fault.GatewayOverloaded, why, "the response was dropped").
		WithHint("read the responses in time, request less at a time, or raise max_memory in the gateway block")
}

// takePending removes and returns the request with the given id, or nil.
func (c *conn) takePending(id mcp.ID) *pending {
	n, ok := id.Number()
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[n]
	delete(c.pending, n)
	delete(c.listens, n)
	if p != nil {
		c.answered(p)
		p.cancelServerRequests()
	}
	return p
}

// authorHint is the hint for a server that breaks the protocol.
const authorHint = "update the server, or report this to its author"

// handleCut handles a message that the link dropped.
func (c *conn) handleCut(cut Cut) {
	prefix, suffix, why := cut.Cut()
	switch why {
	case "gap":
		c.notifyMissed()
		return
	case "overloaded":
		id, shape := mcp.Glance(prefix)
		if id == nil {
			id = mcp.LastID(suffix)
		}
		c.failLost(id, shape, c.overloadError(limit.ErrFull))
		return
	}
	code := fault.UpstreamBadMessage
	if why == "message_too_large" {
		code = fault.UpstreamTooLarge
	}
	id, shape := mcp.Glance(prefix)
	f := fault.New(code, "the response was dropped: %s", cut).WithHint(authorHint)
	switch {
	case code == fault.UpstreamTooLarge && id == nil && shape == mcp.ShapeUnknown:
		f.Message = fmt.Sprintf("the server sent more than %s that are no message and begin with %.60q", sizeOf(c.up.opts.MaxMessage), prefix)
		f.Hint = strayOf(c.up.opts.Program).hint
	case why == "bad_message":
		f.Message = fmt.Sprintf("the transport received an invalid message, which begins with %.60q", prefix)
	case code == fault.UpstreamTooLarge:
		f = c.oversized(f)
	}
	if c.failLost(id, shape, f); id == nil && shape != mcp.ShapeRequest {
		c.failPending(c.soleRequest(), f) // the transport identified the dropped text as a message
	}
}

// handleUnanswered fails one request. If the connection ends because of it, no new
// request starts on it.
func (c *conn) handleUnanswered(u Unanswered) {
	id, delivered, ends, err := u.Unanswered()
	if ends {
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
	}
	p := c.takePending(id)
	if p == nil {
		c.ignored.Add(1)
		return
	}
	if !delivered {
		p.sent.Store(false)
	}
	if f := fault.As(err); f.Code == fault.UpstreamTooLarge && f.Hint == "" {
		copied := *f
		err = c.oversized(&copied)
	}
	p.answer <- answer{err: err}
}

// oversized adds a hint with the limit for messages.
func (c *conn) oversized(f *fault.Error) *fault.Error {
	return f.WithHint("request less at once, or raise max_message in the server's block (now %s)", sizeOf(c.up.opts.MaxMessage))
}

// sizeOf formats a number of bytes in the configuration's units.
func sizeOf(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// handleInvalid handles a message that is not valid.
func (c *conn) handleInvalid(err error) {
	c.up.opts.Lines.Log(hclog.Debug, c.up.opts.Name, "ignored a message", "error", err)
	id, shape := mcp.ID(nil), mcp.ShapeUnknown
	if pe, ok := errors.AsType[*mcp.ParseError](err); ok {
		if pe.Bare && pe.ID != nil {
			c.handleBare(pe.ID)
			return
		}
		id, shape = pe.ID, pe.Shape
	}
	c.failLost(id, shape, fault.Because(fault.UpstreamBadMessage, err, "the response was invalid").WithHint(authorHint))
}

// handleBare handles an object with an id and no other member of a message. Programs log such
// objects, also on standard output. The id may be that of a call by chance, so the call goes
// on; its timeout names the object.
func (c *conn) handleBare(id mcp.ID) {
	c.ignored.Add(1)
	c.unmatched.add("an object with the id " + truncate.Bytes(string(id), unmatchedID) + ", without result and error")
}

// failLost fails the call whose response was lost, if its id is known. If the lost
// message was a request of the server, failLost sends an error response.
func (c *conn) failLost(id mcp.ID, shape mcp.Shape, err error) {
	c.ignored.Add(1)
	if shape == mcp.ShapeRequest {
		if id != nil {
			c.reply(mcp.AppendError(nil, id, mcp.ErrorObject(mcp.CodeInvalidRequest, "the request could not be read", nil)))
		}
		return
	}
	if p := c.takePending(id); p != nil {
		p.answer <- answer{err: err}
		return
	}
	issued := c.issued(id)
	if shape == mcp.ShapeResponse && (!issued || fault.Is(err, fault.UpstreamTooLarge)) { // one that is too large may never end
		c.unmatched.add("one that could not be used: " + truncate.Bytes(err.Error(), unmatchedText))
	}
	if shape == mcp.ShapeResponse && !issued {
		c.suspect(err)
	}
}

// handleNotification delivers a notification.
func (c *conn) handleNotification(m *mcp.Message) {
	switch m.Method {
	case mcp.NoteProgress:
		if p := c.tokenOwner(m.Params); p != nil && p.progress != nil {
			p.progressed.Store(true)
			p.progress(m.Params)
			return
		}
		c.ignored.Add(1)
	case mcp.NoteCancelled:
		// A server cancels its own request; a modern server also ends a listen request.
		c.handleCancelled(m.Params)
	case mcp.NoteAcknowledged:
		c.handleAcknowledged(m.Params)
	default:
		params := m.Params
		if c.era.Load() == modernEra {
			params = withoutSubscription(params)
		}
		if m.Method == mcp.NoteTask {
			c.up.recordTask(params)
		}
		var about any
		if p := c.pendingByID(c.related()); p != nil {
			about = p.about
		}
		c.up.opts.Peer.ServerNotification(c.up, about, m.Method, params)
	}
}

// tokenOwner returns the call that a progress notification belongs to, or nil.
func (c *conn) tokenOwner(params []byte) *pending {
	token := mcp.ID(mcp.Member(params, "progressToken"))
	if p := c.pendingByID(token); p != nil {
		return p
	}
	return c.taskOf(token)
}

// withoutSubscription removes the subscription id from the params of a
// notification.
func withoutSubscription(params []byte) []byte {
	meta := mcp.Member(params, "_meta")
	if mcp.Member(meta, mcp.MetaSubscription) == nil {
		return params
	}
	meta = mcp.DeleteMember(meta, mcp.MetaSubscription)
	if mcp.Empty(meta) {
		return mcp.DeleteMember(params, "_meta")
	}
	return mcp.SetMember(params, "_meta", meta)
}

// handleRequest answers a request of the server in a new goroutine, because a
// person may have to answer. It holds the request's memory until then.
func (c *conn) handleRequest(m *mcp.Message, held *limit.Hold) {
	id := append(mcp.ID(nil), m.ID...)
	refuse := func(code int, reason, message string) {
		held.Release()
		c.ignored.Add(1)
		c.reply(mcp.AppendError(nil, id, mcp.ErrorObject(code, message, map[string]string{"reason": reason})))
	}
	switch era := c.era.Load(); {
	case era == modernEra:
		refuse(mcp.CodeInvalidRequest, "modern", "servers of this revision send no requests; they return input_required")
		return
	case m.Method == mcp.MethodPing:
		held.Release()
		c.reply(mcp.AppendResult(nil, id, []byte("{}")))
		return
	case era != legacyEra && c.echoed(m):
		return
	case era != legacyEra:
		refuse(mcp.CodeInvalidRequest, "handshake", "the handshake is not over")
		return
	case c.requests.Add(1) > maxServerRequests:
		c.requests.Add(-1)
		refuse(mcp.CodeInternal, "overloaded", fmt.Sprintf("more than %d requests are waiting", maxServerRequests))
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	related := c.pendingByID(c.related())
	if !c.beginServerRequest(string(id), related, cancel) {
		cancel()
		c.requests.Add(-1)
		refuse(mcp.CodeInvalidRequest, "duplicate_id", "a request with this id is being answered")
		return
	}
	var about any
	if related != nil {
		about = related.about
	}
	method, params := m.Method, m.Params
	c.handlers.Go(func() {
		defer c.up.settle()
		defer c.requests.Add(-1)
		defer held.Release()
		defer cancel()
		if mcp.NeedsPerson(method) { // a person may need more time than the timeout of the call
			defer c.pauseClocks(related)()
		}
		result, rpcError := c.askPeer(ctx, about, method, params)
		if !c.finishServerRequest(string(id)) || ctx.Err() != nil {
			return // cancelled: the server expects no response
		}
		msg := mcp.AppendResult(nil, id, result)
		if rpcError != nil {
			msg = mcp.AppendError(nil, id, rpcError)
		}
		if err := c.send(ctx, msg); fault.Is(err, fault.UpstreamTooLarge) {
			_ = c.send(ctx, mcp.AppendError(nil, id, mcp.ErrorObject(mcp.CodeInternal, err.Error(), nil)))
		}
	})
}

// echoed reports whether the server has sent back a request of the host, as a program
// does that copies its input to its output. It fails that request.
func (c *conn) echoed(m *mcp.Message) bool {
	p := c.pendingByID(m.ID)
	if p == nil || p.method != m.Method || c.takePending(m.ID) != p {
		return false
	}
	err := fault.New(fault.UpstreamProtocol, "the program is not an MCP server: it returned the request unchanged").
		WithHint("configure a program that speaks MCP on its standard streams; programs such as cat only copy their input")
	p.answer <- answer{err: err}
	return true
}

// askPeer passes a request to the peer. A panic becomes an error response.
func (c *conn) askPeer(ctx context.Context, about any, method string, params []byte) (result, rpcError []byte) {
	var panicked error
	defer func() {
		if panicked != nil {
			result, rpcError = nil, mcp.ErrorObject(mcp.CodeInternal, "internal error in junctor", nil)
		}
	}()
	defer fault.Recover(&panicked, c.up.opts.Log, c.up.opts.Name, "answering a request of the server")
	return c.up.opts.Peer.ServerRequest(ctx, c.up, about, method, params)
}

// related returns the id of the host's request that the last message belongs to, or
// nil if the link does not know it.
func (c *conn) related() mcp.ID {
	if r, ok := c.link.(Relater); ok {
		return r.Related()
	}
	return nil
}

// pendingByID returns the host's unanswered request with the given id, or nil.
func (c *conn) pendingByID(id mcp.ID) *pending {
	n, ok := id.Number()
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[n]
}

// beginServerRequest registers a request of the server. It returns false if the id
// is in use. The request is cancelled with about, the host's request that it belongs
// to, if known.
func (c *conn) beginServerRequest(id string, about *pending, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.serverRequests[id] != nil {
		return false
	}
	c.serverRequests[id] = cancel
	if about != nil && c.pending[about.id] == about {
		about.serverRequests = append(about.serverRequests, cancel)
	}
	return true
}

// pauseClocks pauses the timeouts of the calls that a server's request may belong
// to, until resume is called.
func (c *conn) pauseClocks(about *pending) (resume func()) {
	c.mu.Lock()
	var held []*callClock
	for _, p := range c.pending {
		if p.clock.d > 0 && (about == nil || p == about) {
			held = append(held, &p.clock)
		}
	}
	c.mu.Unlock()
	for _, k := range held {
		k.pause()
	}
	return func() {
		for _, k := range held {
			k.resume()
		}
	}
}

// finishServerRequest removes a request of the server. It reports whether the server
// still expects a response.
func (c *conn) finishServerRequest(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waits := c.serverRequests[id]
	delete(c.serverRequests, id)
	return waits
}

// handleCancelled handles notifications/cancelled. It cancels a request of the
// server, or ends a listen request of a modern server.
func (c *conn) handleCancelled(params []byte) {
	id := mcp.Member(params, "requestId")
	c.mu.Lock()
	cancel := c.serverRequests[string(id)]
	delete(c.serverRequests, string(id))
	n, ok := mcp.ID(id).Number()
	var p *pending
	if ok && c.listens[n] {
		p = c.pending[n]
		delete(c.pending, n)
		delete(c.listens, n)
	}
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	if p != nil {
		p.answer <- answer{reply: &Reply{}}
	}
}

// reply sends a small message. It drops the message if the send queue is full.
func (c *conn) reply(msg []byte) {
	if m := sendqueue.Text(msg); c.fits(m) == nil {
		c.sendsNoRequest()
		c.out.TrySend(m)
	}
}
