package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/buffer"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// drainTime is how long a stream is read after the response. If it ends in
// time, the next call can use its connection.
const drainTime = 100 * time.Millisecond

// read delivers the response of a request with a successful status.
func (k *call) read(res *http.Response) *failure {
	kind := httpclient.ContentType(res.Header)
	switch kind {
	case "text/event-stream":
		return k.follow(res)
	case "application/json":
		defer res.Body.Close()
		return k.readDocument(res)
	}
	defer res.Body.Close()
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message", Message: fmt.Sprintf("the server accepted %s but did not answer it", k.Method), Hint: operatorHint}
	if kind != "" && res.StatusCode != http.StatusAccepted {
		e.Message = fmt.Sprintf("the server answered with content of type %q, not with a message", kind)
		e.Hint = "check the path in url; many servers have their endpoint at /mcp"
	}
	return &failure{err: e, sent: true, status: res.StatusCode}
}

// readDocument reads a response that is one JSON document.
func (k *call) readDocument(res *http.Response) *failure {
	body, f := k.conn.readBody(res)
	if f != nil {
		return f
	}
	release := buffer.Releaser(body)
	body = bytes.TrimSpace(body)
	answered := false
	if len(body) > 0 && body[0] == '[' { // revision 2025-03-26 allows batches
		if !jsonrpc.Elements(body, func(one []byte) { answered = k.deliver(bytes.Clone(one), nil) || answered }) {
			return bad("the server's answer is not valid JSON")
		}
	} else {
		answered = k.deliver(body, release)
	}
	if answered {
		return nil
	}
	if how := res.Header.Get("Content-Encoding"); how != "" {
		return bad(fmt.Sprintf("the server's answer has the encoding %.40q, which was not requested", how))
	}
	return bad("the server's answer does not answer the request")
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
	resumed, brought := k.lastID, false
	for {
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
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
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
		k.conn.junk(raw)
		return false
	}
	kind, method := jsonrpc.Glance(msg)
	switch {
	case kind == jsonrpc.Response && jsonrpc.Answers(msg, k.ID):
		k.noteAnswer(msg)
		k.conn.PutLent(k.ctx, msg, release)
		return true
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

// oneLine removes line breaks from a message made of valid JSON.
func oneLine(msg []byte) []byte {
	if line, err := ndjson.Message(msg); err == nil {
		return line
	}
	return msg
}

func tooLong(limit int) *failure {
	return &failure{sent: true, err: &sdk.Error{
		Code: sdk.Unavailable, Reason: "message_too_large", Message: fmt.Sprintf("the answer is longer than %d bytes", limit),
		Hint: "raise max_message in the server's block, or ask for less",
	}}
}

func ended(err error) *failure {
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "stream_ended", Message: "the server ended the answer before it was complete",
		Hint: "call again; if it recurs, a proxy before the server may cut long answers"}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		e.Message += ": " + err.Error()
	}
	return &failure{sent: true, err: e}
}

// operatorHint is the hint for an answer that breaks the protocol.
const operatorHint = "check that url is the endpoint of an MCP server, and report this to the operator of the server"

func bad(text string) *failure {
	return &failure{sent: true, err: &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message", Message: text, Hint: operatorHint}}
}
