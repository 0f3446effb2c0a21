package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// States of the GET stream of a session.
const (
	notHearing int32 = iota // not opened yet, or the server has none
	reopening               // the next attempt follows after a delay
	hearing                 // open, or requested: some servers respond only with the first event
)

const (
	// elsewhereTime is how long a request whose response ended without an answer waits for
	// the answer on the GET stream.
	elsewhereTime = time.Second
	// reopenTime is how long an accepted request waits for an interrupted GET stream.
	reopenTime = 15 * time.Second
)

const (
	maxEventID = 1024
	resumeSoon = 100 * time.Millisecond // delay after a stream that delivered something or lasted long
	lastedLong = 10 * time.Second       // duration of a stream that lasted long
)

// listen keeps the GET stream of an older server open, which carries its
// notifications and requests. After an interruption it resumes after the last
// event. opened is called after the first response of the server. listen is the body
// of a goroutine that ends with the connection, or if the server has no stream.
func (c *conn) listen(opened func()) {
	defer opened()
	defer c.hearing.Store(notHearing)
	var last string
	var delay time.Duration
	had := false
	for attempt := 0; ; attempt++ {
		c.hearing.Store(hearing)
		res, f := c.get(c.ctx, last)
		opened()
		if f != nil {
			if f.ends && had { // without had, the server may not support GET
				c.loseSession(f.err)
			}
			if f.status != 0 && !temporary(f.status) {
				c.log.Debug("the server has no GET stream", "error", f.err)
				return
			}
		} else {
			if had && last == "" {
				// Without event ids, the messages in between are lost.
				c.Report(c.ctx, &sdk.Dropped{Reason: "gap"})
			}
			had = true
			if begun := time.Now(); c.hear(res, &last, &delay) || time.Since(begun) > lastedLong {
				attempt = 0
			}
		}
		wait := backoff(attempt)
		if attempt == 0 {
			wait = resumeSoon
		}
		c.hearing.Store(reopening)
		if !sleep(c.ctx, max(delay, wait)) {
			return
		}
	}
}

// temporary reports whether a request with this status may be retried.
func temporary(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// resumable returns the id of an event if it can be sent as Last-Event-ID, and
// otherwise "". Resuming from an older id would deliver events twice.
func resumable(id string) string {
	if httpclient.Visible(id, maxEventID) {
		return id
	}
	return ""
}

// get opens a GET stream after the event last. If last is empty, the stream
// begins now.
func (c *conn) get(ctx context.Context, last string) (*http.Response, *failure) {
	h := http.Header{"Accept": {"text/event-stream"}}
	c.mu.Lock()
	c.session.header(h)
	id := c.session.id
	c.mu.Unlock()
	if last != "" {
		h.Set("Last-Event-ID", last)
	}
	res, _, err := c.client.Do(ctx, httpclient.Request{Method: "GET", Header: h})
	if err != nil {
		return nil, &failure{err: asError(err)}
	}
	kind := httpclient.ContentType(res.Header)
	switch {
	case res.StatusCode == http.StatusOK && kind == "text/event-stream":
		return res, nil
	case res.StatusCode == http.StatusOK:
		_ = res.Body.Close()
		return nil, &failure{status: http.StatusMethodNotAllowed,
			err: sdk.Errorf(sdk.Unavailable, "the response to GET has content of type %q", kind)}
	}
	e, body := httpclient.ErrorResponse(res)
	if r := rejectionOf(res.StatusCode, res.Header, body, nil); id != "" && r.verdict(false) == forgotten {
		return nil, lost(r, id)
	}
	return nil, &failure{err: e, status: res.StatusCode}
}

// hear delivers the messages of a GET stream until it breaks. It reports
// whether there were messages or the server sent a retry delay.
func (c *conn) hear(res *http.Response, last *string, delay *time.Duration) (good bool) {
	defer res.Body.Close()
	r := sse.NewReader(res.Body, c.limit)
	leave := takeForEvents(c.ctx, r, c.limit)
	defer leave()
	resumed := *last
	for {
		leave()
		ev, err := r.Next()
		if long, ok := errors.AsType[*sse.TooLongError](err); ok {
			c.drop(c.ctx, long, nil)
			continue
		}
		if err != nil {
			return good || *delay > 0
		}
		if ev.Retry > 0 {
			*delay = ev.Retry
		}
		if ev.HasID {
			again := resumed != "" && ev.ID == resumed
			*last, resumed = resumable(ev.ID), ""
			if again {
				continue // the server resumed with the last event, not after it
			}
		}
		if len(ev.Data) == 0 || !jsonrpc.Carries(ev.Name, ev.Data) {
			continue
		}
		data, _ := r.Owned(ev.Data)
		msg, err := ndjson.Message(data)
		if err != nil {
			c.junk(data)
			continue
		}
		good = true
		c.Put(c.ctx, msg, nil)
		if kind, _ := jsonrpc.Glance(msg); kind == jsonrpc.Response {
			c.settled(msg)
		}
	}
}

// answeredElsewhere waits for the answer to a request whose response ended without one. It
// returns true if the call has ended, and false if the call fails with f. A request with
// status 202 waits as long as the GET stream can bring the answer: its timeout is the
// host's. Another response was probably cut off, so the wait is short.
func (k *call) answeredElsewhere(f *failure) bool {
	if !f.unanswered && !f.accepted || k.Version() != "" {
		return false
	}
	for closed := time.Duration(0); closed < reopenTime; {
		switch k.conn.hearing.Load() {
		case notHearing:
			return false
		case hearing:
			closed = 0
		default:
			closed += elsewhereTime
		}
		if !sleep(k.ctx, elsewhereTime) {
			return true
		}
		if !f.accepted {
			return false
		}
	}
	return false
}

// resume reopens the stream of a call after its last event. It returns nil if
// that fails. quiet is the number of streams in a row without a message: if the
// server sends no retry delay, the delay grows with it.
func (k *call) resume(attempt, quiet int) *http.Response {
	for ; attempt <= maxRetries; attempt++ {
		wait := max(k.delay, resumeSoon, backoff(max(attempt-1, 0))/10)
		if k.delay == 0 {
			wait = max(wait, backoff(max(quiet-1, 0))/10)
		}
		if !sleep(k.ctx, wait) {
			return nil
		}
		res, f := k.conn.get(k.ctx, k.lastID)
		if f == nil {
			return res
		}
		if f.status != 0 && !temporary(f.status) {
			return nil
		}
	}
	return nil
}

// drop reports an event that is too long to the host. id is the request of the
// stream. If the event is the response to another request, that request ends.
func (c *conn) drop(ctx context.Context, long *sse.TooLongError, id []byte) {
	c.dropped.Add(1)
	c.Report(ctx,
		&sdk.Dropped{Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit), Prefix: long.Prefix})
	if kind, _ := jsonrpc.Glance(long.Prefix); kind == jsonrpc.Response && !jsonrpc.Answers(long.Prefix, id) {
		c.settled(long.Prefix)
	}
}

// junkShown is the maximum number of bytes logged of data that is not a
// message.
const junkShown = 200

func (c *conn) junk(data []byte) {
	if c.dropped.Add(1) <= 100 {
		c.log.Debug("the server sent data that is not a message", "data", fmt.Sprintf("%.*q", junkShown, data))
	}
}
