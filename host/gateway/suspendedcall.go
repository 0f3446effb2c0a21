package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// gatherTime is how long to wait for further questions after the first, so that a
// client is asked once.
const gatherTime = 5 * time.Millisecond

// A suspendedCall is what a modern client wants from an old server, from its first
// request to the result. When the server asks something, the request ends with
// that; the client makes it again with its answers, and the talk goes on.
type suspendedCall struct {
	gw     *Gateway
	lease  *exclusiveConn
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

// A question is something that the server asks.
type question struct {
	number int // of those of its talk
	method string
	params []byte
	answer chan []byte // takes one result
}

// relayExclusive does something with a server over a connection that the request has
// for itself, or goes on with what an earlier request began.
func (r *request) relayExclusive(server string, do func(ctx context.Context, u Use) (upstream.Reply, error)) ([]byte, *rpcError) {
	g := r.session.gw
	t, err := g.resumeCall(server, r)
	switch {
	case err != nil:
		return nil, err
	case t != nil:
		return r.awaitCall(t)
	}
	held, err := r.reserveParams()
	if err != nil {
		return nil, err
	}
	l, failed := g.acquireExclusive(server, r)
	if failed != nil {
		held.Release()
		return nil, r.fault(fault.In(server, failed))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	t = &suspendedCall{
		gw: g, lease: l, cancel: cancel, done: make(chan struct{}), asked: make(chan struct{}, 1),
		current: r, unanswered: map[string]*question{},
	}
	g.exclusiveMu.Lock()
	l.call = t
	g.exclusiveMu.Unlock()
	u := r.newUse(server)
	u.Upstream = l.up
	if u.Progress != nil {
		u.Progress = t.forwardProgress
	}
	if r.level != "" {
		l.up.SetLevel(r.level)
	}
	g.work.Go(func() {
		defer close(t.done)
		defer held.Release()
		defer func() {
			if p := recover(); p != nil {
				t.err = g.panicked(r.method, p)
			}
		}()
		t.reply, t.err = do(ctx, u)
	})
	return r.awaitCall(t)
}

// reserveParams reserves the memory of a request that may wait for its client to come back.
func (r *request) reserveParams() (*limit.Hold, *rpcError) {
	if len(r.params) <= limit.Small {
		return nil, nil // as many as may wait are little
	}
	held, err := r.session.gw.opts.Budget.Hold(len(r.params))
	if err == nil {
		err = held.Assign(r.session.Principal().Key())
	}
	if err != nil {
		held.Release()
		return nil, r.fault(fault.Because(fault.GatewayOverloaded, err, "the request was not sent").WithHint("try again later"))
	}
	return held, nil
}

// awaitCall waits until there is a result, or something to ask the client.
func (r *request) awaitCall(t *suspendedCall) ([]byte, *rpcError) {
	for open := false; !open; {
		select {
		case <-t.done:
			return r.finishCall(t)
		case <-t.asked:
			open = t.hasUnanswered()
		case <-r.ctx.Done():
			t.abandon(context.Cause(r.ctx))
			return nil, r.fault(fault.Because(fault.CallCanceled, r.ctx.Err(), "%s was given up", r.method))
		}
	}
	state, err := t.gw.suspend(t, r)
	if err != nil {
		t.abandon(err)
		return nil, r.fault(err)
	}
	return t.inputRequired(state), nil
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

// finishCall gives the connection back and passes the reply on.
func (r *request) finishCall(t *suspendedCall) ([]byte, *rpcError) {
	t.cancel(nil)
	t.gw.releaseExclusive(t.lease, t.err == nil)
	return r.convertReply(t.reply, t.err)
}

// abandon gives up: the server is told, and the connection closed.
func (t *suspendedCall) abandon(cause error) {
	t.cancel(cause)
	<-t.done
	t.reply.Hold.Release()
	t.gw.releaseExclusive(t.lease, false)
}

// ask puts a question to the client and waits for the answer.
func (t *suspendedCall) ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte) {
	q := &question{method: method, params: params, answer: make(chan []byte, 1)}
	t.mu.Lock()
	if len(t.unanswered) >= maxQuestions {
		t.mu.Unlock()
		return nil, mcp.ErrorObject(mcp.CodeInternal, fmt.Sprintf("more than %d questions wait for the client", maxQuestions), nil)
	}
	t.count++
	q.number = t.count
	key := fmt.Sprintf("q%d", q.number)
	t.unanswered[key] = q
	t.mu.Unlock()
	t.signal()
	ctx, cancel := context.WithTimeout(ctx, askTime)
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

// signal says that there is something to ask.
func (t *suspendedCall) signal() {
	select {
	case t.asked <- struct{}{}:
	default:
	}
}

// inputRequired is the result that asks the client what is open.
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
	result := mcp.SetMember([]byte(`{"resultType":"input_required"}`), "inputRequests", questions)
	return mcp.SetMember(result, "requestState", mcp.AppendText(nil, state))
}

// takeAnswers hands the client's answers to the questions that they are for. What it
// left out is asked again.
func (t *suspendedCall) takeAnswers(r *request) {
	answers := mcp.Member(r.params, "inputResponses")
	t.mu.Lock()
	t.current = r
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

func (t *suspendedCall) currentRequest() *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}
