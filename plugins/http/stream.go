package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	eventIDMost = 1024
	resumeSoon  = 100 * time.Millisecond // after a stream that was good for something
	lastedLong  = 10 * time.Second       // such as one that was open for so long
)

// listen keeps a stream open for what an older server says on its own account.
// Where it breaks it goes on behind the last event that came. opened is called
// when the server has answered for the first time.
func (c *conn) listen(opened func()) {
	defer opened()
	var last string
	var delay time.Duration
	had := false
	for attempt := 0; ; attempt++ {
		res, f := c.get(c.ctx, last)
		opened()
		if f != nil {
			if f.ends && had { // or it never had a stream to ask for
				c.lose(f.err)
			}
			if f.status != 0 && !temporary(f.status) {
				c.log.Debug("the server has no stream of its own", "error", f.err)
				return
			}
		} else {
			if had && last == "" {
				// Where events have no ids, what came in between is lost.
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
		if !sleep(c.ctx, max(delay, wait)) {
			return
		}
	}
}

// temporary reports whether a status is worth another attempt.
func temporary(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// resumable is an event's id where it can be sent back, and otherwise empty: from
// an older one on, events would come twice.
func resumable(id string) string {
	if httpclient.Visible(id, eventIDMost) {
		return id
	}
	return ""
}

// get opens a stream behind the event last; empty is from now on.
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
		return nil, &failure{status: http.StatusMethodNotAllowed, err: sdk.Errorf(sdk.Unavailable, "it answers GET with content of type %q", kind)}
	}
	e, body := httpclient.Refusal(res)
	if id != "" && unknownSession(res.StatusCode, body) {
		return nil, lost(e)
	}
	return nil, &failure{err: e, status: res.StatusCode}
}

// hear delivers what comes on a stream until it breaks. It reports whether that
// was good for something: there were messages, or the server said when to ask
// for more.
func (c *conn) hear(res *http.Response, last *string, delay *time.Duration) (good bool) {
	defer res.Body.Close()
	r := sse.NewReader(res.Body, c.limit)
	resumed := *last
	for {
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
				continue // a server that begins with the last event, not behind it
			}
		}
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
			continue
		}
		data := bytes.Clone(ev.Data)
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

// resume goes on with the stream of a call that broke, behind its last event;
// nil when that cannot be done. quiet is how many streams have brought nothing
// since one did: a server that does not say when to ask is asked less often.
func (k *call) resume(attempt, quiet int) *http.Response {
	for ; attempt <= retriesMost; attempt++ {
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

// drop tells the host of an event that was too long to be delivered, on the stream
// of the request with id. Where it was the answer to another, that is over.
func (c *conn) drop(ctx context.Context, long *sse.TooLongError, id []byte) {
	c.dropped.Add(1)
	c.Report(ctx, &sdk.Dropped{Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit), Prefix: long.Prefix})
	if kind, _ := jsonrpc.Glance(long.Prefix); kind == jsonrpc.Response && !jsonrpc.Answers(long.Prefix, id) {
		c.settled(long.Prefix)
	}
}

// junkShown bounds what is logged of what is not a message.
const junkShown = 200

func (c *conn) junk(data []byte) {
	if c.dropped.Add(1) <= 100 {
		c.log.Debug("the server sent what is not a message", "data", fmt.Sprintf("%.*q", junkShown, data))
	}
}

// pump passes on what an older transport receives.
func (c *conn) pump(from sdk.Conn) {
	for {
		msg, err := from.Recv()
		_, dropped := errors.AsType[*sdk.Dropped](err)
		_, failed := errors.AsType[*sdk.Failed](err)
		switch {
		case err == nil:
			c.Put(c.ctx, bytes.Clone(msg), nil)
		case dropped || failed:
			c.Report(c.ctx, err)
		case err == io.EOF:
			c.over(nil)
			return
		default:
			c.over(err)
			return
		}
	}
}
