package main

import (
	"bytes"
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

// drainTime is how long a stream may go on after the answer. One that ends by
// then leaves its socket to the next call.
const drainTime = 100 * time.Millisecond

// read delivers an answer with a status that means success.
func (k *call) read(res *http.Response) *failure {
	kind := httpclient.ContentType(res.Header)
	switch kind {
	case "text/event-stream":
		return k.follow(res)
	case "application/json":
		defer res.Body.Close()
		return k.whole(res)
	}
	defer res.Body.Close()
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message", Message: fmt.Sprintf("the server accepted %s but did not answer it", k.Method)}
	if kind != "" && res.StatusCode != http.StatusAccepted {
		e.Message = fmt.Sprintf("the server answered with content of type %q, not with a message", kind)
		e.Hint = "check the path in url; many servers have their endpoint at /mcp"
	}
	return &failure{err: e, sent: true, status: res.StatusCode}
}

// whole reads an answer that is one document.
func (k *call) whole(res *http.Response) *failure {
	body, f := k.conn.body(res)
	if f != nil {
		return f
	}
	body = bytes.TrimSpace(body)
	answered := false
	if len(body) > 0 && body[0] == '[' { // revision 2025-03-26 has batches
		if !jsonrpc.Elements(body, func(one []byte) { answered = k.deliver(bytes.Clone(one)) || answered }) {
			return bad("the server's answer is not valid JSON")
		}
	} else {
		answered = k.deliver(body)
	}
	if answered {
		return nil
	}
	if how := res.Header.Get("Content-Encoding"); how != "" {
		return bad(fmt.Sprintf("the server's answer is encoded in a way that it was not asked for: %.40q", how))
	}
	return bad("the server's answer does not answer the request")
}

// roomFirst is how much is made room for before anything came: what a server
// says about the length costs it nothing.
const roomFirst = 1 << 20

// body reads an answer that is one document. It takes hardly more memory than
// that has, or may have.
func (c *conn) body(res *http.Response) ([]byte, *failure) {
	b := make([]byte, 0, min(max(res.ContentLength+1, bytes.MinRead), roomFirst))
	for {
		n, err := res.Body.Read(b[len(b):min(cap(b), c.limit+1)])
		b = b[:len(b)+n]
		switch {
		case len(b) > c.limit:
			return nil, tooLong(c.limit)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, ended(err)
		case len(b) == cap(b):
			b = append(make([]byte, 0, min(2*cap(b), c.limit+1)), b...)
		}
	}
}

// follow reads an answer that is a stream, and where that ends too early goes
// on to read it elsewhere.
func (k *call) follow(res *http.Response) *failure {
	k.lastID, k.delay = "", 0
	quiet := 0 // streams one after the other that brought nothing
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

// stream delivers what comes on a stream until the answer, which it reports.
// progressed is true when anything came.
func (k *call) stream(body io.ReadCloser) (answered, progressed bool, f *failure) {
	r := sse.NewReader(body, k.conn.limit)
	resumed, brought := k.lastID, false
	for {
		ev, err := r.Next()
		if long, ok := errors.AsType[*sse.TooLongError](err); ok {
			k.conn.drop(k.ctx, long, k.ID)
			if kind, _ := jsonrpc.Glance(long.Prefix); kind == jsonrpc.Response && jsonrpc.Answers(long.Prefix, k.ID) {
				return false, true, tooLong(k.conn.limit) // the server may never end the stream
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
				continue // a server that begins with the last event, not behind it
			}
		}
		if ev.Retry > 0 {
			k.delay = ev.Retry
		}
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
			continue
		}
		brought = true
		if k.deliver(bytes.Clone(ev.Data)) && !answered {
			answered = true
			defer time.AfterFunc(drainTime, func() { _ = body.Close() }).Stop()
		}
	}
}

// deliver hands a message to the host, and reports whether it answers the call.
func (k *call) deliver(raw []byte) bool {
	msg, err := ndjson.Message(raw)
	if err != nil {
		k.conn.junk(raw)
		return false
	}
	kind, method := jsonrpc.Glance(msg)
	switch {
	case kind == jsonrpc.Response && jsonrpc.Answers(msg, k.ID):
		k.noteAnswer(msg)
		k.conn.Put(k.ctx, msg, nil)
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

// oneLine makes one line of a message that we have made of valid parts.
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
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "stream_ended", Message: "the server ended the answer before it was complete"}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		e.Message += ": " + err.Error()
	}
	return &failure{sent: true, err: e}
}

func bad(text string) *failure {
	return &failure{sent: true, err: &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message", Message: text}}
}
