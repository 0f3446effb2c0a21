package main

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/junctor-mcp/junctor/plugins/internal/buffer"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
)

const (
	firstBuffer = 64 << 10 // maximum buffer in bytes before any data arrived, whatever Content-Length says
	growth      = 32       // maximum factor by which a buffer grows at once
)

// readBody reads a response that is one document. With a Content-Length, its buffer
// has exactly the size of the document once a 32nd of it has arrived; else it is at
// most twice as large. It never exceeds the limit. A large document waits for a place among
// those of all connections. The caller calls leave when the host has taken the document;
// the memory counts until then.
func (c *conn) readBody(ctx context.Context, res *http.Response) (body []byte, leave func(), f *failure) {
	// One more byte reads the end of a document without another buffer.
	size := func(want int64) int { return int(min(want, int64(c.limit))) + 1 }
	b := buffer.New(min(size(max(res.ContentLength, bytes.MinRead)), firstBuffer))
	leave, placed := func() {}, false
	for {
		n, err := res.Body.Read(b[len(b):min(cap(b), c.limit+1)])
		b = b[:len(b)+n]
		switch {
		case len(b) > c.limit:
			return nil, leave, tooLong(c.limit)
		case err == io.EOF:
			return b, leave, nil
		case err != nil:
			return nil, leave, ended(err)
		case len(b) == cap(b):
			want := int64(2 * cap(b))
			if res.ContentLength > int64(cap(b)) {
				want = min(res.ContentLength, int64(growth*cap(b)))
			}
			if want >= buffer.Large && !placed {
				place, err := buffer.Shared().Take(ctx, int64(size(c.whole(res))))
				if err != nil {
					return nil, leave, ended(err)
				}
				leave, placed = place, true
			}
			grown := append(buffer.New(size(want)), b...)
			buffer.Free(b)
			b = grown
		}
	}
}

// whole returns how many bytes a document may have.
func (c *conn) whole(res *http.Response) int64 {
	if res.ContentLength >= 0 {
		return res.ContentLength
	}
	return int64(c.limit)
}

// isAnswer reports whether a message is the response to the request with this id.
func isAnswer(msg, id []byte) bool {
	kind, _ := jsonrpc.Glance(msg)
	return kind == jsonrpc.Response && jsonrpc.Answers(msg, id)
}

// answerTo reads the response to a request of the plugin itself: a document, or the first
// event of a stream that fits.
func (c *conn) answerTo(res *http.Response, fits func(msg []byte) bool) ([]byte, *failure) {
	defer res.Body.Close()
	if httpclient.ContentType(res.Header) != "text/event-stream" {
		body, leave, f := c.readBody(c.ctx, res)
		leave()
		return body, f
	}
	for r := sse.NewReader(res.Body, c.limit); ; {
		ev, err := r.Next()
		if err != nil {
			return nil, ended(err)
		}
		if len(ev.Data) > 0 && fits(ev.Data) {
			return ev.Data, nil
		}
	}
}

// takeForEvents makes large events of a stream wait for a place among the messages of all
// connections. The caller calls leave when the host has taken an event; it may be called
// at any time.
func takeForEvents(ctx context.Context, r *sse.Reader, limit int) (leave func()) {
	place := func() {}
	r.OnLarge = func() {
		if taken, err := buffer.Shared().Take(ctx, int64(limit)); err == nil {
			place = taken
		}
	}
	return func() {
		place()
		place = func() {}
	}
}

// peekBody returns the first bytes of a body, which can still be read as a whole.
func peekBody(res *http.Response, limit int64) []byte {
	first, _ := io.ReadAll(io.LimitReader(res.Body, limit))
	res.Body = prefixed{io.MultiReader(bytes.NewReader(first), res.Body), res.Body}
	return first
}

// firstByte returns the first byte of a body that is not white space, which can still be
// read, or 0.
func firstByte(res *http.Response) byte {
	for first := make([]byte, 1); ; {
		n, err := res.Body.Read(first)
		switch {
		case n == 1 && bytes.IndexByte([]byte(" \t\r\n"), first[0]) < 0:
			res.Body = prefixed{io.MultiReader(bytes.NewReader(first), res.Body), res.Body}
			return first[0]
		case err != nil:
			return 0
		}
	}
}

// A prefixed is a body of which a part was read and put back.
type prefixed struct {
	io.Reader
	io.Closer
}
