package main

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

const (
	firstBuffer = 64 << 10 // maximum buffer in bytes before any data arrived, whatever Content-Length says
	growth      = 32       // maximum factor by which a buffer grows at once
	keptBuffer  = 4 << 20  // maximum size in bytes of a buffer that is used again
)

// buffers holds the buffers of large responses. Most of the cost of a new one is to
// clear it and to collect it.
var buffers sync.Pool // of *[]byte

// newBuffer returns an empty buffer with room for at least size bytes.
func newBuffer(size int) []byte {
	if size > firstBuffer {
		if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= size {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// releaser returns the function to call when nothing reads a buffer any more. It is nil
// if the buffer is not used again.
func releaser(b []byte) func() {
	if cap(b) <= firstBuffer || cap(b) > keptBuffer {
		return nil
	}
	return func() { buffers.Put(&b) }
}

// readBody reads a response that is one document. With a Content-Length, its buffer
// has exactly the size of the document once a 32nd of it has arrived; else it is at
// most twice as large. It never exceeds the limit.
func (c *conn) readBody(res *http.Response) ([]byte, *failure) {
	// One more byte reads the end of a document without another buffer.
	size := func(want int64) int { return int(min(want, int64(c.limit))) + 1 }
	b := newBuffer(min(size(max(res.ContentLength, bytes.MinRead)), firstBuffer))
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
			b = append(newBuffer(size(want)), b...)
		}
	}
}
