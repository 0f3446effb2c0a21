package upstream

import (
	"context"
	"fmt"
	"strconv"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A writer sends messages on one connection. A conn has one. It is immutable, and its methods
// may be called concurrently. The goroutine that writes is that of out.
type writer struct {
	out       *sendqueue.Queue
	table     *requestTable
	unmatched *unmatched
	max       int // bytes of a message
}

// startRequest registers and sends a request.
func (w *writer) startRequest(ctx context.Context, p *pending, params []byte) error {
	if err := w.register(p); err != nil {
		return err
	}
	return w.queueRequest(ctx, p, params)
}

// register assigns an id to a request and starts its clock.
func (w *writer) register(p *pending) error {
	p.answer = make(chan answer, 1)
	var over func()
	if p.clock.d > 0 {
		over = func() { w.expire(p) }
	}
	return w.table.add(p, w.unmatched, over)
}

// queueRequest queues a registered request. It waits for space in the queue until ctx
// ends or the timeout of the request has passed.
func (w *writer) queueRequest(ctx context.Context, p *pending, params []byte) error {
	msg := w.compose(p, params)
	err := w.fits(msg)
	if err == nil && !w.out.Offer(msg) {
		err = w.sendLater(ctx, p, msg)
	}
	if err != nil {
		w.table.forget(p)
	}
	return err
}

// sendLater waits for space in the queue until ctx ends or the request expires.
func (w *writer) sendLater(ctx context.Context, p *pending, msg sendqueue.Message) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.table.setGiveUp(p, cancel)
	return w.out.Send(ctx, msg)
}

// pushRequest is like queueRequest, for a small request, and does not wait.
func (w *writer) pushRequest(p *pending, params []byte) { _ = w.out.Push(w.compose(p, params)) }

func (w *writer) compose(p *pending, params []byte) sendqueue.Message {
	id := strconv.AppendUint(nil, p.id, 10)
	if p.progress != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, id)
	}
	head, tail := mcp.RequestEnvelope(id, p.method, params != nil)
	return sendqueue.Message{Head: head, Body: params, Tail: tail, Sent: &p.sent, Withdrawn: &p.withdrawn}
}

// fits rejects a message larger than the limit of the link, which would close.
func (w *writer) fits(msg sendqueue.Message) error {
	size := len(msg.Head) + len(msg.Body) + len(msg.Tail)
	if size <= w.max {
		return nil
	}
	f := fault.New(fault.UpstreamTooLarge,
		"a message of %d bytes to the server exceeds the limit of %d bytes", size, w.max)
	return oversized(f, w.max)
}

// send sends a message that is not a request.
func (w *writer) send(ctx context.Context, text []byte) error {
	msg := sendqueue.Text(text)
	if err := w.fits(msg); err != nil {
		return err
	}
	w.table.sendsNoRequest()
	return w.out.Send(ctx, msg)
}

// notify sends a notification.
func (w *writer) notify(ctx context.Context, method string, params []byte) error {
	return w.send(ctx, mcp.AppendNotification(nil, method, params))
}

// reply sends a small message. It drops the message if the send queue is full.
func (w *writer) reply(msg []byte) {
	if m := sendqueue.Text(msg); w.fits(m) == nil {
		w.table.sendsNoRequest()
		w.out.TrySend(m)
	}
}

// cancel tells the server to cancel a request that it may have received. It does not
// block: each request has at most one cancellation.
func (w *writer) cancel(p *pending, reason string) {
	p.withdrawn.Store(true)
	if !p.sent.Load() {
		w.out.Purge()
		return
	}
	params := fmt.Appendf(nil, `{"requestId":%d}`, p.id)
	if reason != "" {
		params = mcp.SetMember(params, "reason", mcp.AppendText(nil, reason))
	}
	w.table.sendsNoRequest()
	_ = w.out.Push(sendqueue.Text(mcp.AppendNotification(nil, mcp.NoteCancelled, params)))
}

// expire cancels and fails a request whose time has passed. The clock of the request calls it.
func (w *writer) expire(p *pending) {
	if w.table.take(p) {
		w.cancel(p, timedOut)
		p.answer <- answer{err: errTimedOut}
	}
}
