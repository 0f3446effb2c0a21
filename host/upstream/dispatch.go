package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// A dispatcher reads the messages of a server and passes them to the requests and to the peer.
// One goroutine calls its methods.
type dispatcher struct {
	conn     *conn
	arriving atomic.Pointer[limit.Hold] // memory of the message being read
}

// deliver passes a response and its memory to the request.
func (d *dispatcher) deliver(m *mcp.Message, held *limit.Hold) {
	p := d.conn.table.takePending(m.ID)
	if p == nil {
		d.handleUnmatched(m)
		held.Release()
		return
	}
	if held != nil { // small messages are not counted
		if err := held.Assign(p.memoryOwner()); err != nil {
			held.Release()
			p.answer <- answer{err: d.overloadError(err)}
			return
		}
	}
	p.answer <- answer{reply: &Reply{Result: m.Result, Names: m.Names, Error: m.Error, Hold: held}}
}

// overloadError returns the fault of a call whose response was dropped because of
// the memory limit.
func (d *dispatcher) overloadError(why error) error {
	return fault.Because(fault.GatewayOverloaded, why, "the response was dropped").
		WithHint("read the responses in time, request less at a time, or raise max_memory in the gateway block")
}

// authorHint is the hint for a server that breaks the protocol.
const authorHint = "update the server, or report this to its author"

// handleCut handles a message that the link dropped.
func (d *dispatcher) handleCut(cut Cut) {
	prefix, suffix, why := cut.Cut()
	switch why {
	case "gap":
		d.conn.listener.notifyMissed()
		return
	case "overloaded":
		id, shape := mcp.Glance(prefix)
		if id == nil {
			id = mcp.LastID(suffix)
		}
		d.failLost(id, shape, d.overloadError(limit.ErrFull))
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
		f.Message = fmt.Sprintf("the server sent more than %s that are no message and begin with %.60q",
			sizeOf(d.conn.up.opts.MaxMessage), prefix)
		f.Hint = strayOf(d.conn.up.opts.Program).hint
	case why == "bad_message":
		f.Message = fmt.Sprintf("the transport received an invalid message, which begins with %.60q", prefix)
	case code == fault.UpstreamTooLarge:
		f = oversized(f, d.conn.up.opts.MaxMessage)
	}
	if d.failLost(id, shape, f); id == nil && shape != mcp.ShapeRequest {
		d.failPending(d.conn.table.soleRequest(), f) // the transport identified the dropped text as a message
	}
}

// handleUnanswered fails one request. If the connection ends because of it, no new
// request starts on it.
func (d *dispatcher) handleUnanswered(u Unanswered) {
	id, delivered, ends, err := u.Unanswered()
	if ends {
		d.conn.table.close()
	}
	p := d.conn.table.takePending(id)
	if p == nil {
		d.conn.ignored.Add(1)
		return
	}
	if !delivered {
		p.sent.Store(false)
	}
	if f := fault.As(err); f.Code == fault.UpstreamTooLarge && f.Hint == "" {
		copied := *f
		err = oversized(&copied, d.conn.up.opts.MaxMessage)
	}
	p.answer <- answer{err: err}
}

// oversized adds a hint with the limit for messages, in bytes.
func oversized(f *fault.Error, most int) *fault.Error {
	return f.WithHint("request less at once, or raise max_message in the server's block (now %s)", sizeOf(most))
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
func (d *dispatcher) handleInvalid(err error) {
	d.conn.up.opts.Lines.Log(hclog.Debug, d.conn.up.opts.Name, "ignored a message", "error", err)
	id, shape := mcp.ID(nil), mcp.ShapeUnknown
	if pe, ok := errors.AsType[*mcp.ParseError](err); ok {
		if pe.Bare && pe.ID != nil {
			d.handleBare(pe.ID)
			return
		}
		id, shape = pe.ID, pe.Shape
	}
	d.failLost(id, shape, fault.Because(fault.UpstreamBadMessage, err, "the response was invalid").WithHint(authorHint))
}

// handleBare handles an object with an id and no other member of a message. Programs log such
// objects, also on standard output. The id may be that of a call by chance, so the call goes
// on; its timeout names the object.
func (d *dispatcher) handleBare(id mcp.ID) {
	d.conn.ignored.Add(1)
	d.conn.unmatched.add("an object with the id " + truncate.Bytes(string(id), unmatchedID) +
		", without result and error")
}

// failLost fails the call whose response was lost, if its id is known. If the lost
// message was a request of the server, failLost sends an error response.
func (d *dispatcher) failLost(id mcp.ID, shape mcp.Shape, err error) {
	d.conn.ignored.Add(1)
	if shape == mcp.ShapeRequest {
		if id != nil {
			rpcError := mcp.ErrorObject(mcp.CodeInvalidRequest, "the request could not be read", nil)
			d.conn.writer.reply(mcp.AppendError(nil, id, rpcError))
		}
		return
	}
	if p := d.conn.table.takePending(id); p != nil {
		p.answer <- answer{err: err}
		return
	}
	issued := d.conn.table.issued(id)
	tooLarge := fault.Is(err, fault.UpstreamTooLarge) // it may never end
	if shape == mcp.ShapeResponse && (!issued || tooLarge) {
		d.conn.unmatched.add("one that could not be used: " + truncate.Bytes(err.Error(), unmatchedText))
	}
	if shape == mcp.ShapeResponse && !issued {
		d.suspect(err)
	}
}

// handleNotification delivers a notification.
func (d *dispatcher) handleNotification(m *mcp.Message) {
	switch m.Method {
	case mcp.NoteProgress:
		if p := d.tokenOwner(m.Params); p != nil && p.progress != nil {
			p.progressed.Store(true)
			p.progress(m.Params)
			return
		}
		d.conn.ignored.Add(1)
	case mcp.NoteCancelled:
		// A server cancels its own request; a modern server also ends a listen request.
		d.handleCancelled(m.Params)
	case mcp.NoteAcknowledged:
		d.conn.listener.handleAcknowledged(m.Params)
	default:
		params := m.Params
		if d.conn.era.Load() == modernEra {
			params = withoutSubscription(params)
		}
		if m.Method == mcp.NoteTask {
			d.conn.up.subs.recordTask(params)
		}
		var about any
		if p := d.conn.table.pendingByID(d.related()); p != nil {
			about = p.about
		}
		d.conn.up.opts.Peer.ServerNotification(d.conn.up, about, m.Method, params)
	}
}

// tokenOwner returns the call that a progress notification belongs to, or nil.
func (d *dispatcher) tokenOwner(params []byte) *pending {
	token := mcp.ID(mcp.Member(params, "progressToken"))
	if p := d.conn.table.pendingByID(token); p != nil {
		return p
	}
	return d.conn.table.taskOf(token)
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
// person may have to answer. It holds the request's memory until then. The goroutine is counted
// in handlers of the connection.
func (d *dispatcher) handleRequest(m *mcp.Message, held *limit.Hold) {
	id := append(mcp.ID(nil), m.ID...)
	refuse := func(code int, why, message string) {
		held.Release()
		d.conn.ignored.Add(1)
		d.conn.writer.reply(mcp.AppendError(nil, id, mcp.ErrorObject(code, message, map[string]string{"reason": why})))
	}
	switch era := d.conn.era.Load(); {
	case era == modernEra:
		refuse(mcp.CodeInvalidRequest, "modern",
			"servers of this revision send no requests; they return input_required")
		return
	case m.Method == mcp.MethodPing:
		held.Release()
		d.conn.writer.reply(mcp.AppendResult(nil, id, []byte("{}")))
		return
	case era != legacyEra && d.echoed(m):
		return
	case era != legacyEra:
		refuse(mcp.CodeInvalidRequest, "handshake", "the handshake is not over")
		return
	case d.conn.requests.Add(1) > maxServerRequests:
		d.conn.requests.Add(-1)
		refuse(mcp.CodeInternal, "overloaded", fmt.Sprintf("more than %d requests are waiting", maxServerRequests))
		return
	}
	ctx, cancel := context.WithCancel(d.conn.ctx)
	related := d.conn.table.pendingByID(d.related())
	if !d.conn.table.beginServerRequest(string(id), related, cancel) {
		cancel()
		d.conn.requests.Add(-1)
		refuse(mcp.CodeInvalidRequest, "duplicate_id", "a request with this id is being answered")
		return
	}
	var about any
	if related != nil {
		about = related.about
	}
	method, params := m.Method, m.Params
	d.conn.handlers.Go(func() {
		defer d.conn.up.settle()
		defer d.conn.requests.Add(-1)
		defer held.Release()
		defer cancel()
		if mcp.NeedsPerson(method) { // a person may need more time than the timeout of the call
			defer d.conn.table.pauseClocks(related)()
		}
		result, rpcError := d.askPeer(ctx, about, method, params)
		if !d.conn.table.finishServerRequest(string(id)) || ctx.Err() != nil {
			return // cancelled: the server expects no response
		}
		msg := mcp.AppendResult(nil, id, result)
		if rpcError != nil {
			msg = mcp.AppendError(nil, id, rpcError)
		}
		if err := d.conn.writer.send(ctx, msg); fault.Is(err, fault.UpstreamTooLarge) {
			_ = d.conn.writer.send(ctx, mcp.AppendError(nil, id, mcp.ErrorObject(mcp.CodeInternal, err.Error(), nil)))
		}
	})
}

// echoed reports whether the server has sent back a request of the host, as a program
// does that copies its input to its output. It fails that request.
func (d *dispatcher) echoed(m *mcp.Message) bool {
	p := d.conn.table.pendingByID(m.ID)
	if p == nil || p.method != m.Method || d.conn.table.takePending(m.ID) != p {
		return false
	}
	err := fault.New(fault.UpstreamProtocol, "the program is not an MCP server: it returned the request unchanged").
		WithHint(
			"configure a program that speaks MCP on its standard streams; programs such as cat only copy their input",
		)
	p.answer <- answer{err: err}
	return true
}

// askPeer passes a request to the peer. A panic becomes an error response.
func (d *dispatcher) askPeer(ctx context.Context, about any, method string, params []byte) (result, rpcError []byte) {
	var panicked error
	defer func() {
		if panicked != nil {
			result, rpcError = nil, mcp.ErrorObject(mcp.CodeInternal, "internal error in junctor", nil)
		}
	}()
	defer fault.Recover(&panicked, d.conn.up.opts.Log, d.conn.up.opts.Name, "answering a request of the server")
	return d.conn.up.opts.Peer.ServerRequest(ctx, d.conn.up, about, method, params)
}

// related returns the id of the host's request that the last message belongs to, or
// nil if the link does not know it.
func (d *dispatcher) related() mcp.ID {
	if r, ok := d.conn.link.(Relater); ok {
		return r.Related()
	}
	return nil
}

// handleCancelled handles notifications/cancelled. It cancels a request of the
// server, or ends a listen request of a modern server.
func (d *dispatcher) handleCancelled(params []byte) {
	cancel, p := d.conn.table.takeCancelled(mcp.Member(params, "requestId"))
	if cancel != nil {
		cancel()
	}
	if p != nil {
		p.answer <- answer{reply: &Reply{}}
	}
}
