package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/eventstream"
	"github.com/junctor-mcp/junctor/plugins/internal/message"
	"github.com/junctor-mcp/junctor/plugins/internal/web"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// drainTime is how long a stream may go on after the answer. One that ends by
// then leaves its socket to the next call.
const drainTime = 100 * time.Millisecond

// read delivers an answer with a status that means success.
func (k *call) read(res *http.Response) *failure {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
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
	limit := k.conn.limit
	b := bytes.NewBuffer(make([]byte, 0, min(max(res.ContentLength, 0), int64(limit))+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(res.Body, int64(limit)+1))
	switch {
	case b.Len() > limit:
		return tooLong(int64(b.Len()), limit)
	case err != nil:
		return ended(err)
	}
	body := bytes.TrimSpace(b.Bytes())
	if len(body) > 0 && body[0] == '[' { // revision 2025-03-26 has batches
		var all []json.RawMessage
		if json.Unmarshal(body, &all) != nil || len(all) == 0 {
			return bad("the server's answer is not valid JSON")
		}
		answered := false
		for _, one := range all {
			answered = k.deliver(one) || answered
		}
		return k.unless(answered)
	}
	return k.unless(k.deliver(body))
}

func (k *call) unless(answered bool) *failure {
	if answered {
		return nil
	}
	return bad("the server's answer does not answer the request")
}

// follow reads an answer that is a stream, and where that ends too early goes
// on to read it elsewhere.
func (k *call) follow(res *http.Response) *failure {
	for attempt := 0; ; attempt++ {
		answered, progressed, f := k.stream(res.Body)
		_ = res.Body.Close()
		switch {
		case answered || k.ctx.Err() != nil:
			return nil
		case f.err.Reason != "stream_ended" || k.lastID == "" || k.Version() != "":
			return f
		}
		if progressed {
			attempt = 0
		}
		if res = k.resume(attempt); res == nil {
			return f
		}
	}
}

// stream delivers what comes on a stream until the answer, which it reports.
// progressed is true when anything came.
func (k *call) stream(body io.ReadCloser) (answered, progressed bool, f *failure) {
	r := eventstream.NewReader(body, k.conn.limit)
	for {
		ev, err := r.Next()
		if long, ok := errors.AsType[*eventstream.TooLongError](err); ok {
			// It may have been the answer; when it was not, that still comes.
			k.conn.drop(k.ctx, long)
			continue
		}
		if err != nil {
			return answered, progressed, ended(err)
		}
		progressed = true
		if ev.HasID && (ev.ID == "" || web.Visible(ev.ID, eventIDMost)) {
			k.lastID = ev.ID
		}
		if ev.Retry > 0 {
			k.delay = ev.Retry
		}
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
			continue
		}
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
	kind, method := message.Glance(msg)
	switch {
	case kind == message.Response && message.Answers(msg, k.ID):
		k.noteAnswer(msg)
		k.conn.Put(k.ctx, msg, nil)
		return true
	case kind == message.Request, kind == message.Notification && method != "notifications/progress":
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

func tooLong(size int64, limit int) *failure {
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
