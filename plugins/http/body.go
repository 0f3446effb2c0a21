package main

import (
	"bytes"
	"io"
	"net/http"

	"github.com/junctor-mcp/junctor/plugins/internal/buffer"
)

const (
	firstBuffer = 64 << 10 // maximum buffer in bytes before any data arrived, whatever Content-Length says
	growth      = 32       // maximum factor by which a buffer grows at once
)

// readBody reads a response that is one document. With a Content-Length, its buffer
// has exactly the size of the document once a 32nd of it has arrived; else it is at
// most twice as large. It never exceeds the limit.
func (c *conn) readBody(res *http.Response) ([]byte, *failure) {
	// One more byte reads the end of a document without another buffer.
	size := func(want int64) int { return int(min(want, int64(c.limit))) + 1 }
	b := buffer.New(min(size(max(res.ContentLength, bytes.MinRead)), firstBuffer))
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
			want := int64(2 * cap(b))
			if res.ContentLength > int64(cap(b)) {
				want = min(res.ContentLength, int64(growth*cap(b)))
			}
			grown := append(buffer.New(size(want)), b...)
			buffer.Free(b)
			b = grown
		}
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
