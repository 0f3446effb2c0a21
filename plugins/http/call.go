package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	retriesMost = 3
	retryFirst  = time.Second // doubled each time, and up to a tenth more
	retryLast   = 30 * time.Second
	retryAfter  = 60 * time.Second // a server that asks for more is not waited for
)

// Where a call is before the server may have seen it, and after.
const (
	waiting int32 = iota
	sent
	dropped // before it was sent
)

// A call is a request of the host's until it is answered.
type call struct {
	jsonrpc.Envelope
	conn   *conn
	ctx    context.Context // ends when the host no longer wants the answer
	cancel context.CancelFunc
	turn   atomic.Int32 // waiting, sent or dropped
	begun  func()       // of a request to listen: it is listened to, or not

	// Of the goroutine that runs the call.
	learned bool          // the tools were listed on its account
	lastID  string        // of the last event of its stream
	delay   time.Duration // that the server asked for, before its stream is resumed
}

// A failure is why a call was not answered.
type failure struct {
	err    *sdk.Error
	sent   bool          // the server may have acted on it
	status int           // of HTTP; 0: there was no answer
	after  time.Duration // that the server asked to wait
	ends   bool          // the connection is over

	brought bool // of a stream that ended: there were messages on it
}

// run sends the request until it is answered, or fails for good.
func (k *call) run() {
	if !k.ready() {
		return
	}
	for n := 0; ; n++ {
		f := k.attempt()
		if f == nil || k.ctx.Err() != nil {
			return
		}
		wait, again := k.again(f, n)
		if !again {
			k.fail(f)
			return
		}
		k.conn.log.Debug("sending again", "method", k.Method, "after", wait, "error", f.err)
		if !sleep(k.ctx, wait) {
			return
		}
	}
}

// attempt sends the request once, when its turn has come.
func (k *call) attempt() *failure {
	if k.Method != jsonrpc.Listen { // which stays open
		select {
		case k.conn.slots <- struct{}{}:
			defer func() { <-k.conn.slots }()
		case <-k.ctx.Done():
			return nil
		}
	}
	return k.post()
}

// ready waits until the server may be asked: one that keeps sessions expects to
// be told first that the handshake is over. And lists are not asked for before
// it is listened to, though not for long, or a change in between would be missed.
func (k *call) ready() bool {
	k.conn.mu.Lock()
	gate, heard := k.conn.session.gate, k.conn.heard
	k.conn.mu.Unlock()
	if heard != nil && strings.HasSuffix(k.Method, "/list") {
		select {
		case <-heard:
		case <-k.ctx.Done():
			return false
		}
	}
	if gate == nil || k.Method == jsonrpc.Initialize || k.Version() != "" {
		return true // also when both eras were tried and the modern one was late
	}
	select {
	case <-gate:
		return true
	case <-k.ctx.Done():
		return false
	}
}

// again says whether a request that failed is worth another attempt, which is
// certain to do nothing twice, and when.
func (k *call) again(f *failure, n int) (time.Duration, bool) {
	if n >= retriesMost || f.ends || f.after > retryAfter {
		return 0, false
	}
	if (k.Method == jsonrpc.Discover || k.Method == jsonrpc.Initialize) && (n > 0 || f.after > retryFirst) {
		return 0, false // the host waits only so long, and would not learn why
	}
	switch f.status {
	case 0:
		// A server that was never reached is not worth waiting for here: the
		// host tries again in its own time.
		broke := f.err.Reason == "unreachable" || f.err.Reason == "stream_ended"
		if !broke || !k.conn.lived.Load() || f.sent && !jsonrpc.Safe(k.Method) {
			return 0, false
		}
		if k.Method == jsonrpc.Listen && f.err.Reason == "stream_ended" {
			return 0, false // the host has to know that it missed something
		}
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if !jsonrpc.Safe(k.Method) {
			return 0, false
		}
	default:
		return 0, false
	}
	return max(f.after, backoff(n)), true
}

// backoff is how long to wait before attempt n+1.
func backoff(n int) time.Duration {
	d := min(retryFirst<<min(n, 10), retryLast)
	return d + rand.N(d/10)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail tells the host that there will be no answer.
func (k *call) fail(f *failure) {
	k.conn.Report(k.ctx, &sdk.Failed{ID: k.ID, Err: f.err, Delivered: f.sent, Ends: f.ends})
	if f.ends {
		k.conn.lose(f.err)
	}
}

// post sends the request once and delivers what comes back.
func (k *call) post() *failure {
	c := k.conn
	h := c.header(&k.Envelope)
	if k.Method == jsonrpc.CallTool && k.Version() != "" {
		c.params.set(h, &k.Envelope)
	}
	if !k.turn.CompareAndSwap(waiting, sent) && k.turn.Load() == dropped {
		k.cancel() // whoever dropped it is about to do so
	}
	res, seen, err := c.client.Do(k.ctx, httpclient.Request{Method: "POST", Header: h, Body: k.Raw, Call: k.Method != jsonrpc.Listen})
	if k.begun != nil {
		k.begun()
	}
	if err != nil {
		f := &failure{err: asError(err), sent: seen}
		if seen && f.err.Reason == "unreachable" {
			f.err.Reason = "stream_ended"
		}
		return f
	}
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		return k.refused(res)
	}
	c.lived.Store(true)
	if f := k.begins(res); f != nil {
		_ = res.Body.Close()
		return f
	}
	return k.read(res)
}

// refused makes sense of an answer with a status that is not success.
func (k *call) refused(res *http.Response) *failure {
	c := k.conn
	e, body := httpclient.Refusal(res)
	f := &failure{err: e, sent: true, status: res.StatusCode}
	f.after, _ = httpclient.RetryAfter(res.Header, time.Now())
	answer := jsonrpc.Refuse(body, k.ID)
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode >= 300 && res.StatusCode < 400:
		f.sent = false
		return f
	case c.forgotten(res.StatusCode, body, k):
		return lost(e)
	case c.falls(k, res.StatusCode, answer != nil):
		return k.fallBack(f)
	case k.mustLearn(answer):
		return k.learn()
	}
	if answer == nil {
		return f
	}
	if _, again := k.again(f, 0); again {
		return f
	}
	c.Put(k.ctx, oneLine(answer), nil)
	return nil
}
