package httpclient

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// zipped returns a gzip member.
func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.Bytes()
}

// cutBody is a body that ends before its Content-Length, with the error that
// net/http gives it.
func cutBody(data []byte, end error) io.ReadCloser {
	return io.NopCloser(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(end)))
}

// TestGzipBody checks which gzip answers are complete.
//
// deviation: an answer that is compressed with gzip and has the Content-Length from before | Junctor takes it if the checksum of the gzip data is right | executor#1399
func TestGzipBody(t *testing.T) {
	const text = `{"jsonrpc":"2.0","id":1,"result":{}}`
	whole, half := zipped(text), zipped(text[:20])
	two := append(bytes.Clone(half), zipped(text[20:])...)
	wrong := bytes.Clone(whole)
	wrong[len(wrong)-8] ^= 1 // of the checksum
	for name, c := range map[string]struct {
		data   []byte
		length int64
		end    error
		fails  error // nil: the text is read
	}{
		"right length":                         {data: whole, length: int64(len(whole)), end: io.EOF},
		"no length":                            {data: whole, length: -1, end: io.EOF},
		"length before compression":            {data: whole, length: int64(len(text)), end: io.ErrUnexpectedEOF},
		"length before compression, kept open": {data: whole, length: int64(len(text)), end: errors.New("waits")},
		"another length":                       {data: whole, length: 9999, end: io.ErrUnexpectedEOF},
		"two members":                          {data: two, length: int64(len(two)), end: io.EOF},
		"two members, length before":           {data: two, length: int64(len(text)), end: io.ErrUnexpectedEOF},

		"cut in the data": {data: whole[:20], length: int64(len(text)), end: io.ErrUnexpectedEOF,
			fails: io.ErrUnexpectedEOF},
		"cut in the checksum": {data: whole[:len(whole)-5], length: int64(len(text)), end: io.ErrUnexpectedEOF,
			fails: io.ErrUnexpectedEOF},
		"cut before the checksum": {data: whole[:len(whole)-8], length: 9999, end: io.ErrUnexpectedEOF,
			fails: io.ErrUnexpectedEOF},
		"cut in the header": {data: whole[:5], length: 9999, end: io.ErrUnexpectedEOF,
			fails: io.ErrUnexpectedEOF},
		"nothing": {length: 9999, end: io.ErrUnexpectedEOF, fails: io.ErrUnexpectedEOF},
		"cut in the second member": {data: two[:len(half)+12], length: 9999, end: io.ErrUnexpectedEOF,
			fails: io.ErrUnexpectedEOF},
		"cut where the length ends": {data: whole[:20], length: 20, end: io.EOF, fails: io.ErrUnexpectedEOF},
		"cut without a length":      {data: whole, length: -1, end: io.ErrUnexpectedEOF, fails: io.ErrUnexpectedEOF},
		"a wrong checksum": {data: wrong, length: int64(len(text)), end: io.ErrUnexpectedEOF,
			fails: gzip.ErrChecksum},
		"other data after it": {data: append(bytes.Clone(whole), "data that is no gzip member"...), length: 9999,
			end: io.EOF, fails: gzip.ErrHeader},
		"no gzip data": {data: []byte(text), length: int64(len(text)), end: io.EOF, fails: gzip.ErrHeader},
	} {
		for _, slow := range []bool{false, true} {
			res := &http.Response{Header: http.Header{"Content-Encoding": {"GZIP"}}, Body: cutBody(c.data, c.end),
				ContentLength: c.length}
			decompress(res)
			var body io.Reader = res.Body
			if slow {
				body = iotest.OneByteReader(body)
			}
			got, err := io.ReadAll(body)
			switch {
			case c.fails == nil && (err != nil || string(got) != text):
				t.Errorf("%s: %q, %v", name, got, err)
			case c.fails != nil && !errors.Is(err, c.fails):
				t.Errorf("%s: %q, %v; want %v", name, got, err, c.fails)
			}
			if res.ContentLength != -1 || len(res.Header) > 0 {
				t.Errorf("%s: %d, %v", name, res.ContentLength, res.Header)
			}
		}
	}
}

// TestDecompressOthers checks that other encodings keep their bytes.
func TestDecompressOthers(t *testing.T) {
	for _, encoding := range []string{"", "identity", "br", "deflate", "gzip, gzip"} {
		res := &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}
		if encoding != "" {
			res.Header.Set("Content-Encoding", encoding)
		}
		decompress(res)
		if got, err := io.ReadAll(res.Body); string(got) != "x" || err != nil ||
			res.Header.Get("Content-Encoding") != encoding || res.ContentLength != 1 {
			t.Errorf("%s: %q, %v, %v", encoding, got, err, res.Header)
		}
	}
}
