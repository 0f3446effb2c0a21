package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/buffer"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// drainTime is how long a stream is read after the response. If it ends in
// time, the next call can use its connection.
const drainTime = 100 * time.Millisecond

// read delivers the response of a request with a successful status.
func (k *call) read(res *http.Response) *failure {
	var f *failure
	switch kind := httpclient.ContentType(res.Header); kind {
	case "text/event-stream":
		f = k.readStream(res)
	case "application/json":
		f = k.readDocument(res)
	default:
		f = k.readUntyped(res, kind)
	}
	switch {
	case k.lost != nil:
		return k.lost
	case f == nil:
		return nil
	case f.unanswered && k.odd != "":
		f = bad("the server's stream ended without an answer, but had " + k.odd)
		f.unanswered, f.err.Output = true, k.said
	}
	f.accepted = res.StatusCode == http.StatusAccepted && f.err.Reason != "message_too_large"
	return f
}

// readStream reads a response of the type text/event-stream. Some servers send a JSON
// document under this type.
func (k *call) readStream(res *http.Response) *failure {
	if first := firstByte(res); first == '{' || first == '[' {
		return k.readDocument(res)
	}
	return k.follow(res)
}

// sniffed is the number of bytes that tell whether a body is JSON.
const sniffed = 512

// readUntyped reads a response that has another type than those of messages, or none. It
// may be a JSON document nevertheless.
func (k *call) readUntyped(res *http.Response, kind string) *failure {
	defer func() { _ = res.Body.Close() }()
	first := bytes.TrimSpace(peekBody(res, sniffed))
	said := fmt.Sprintf("with content of type %q", kind)
	if kind == "" {
		said = "without a Content-Type"
	}
	switch {
	case len(first) == 0 && (kind == "" || res.StatusCode == http.StatusAccepted):
		f := bad(fmt.Sprintf("the server accepted %s but did not answer it", k.Method))
		f.status, f.unanswered = res.StatusCode, true
		return f
	case len(first) > 0 && (first[0] == '{' || first[0] == '[') && mayBeJSON(kind):
		f := k.readDocument(res)
		if f != nil && f.err.Reason == "bad_message" {
			f.err.Message = fmt.Sprintf("the server answered %s, and not with a message", said)
		}
		return f
	}
	f := bad(fmt.Sprintf("the server answered %s, not with a message", said))
	f.status, f.err.Hint = res.StatusCode, "check the path in url; many servers have their endpoint at /mcp"
	return f
}

// mayBeJSON reports whether servers send JSON under a type that promises something less
// specific.
func mayBeJSON(kind string) bool {
	switch kind {
	case "", "text/plain", "text/json", "application/octet-stream", "application/x-json", "binary/octet-stream":
		return true
	}
	return strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
}

// readDocument reads a response that is one JSON document.
func (k *call) readDocument(res *http.Response) *failure {
	defer func() { _ = res.Body.Close() }()
	body, leave, f := k.conn.readBody(k.ctx, res)
	defer leave()
	if f != nil {
		return f
	}
	release := buffer.Releaser(body)
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	answered := false
	if len(body) > 0 && body[0] == '[' { // revision 2025-03-26 allows batches
		if !jsonrpc.Elements(body, func(one []byte) { answered = k.deliver(bytes.Clone(one), nil) || answered }) {
			return encoded(res, body, "the server's answer is not valid JSON")
		}
	} else {
		answered = k.deliver(body, release)
	}
	if answered {
		return nil
	}
	return encoded(res, body, "the server's answer does not answer the request")
}

// follow reads a response that is an SSE stream. If the stream ends early, it
// resumes the stream with a GET request.
func (k *call) follow(res *http.Response) *failure {
	k.lastID, k.delay = "", 0
	quiet := 0 // number of streams in a row without a message
	for attempt := 0; ; attempt++ {
		answered, progressed, f := k.stream(res.Body)
		_ = res.Body.Close()
		switch {
		case answered || k.ctx.Err() != nil:
			return nil
		case f.err.Reason != "stream_ended" || k.lastID == "" || k.Version() != "":
			return f
		}
		quiet++
		if progressed {
			attempt = 0
		}
		if f.brought {
			quiet = 0
		}
		if res = k.resume(attempt, quiet); res == nil {
			return f
		}
	}
}

// stream delivers the messages of a stream and reports whether the response was
// among them. progressed is true if any event arrived.
func (k *call) stream(body io.ReadCloser) (answered, progressed bool, f *failure) {
	r := sse.NewReader(body, k.conn.limit)
	leave := takeForEvents(k.ctx, r, k.conn.limit)
	defer leave()
	resumed, brought := k.lastID, false
	for {
		leave()
		ev, err := r.Next()
		if long, ok := errors.AsType[*sse.TooLongError](err); ok {
			k.conn.drop(k.ctx, long, k.ID)
			if kind, _ := jsonrpc.Glance(long.Prefix); kind == jsonrpc.Response && jsonrpc.Answers(long.Prefix, k.ID) {
				return false, true, tooLong(k.conn.limit) // the server may keep the stream open
			}
			continue
		}
		if err != nil {
			f = ended(err)
			f.brought = brought
			return answered, progressed, f
		}
		progressed = true
		if ev.HasID {
			again := resumed != "" && ev.ID == resumed
			k.lastID, resumed = resumable(ev.ID), ""
			if again {
				continue // the server resumed with the last event, not after it
			}
		}
		if ev.Retry > 0 {
			k.delay = ev.Retry
		}
		if len(ev.Data) == 0 {
			continue
		}
		if !jsonrpc.Carries(ev.Name, ev.Data) {
			k.notice(fmt.Sprintf("an event %.40q, which is not a message", ev.Name), ev.Data)
			continue
		}
		brought = true
		if k.deliver(r.Owned(ev.Data)) && !answered {
			answered = true
			defer time.AfterFunc(drainTime, func() { _ = body.Close() }).Stop()
		}
	}
}

// deliver passes a message to the host and reports whether it is the response
// to the call. release, which may be nil, is called when the message is not used any
// more.
func (k *call) deliver(raw []byte, release func()) bool {
	msg, err := ndjson.Message(raw)
	if err != nil {
		if k.foreignSaysLost(raw) {
			return true
		}
		k.conn.junk(raw)
		k.notice(noMessage, raw)
		return false
	}
	kind, method := jsonrpc.Glance(msg)
	switch {
	case kind == jsonrpc.Response && jsonrpc.Answers(msg, k.ID):
		if k.saysLost(msg) {
			return true
		}
		k.noteAnswer(msg)
		k.conn.PutLent(k.ctx, msg, release)
		return true
	case kind == jsonrpc.Response && k.answersNone(msg):
		if !k.saysLost(msg) {
			k.conn.Put(k.ctx, oneLine(jsonrpc.Refuse(msg, k.ID)), nil)
		}
		return true
	case isForeign(msg):
		if k.foreignSaysLost(msg) {
			return true
		}
		k.notice(noMessage, msg)
		k.conn.Put(k.ctx, msg, nil)
	case kind == jsonrpc.Response:
		k.conn.Put(k.ctx, msg, nil)
		k.conn.settled(msg)
	case kind == jsonrpc.Request, kind == jsonrpc.Notification && method != "notifications/progress":
		k.conn.Put(k.ctx, msg, k.ID)
	default:
		k.conn.Put(k.ctx, msg, nil)
	}
	return false
}

// noMessage describes data in an error.
const noMessage = "data that is not a message"

// notice keeps data of a stream for the error, should the stream end without an answer.
func (k *call) notice(kind string, data []byte) {
	k.odd, k.said = kind, httpclient.Excerpt(data)
}

// answersNone reports whether a message in the response to this request is an error with
// the id of no request. The server then did not relate it to the request.
func (k *call) answersNone(msg []byte) bool {
	if jsonrpc.Refuse(msg, k.ID) == nil {
		return false
	}
	k.conn.mu.Lock()
	defer k.conn.mu.Unlock()
	return k.conn.calls[string(jsonrpc.Member(msg, "id"))] == nil
}
