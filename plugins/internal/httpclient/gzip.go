package httpclient

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

// acceptGzip is the Accept-Encoding of each request. net/http would send the same, but
// refuses complete gzip data that is shorter than Content-Length.
var acceptGzip = []string{"gzip"}

// decompress makes the body of a gzip response readable, as net/http does. The caller closes the
// body as before.
func decompress(res *http.Response) {
	if !strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	res.Body = &gzipBody{body: res.Body, length: res.ContentLength}
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	res.ContentLength, res.Uncompressed = -1, true
}

// A gzipBody decompresses a response. Some servers compress an answer and keep the
// Content-Length that it had before. Such an answer is complete at the end of the gzip data,
// whose checksum proves it.
type gzipBody struct {
	body   io.ReadCloser
	length int64 // Content-Length; -1: none
	in     *bufio.Reader
	member *gzip.Reader // nil until the first Read
	size   int64        // of the decompressed data so far
	err    error        // of all further Reads
}

func (g *gzipBody) Close() error { return g.body.Close() }

func (g *gzipBody) Read(p []byte) (n int, err error) {
	for n == 0 && g.err == nil && len(p) > 0 {
		if g.err = g.begin(); g.err != nil {
			break
		}
		n, err = g.member.Read(p)
		g.size += int64(n)
		if err == io.EOF { // the checksum is right
			err = g.next()
		}
		g.err = err
	}
	if n > 0 {
		return n, nil
	}
	return 0, g.err
}

// begin reads the header of the first member, unless it was read.
func (g *gzipBody) begin() (err error) {
	if g.member != nil {
		return nil
	}
	g.in = bufio.NewReader(g.body)
	if g.member, err = gzip.NewReader(g.in); err != nil {
		return err
	}
	g.member.Multistream(false)
	return nil
}

// next begins the next member, or returns io.EOF if there is none. It does not wait for one
// if the data has the length that the response had before it was compressed.
func (g *gzipBody) next() error {
	if g.size == g.length && g.in.Buffered() == 0 {
		return io.EOF
	}
	if _, err := g.in.Peek(1); err != nil {
		if g.length > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF
		}
		return err
	}
	if err := g.member.Reset(g.in); err != nil {
		return err
	}
	g.member.Multistream(false)
	return nil
}
