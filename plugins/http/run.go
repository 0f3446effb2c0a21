package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/sdk"
)

// run sends the request, with retries, until it has a response or fails for
// good.
func (k *call) run() {
	if !k.ready() {
		return
	}
	for n := 0; ; n++ {
		f := k.attempt()
		if f == nil || k.ctx.Err() != nil || k.answeredElsewhere(f) {
			return
		}
		wait, again := k.retryDelay(f, n)
		if !again {
			k.fail(f)
			return
		}
		k.alone = f.status == http.StatusInternalServerError
		k.conn.log.Debug("sending again", "method", k.Method, "after", wait, "error", f.err)
		if !sleep(k.ctx, wait) {
			return
		}
	}
}

// attempt sends the request once. It first waits for a free connection.
func (k *call) attempt() *failure {
	if k.Method != jsonrpc.Listen { // a listen request stays open and takes no slot
		select {
		case k.conn.slots <- struct{}{}:
		default:
			select {
			case k.conn.slots <- struct{}{}:
			case <-k.ctx.Done():
				return nil
			}
		}
		defer func() { <-k.conn.slots }()
		k.conn.overlaps.begin(k)
		defer k.conn.overlaps.end(k)
	}
	return k.post()
}

// ready waits until the request may be sent. A server with sessions expects
// notifications/initialized first. List requests wait, for a limited time,
// until the listen request has a response: a change in between would be missed.
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
		return true // also if both eras were tried and server/discover was late
	}
	select {
	case <-gate:
		return true
	default:
	}
	select {
	case <-gate:
		return true
	case <-k.ctx.Done():
		return false
	}
}

// retryDelay reports whether a request that failed may be sent again without
// executing it twice, and after what delay.
func (k *call) retryDelay(f *failure, n int) (time.Duration, bool) {
	if n >= maxRetries || f.ends || f.after > retryAfter {
		return 0, false
	}
	if (k.Method == jsonrpc.Discover || k.Method == jsonrpc.Initialize) && (n > 0 || f.after > retryFirst) {
		return 0, false // the host waits for a limited time and would not learn the reason
	}
	switch f.status {
	case 0:
		// Only the host retries a server that was never reached.
		broke := f.err.Reason == "unreachable" || f.err.Reason == "stream_ended"
		if !broke || !k.conn.lived.Load() || f.sent && !jsonrpc.Safe(k.Method) {
			return 0, false
		}
		if k.Method == jsonrpc.Listen && f.err.Reason == "stream_ended" {
			return 0, false // the host must learn that it may have missed notifications
		}
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if !jsonrpc.Safe(k.Method) {
			return 0, false
		}
	case http.StatusInternalServerError:
		return 0, k.conn.overlaps.disturbed(k)
	default:
		return 0, false
	}
	return max(f.after, backoff(n)), true
}

// fail reports to the host that the request failed.
func (k *call) fail(f *failure) {
	k.conn.Report(k.ctx, &sdk.Failed{ID: k.ID, Err: f.err, Delivered: f.sent, Ends: f.ends})
	if f.ends {
		k.conn.loseSession(f.err)
	}
}

// post sends the request once and delivers the response.
func (k *call) post() *failure {
	c := k.conn
	r := c.httpRequest(&k.Envelope)
	r.Call = k.Method != jsonrpc.Listen
	if k.Method == jsonrpc.CallTool && k.Version() != "" {
		c.params.set(r.Header, &k.Envelope)
	}
	if !k.state.CompareAndSwap(waiting, sent) && k.state.Load() == dropped {
		k.cancel() // the goroutine that set dropped may not have called cancel yet
	}
	res, seen, err := c.client.Do(k.ctx, r)
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
	if k.Method == jsonrpc.Discover {
		c.deleteProbed(res)
	}
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		return k.refused(res)
	}
	c.lived.Store(true)
	if f := k.keepSession(res); f != nil {
		_ = res.Body.Close()
		return f
	}
	return k.read(res)
}

// refused handles a response whose status is not success.
func (k *call) refused(res *http.Response) *failure {
	c := k.conn
	e, body := httpclient.ErrorResponse(res)
	f := &failure{err: e, sent: true, status: res.StatusCode}
	f.after, _ = httpclient.RetryAfter(res.Header, time.Now())
	document := document(res.Header, body)
	answer := jsonrpc.Refuse(document, k.ID)
	if lost := k.lostSession(rejectionOf(res.StatusCode, res.Header, document, k.ID)); lost != nil {
		return lost
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode >= 300 && res.StatusCode < 400:
		f.sent = false
		return f
	case c.legacyOnly(k, res.StatusCode, answer != nil):
		return k.fallBack(f)
	case k.mustLearn(answer):
		return k.learn()
	}
	if answer == nil {
		return f
	}
	if _, again := k.retryDelay(f, 0); again {
		return f
	}
	c.Put(k.ctx, oneLine(answer), nil)
	return nil
}
