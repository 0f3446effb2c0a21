package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// gatherTime is how long to wait for further questions after the first, so that a
// client is asked once.
const gatherTime = 5 * time.Millisecond

// A suspendedCall is a call of a modern client to a legacy server, from the first
// request to the result. When the server asks something, the request ends with the
// question. The client sends it again with its answers, and the call continues.
type suspendedCall struct {
	gw     *Gateway
	server string
	conn   *connpool.Exclusive[*exclusivePeer]
	cancel context.CancelCauseFunc
	done   chan struct{}  // closed when the server has answered
	reply  upstream.Reply // valid once done is closed
	err    error          // valid once done is closed
	asked  chan struct{}  // holds a token when there is something to ask

	mu         sync.Mutex
	current    *request             // guarded by mu; the client's, that waits; nil: none does
	unanswered map[string]*question // guarded by mu; what was not answered yet, by key
	count      int                  // guarded by mu; of questions so far
}

// A question is a request of the server to the client.
type question struct {
	number int // in the order of the call
	method string
	params []byte
	answer chan []byte // takes one result
}

// relayExclusive sends the request over a connection that it has for itself, or
// continues what an earlier request began.
func (r *request) relayExclusive(ctx context.Context) (response, error) {
	g, server := r.gw, r.item.Server
	if t := r.resumed; t != nil {
		r.setServer(server)
		r.takeProgress()
		r.requestLogs(ctx)
		t.takeAnswers(r)
		return r.awaitCall(ctx, t)
	}
	if err := r.checkRequestState(ctx, r.generation.upstream(server)); err != nil {
		return response{}, err
	}
	held, err := r.reserveParams()
	if err != nil {
		return response{}, err
	}
	call := r.call()
	conn, err := r.acquireExclusive(server)
	if err != nil {
		held.Release()
		return response{}, fault.In(server, err)
	}
	callCtx, cancel := context.WithCancelCause(context.Background())
	t := &suspendedCall{
		gw: g, server: server, conn: conn, cancel: cancel, done: make(chan struct{}), asked: make(chan struct{}, 1),
		current: r, unanswered: map[string]*question{},
	}
	conn.Peer.setCall(t)
	r.setServer(server)
	r.requestLogs(ctx)
	if call.Progress != nil {
		call.Progress = t.forwardProgress
	}
	if r.level != "" {
		conn.Upstream.SetLevel(r.level)
	}
	g.work.Go(func() {
		defer close(t.done)
		defer held.Release()
		defer fault.Recover(&t.err, g.opts.Log, server, "serving "+r.method)
		t.reply, t.err = r.send(callCtx, conn.Upstream, call)
	})
	return r.awaitCall(ctx, t)
}

// reserveParams reserves the memory of a request that may wait for its client to come back.
func (r *request) reserveParams() (*limit.Hold, error) {
	if len(r.params) <= limit.Small {
		return nil, nil // maxSuspended bounds the memory of small requests
	}
	held, err := r.gw.opts.Budget.Hold(len(r.params))
	if err == nil {
		err = held.Assign(r.principal.Key())
	}
	if err != nil {
		held.Release()
		return nil, fault.Because(fault.GatewayOverloaded, err, "the request was not sent").WithHint("try again later")
	}
	return held, nil
}

// awaitCall waits until there is a result, or something to ask the client.
func (r *request) awaitCall(ctx context.Context, t *suspendedCall) (response, error) {
	for open := false; !open; {
		select {
		case <-t.done:
			return r.finishCall(t)
		case <-t.asked:
			open = t.hasUnanswered()
		case <-ctx.Done():
			t.abandon(context.Cause(ctx))
			return response{}, fault.Because(fault.CallCanceled, ctx.Err(), "%s was given up", r.method)
		}
	}
	state, err := t.gw.suspended.add(t, r)
	if err != nil {
		t.abandon(err)
		return response{}, err
	}
	return response{result: t.inputRequired(state)}, nil
}

// hasUnanswered waits a moment for more questions and reports whether there are any
// that still want an answer.
func (t *suspendedCall) hasUnanswered() bool {
	more := time.NewTimer(gatherTime)
	defer more.Stop()
	select {
	case <-t.done:
		return false
	case <-more.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.unanswered) > 0
}

// finishCall releases the connection and converts the reply.
func (r *request) finishCall(t *suspendedCall) (response, error) {
	t.cancel(nil)
	t.release(t.err == nil)
	return r.convert(t.reply, t.err)
}

// abandon cancels the call at the server and closes the connection.
func (t *suspendedCall) abandon(cause error) {
	t.cancel(cause)
	<-t.done
	t.reply.Hold.Release()
	t.release(false)
}

// release gives the connection back to the pool.
func (t *suspendedCall) release(reusable bool) {
	t.conn.Peer.setCall(nil)
	t.gw.conns.Release(t.conn, reusable)
}

// ask adds a question for the client and waits for the answer.
func (t *suspendedCall) ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte) {
	q := &question{method: method, params: params, answer: make(chan []byte, 1)}
	t.mu.Lock()
	if len(t.unanswered) >= era.MaxQuestions {
		t.mu.Unlock()
		return nil, mcp.ErrorObject(mcp.CodeInternal, fmt.Sprintf("more than %d questions wait for the client", era.MaxQuestions), nil)
	}
	t.count++
	q.number = t.count
	key := fmt.Sprintf("q%d", q.number)
	t.unanswered[key] = q
	t.mu.Unlock()
	t.signal()
	ctx, cancel := context.WithTimeout(ctx, AskTime)
	defer cancel()
	select {
	case result := <-q.answer:
		return result, nil
	case <-t.done:
		rpcErr = mcp.ErrorObject(mcp.CodeInternal, "the call that this is about is over", map[string]string{"reason": "over"})
	case <-ctx.Done():
		rpcErr = mcp.ErrorObject(mcp.CodeInternal, "the client did not answer", map[string]string{"reason": "timeout"})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.unanswered, key)
	return nil, rpcErr
}

// signal wakes the waiting request, because there is a question.
func (t *suspendedCall) signal() {
	select {
	case t.asked <- struct{}{}:
	default:
	}
}

// inputRequired returns the result that asks the client the open questions.
func (t *suspendedCall) inputRequired(state string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	questions := []byte("{}")
	byAge := func(a, b string) int { return cmp.Compare(t.unanswered[a].number, t.unanswered[b].number) }
	for _, key := range slices.SortedFunc(maps.Keys(t.unanswered), byAge) {
		q := t.unanswered[key]
		value := mcp.SetMember(nil, "method", mcp.AppendText(nil, q.method))
		if q.params != nil {
			value = mcp.SetMember(value, "params", q.params)
		}
		questions = mcp.SetMember(questions, key, value)
	}
	return mcp.SetMember(era.InputRequired(questions), "requestState", mcp.AppendText(nil, state))
}

// takeAnswers delivers the client's answers to their questions. Those that it left
// out are asked again.
func (t *suspendedCall) takeAnswers(r *request) {
	answers := mcp.Member(r.params, "inputResponses")
	t.setRequest(r)
	t.mu.Lock()
	for key, q := range t.unanswered {
		if answer := mcp.Member(answers, key); len(answer) > 0 && answer[0] == '{' {
			delete(t.unanswered, key)
			q.answer <- answer
		}
	}
	left := len(t.unanswered) > 0
	t.mu.Unlock()
	if left {
		t.signal()
	}
}

// forwardProgress passes the progress of the call on to the request that waits for it.
func (t *suspendedCall) forwardProgress(params []byte) {
	if r := t.currentRequest(); r != nil {
		r.progress.report(params)
	}
}

// forwardLog passes a log message on to the request that waits, if it wants it.
func (t *suspendedCall) forwardLog(params []byte) {
	if r := t.currentRequest(); r != nil && r.level != "" && atLeast(params, r.level) {
		sendNotification(r.out, mcp.NoteMessage, params)
	}
}

// setRequest sets the client's request that waits; nil: none does.
func (t *suspendedCall) setRequest(r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = r
}

func (t *suspendedCall) currentRequest() *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}
