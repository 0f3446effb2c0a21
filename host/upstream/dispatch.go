package upstream

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// deliver hands an answer and its memory to the request. A second answer and a
// late one are ignored. An answer with an id that no request had is logged once.
func (c *conn) deliver(m *mcp.Message, held *limit.Hold) {
	p := c.answered(m.ID)
	if p == nil {
		held.Release()
		c.ignored.Add(1)
		c.unasked(m.ID)
		return
	}
	if err := held.Assign(p.owner); err != nil {
		held.Release()
		p.answer <- answer{err: c.tooMuch(err)}
		return
	}
	p.answer <- answer{result: m.Result, names: m.Names, rpcError: m.Error, hold: held}
}

// unasked reports an answer with an id that no request had, once in the log.
func (c *conn) unasked(answered mcp.ID) {
	if c.issued(answered) {
		return
	}
	id := fmt.Sprintf("%.40s", answered)
	c.stray.Do(func() {
		c.up.opts.Log.Warn("the server answered with an id that no request had", "server", c.up.opts.Name, "id", id)
	})
	c.doubt(fault.New(fault.UpstreamBadMessage, "the server answered with the id %s, which no request had", id))
}

// tooMuch is the fault of a call whose answer was dropped to stay within the
// memory limit.
func (c *conn) tooMuch(why error) error {
	return fault.Because(fault.GatewayOverloaded, why, "the answer of server %q was dropped", c.up.opts.Name).
		WithHint("read the answers in time, ask for less at a time, or raise max_memory in the gateway block")
}

// answered removes and returns the request that an id belongs to, nil if none.
func (c *conn) answered(id mcp.ID) *pending {
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
		p.over()
	}
	return p
}

// cut takes note of a message that was dropped on the way.
func (c *conn) cut(cut Cut) {
	prefix, suffix, why := cut.Cut()
	switch why {
	case "gap":
		c.missed()
		return
	case "overloaded":
		id, shape := mcp.Glance(prefix)
		if id == nil {
			id = mcp.LastID(suffix)
		}
		c.lost(id, shape, c.tooMuch(limit.ErrFull))
		return
	}
	code := fault.UpstreamBadMessage
	if why == "message_too_large" {
		code = fault.UpstreamTooLarge
	}
	id, shape := mcp.Glance(prefix)
	f := fault.New(code, "the answer was dropped: %s", cut)
	switch {
	case why == "bad_message":
		f.Message = fmt.Sprintf("the transport received what is not a message, beginning with %.60q", prefix)
	case code == fault.UpstreamTooLarge:
		f = c.oversized(f)
	}
	if c.lost(id, shape, f); id == nil && shape != mcp.Asks {
		c.failOnly(c.only(), f) // the transport knows that it was a message
	}
}

// unanswered fails one request. When the connection ends because of it, nobody
// else may begin anything on it.
func (c *conn) unanswered(u Unanswered) {
	id, err, delivered, ends := u.Unanswered()
	if ends {
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
	}
	p := c.answered(id)
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

// oversized names the setting that bounds messages, and its value.
func (c *conn) oversized(f *fault.Error) *fault.Error {
	return f.WithHint("ask for less at once, or raise max_message in the server's block, which is %s now", sizeOf(c.up.opts.MaxMessage))
}

// sizeOf writes a number of bytes as the configuration does.
func sizeOf(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// invalid takes note of a message that is none.
func (c *conn) invalid(err error) {
	c.up.opts.Lines.Log(hclog.Debug, c.up.opts.Name, "ignored a message", "error", err)
	id, shape := mcp.ID(nil), mcp.Unclear
	if pe, ok := errors.AsType[*mcp.ParseError](err); ok {
		id, shape = pe.ID, pe.Shape
	}
	c.lost(id, shape, fault.Because(fault.UpstreamBadMessage, err, "the answer was not valid"))
}

// lost fails the call whose answer could not be read, when it could be seen
// which that was. A request of the server's own, whose id may be the same as
// one of ours, is refused.
func (c *conn) lost(id mcp.ID, shape mcp.Shape, err error) {
	c.ignored.Add(1)
	if shape == mcp.Asks {
		if id != nil {
			c.reply(mcp.AppendError(nil, id, mcp.ErrorObject(mcp.CodeInvalidRequest, "the request could not be read", nil)))
		}
		return
	}
	if p := c.answered(id); p != nil {
		p.answer <- answer{err: err}
	} else if shape == mcp.Answers && !c.issued(id) {
		c.doubt(err)
	}
}

// notified delivers a notification.
func (c *conn) notified(m *mcp.Message) {
	switch m.Method {
	case mcp.NoteProgress:
		if p := c.tokenOwner(m.Params); p != nil && p.progress != nil {
			p.progress(m.Params)
			return
		}
		c.ignored.Add(1)
	case mcp.NoteCancelled:
		// A server cancels what it asked us, or a modern one ends a listen.
		c.cancelled(m.Params)
	case mcp.NoteAcknowledged:
		c.acknowledged(m.Params)
	default:
		params := m.Params
		if c.era.Load() == modernEra {
			params = withoutSubscription(params)
		}
		if m.Method == mcp.NoteTask {
			c.up.noteTask(params)
		}
		var about any
		if p := c.inFlightAs(c.related()); p != nil {
			about = p.about
		}
		c.up.opts.Peer.ServerNotification(c.up, about, m.Method, params)
	}
}

// tokenOwner returns the call that a progress notification is about.
func (c *conn) tokenOwner(params []byte) *pending {
	return c.inFlightAs(mcp.Member(params, "progressToken"))
}

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

// requested answers a request of the server, in a goroutine of its own because
// the answer may come from a person. The request's memory is held until then.
func (c *conn) requested(m *mcp.Message, held *limit.Hold) {
	id := append(mcp.ID(nil), m.ID...)
	refuse := func(code int, reason, message string) {
		held.Release()
		c.ignored.Add(1)
		c.reply(mcp.AppendError(nil, id, mcp.ErrorObject(code, message, map[string]string{"reason": reason})))
	}
	switch era := c.era.Load(); {
	case era == modernEra:
		refuse(mcp.CodeInvalidRequest, "modern", "a server of this revision sends no requests; it answers with input_required")
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
	case c.requests.Add(1) > requestsWaiting:
		c.requests.Add(-1)
		refuse(mcp.CodeInternal, "overloaded", fmt.Sprintf("more than %d requests are waiting", requestsWaiting))
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	related := c.inFlightAs(c.related())
	if !c.begun(string(id), related, cancel) {
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
		// A person may take longer to answer than a call may last.
		defer c.hold(related)()
		result, rpcError := c.answerTo(ctx, about, method, params)
		if !c.finished(string(id)) || ctx.Err() != nil {
			return // cancelled, or over: nobody waits for the answer
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

// echoed reports whether a request is our own that came back, as from a program
// that repeats what it reads. Ours fails.
func (c *conn) echoed(m *mcp.Message) bool {
	p := c.inFlightAs(m.ID)
	if p == nil || p.method != m.Method || c.answered(m.ID) != p {
		return false
	}
	err := fault.New(fault.UpstreamProtocol, "it is not an MCP server: it sent our request back").
		WithHint("name a program that speaks MCP on its standard streams; one such as cat repeats what it reads")
	p.answer <- answer{err: err}
	return true
}

// answerTo asks the peer. A mistake of ours costs the question only.
func (c *conn) answerTo(ctx context.Context, about any, method string, params []byte) (result, rpcError []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.up.opts.Log.Error("a question panicked", "server", c.up.opts.Name, "panic", p, "stack", string(debug.Stack()))
			result, rpcError = nil, mcp.ErrorObject(mcp.CodeInternal, "something went wrong in junctor", nil)
		}
	}()
	return c.up.opts.Peer.ServerRequest(ctx, c.up, about, method, params)
}

// related returns the id of our request that the message belongs to which was
// read last, where the link knows.
func (c *conn) related() mcp.ID {
	if r, ok := c.link.(Relater); ok {
		return r.Related()
	}
	return nil
}

// inFlightAs returns the request of ours that has an id, nil if there is none.
func (c *conn) inFlightAs(id mcp.ID) *pending {
	n, ok := id.Number()
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[n]
}

// begun takes note of a request of the server, unless one with this id is being
// answered. It ends with the one of ours that it is about, if that is known.
func (c *conn) begun(id string, about *pending, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[id] != nil {
		return false
	}
	c.asked[id] = cancel
	if about != nil && c.pending[about.id] == about {
		about.asked = append(about.asked, cancel)
	}
	return true
}

// hold stops the clocks of the calls in the course of which the server may be
// asking, until the function it returns is called.
func (c *conn) hold(about *pending) (resume func()) {
	c.mu.Lock()
	var held []*clock
	for _, p := range c.pending {
		if p.clock != nil && (about == nil || p == about) {
			held = append(held, p.clock)
		}
	}
	c.mu.Unlock()
	for _, k := range held {
		k.hold()
	}
	return func() {
		for _, k := range held {
			k.release()
		}
	}
}

// finished reports whether a request of the server still waits for its answer,
// which it does no longer afterwards.
func (c *conn) finished(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waits := c.asked[id]
	delete(c.asked, id)
	return waits
}

// cancelled ends what a server says it no longer wants: a request of its own,
// or, for a modern one, the stream of a subscription.
func (c *conn) cancelled(params []byte) {
	id := mcp.Member(params, "requestId")
	c.mu.Lock()
	cancel := c.asked[string(id)]
	delete(c.asked, string(id))
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
		p.answer <- answer{}
	}
}

// reply sends something small that is dropped when the server does not read.
func (c *conn) reply(msg []byte) {
	if m := sendqueue.Text(msg); c.fits(m) == nil {
		c.out.TrySend(m)
	}
}
