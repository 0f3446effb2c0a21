package http1

import (
	"bytes"
	"strconv"
)

// A framing says where the body of a request ends. The functions of this file are pure and do
// not keep the bytes.
type framing struct {
	length  int64 // bytes of a body that is not chunked
	chunked bool
	unknown bool // net/http refuses the request and closes the connection
}

// parseHead checks the head of a request, from its first line to the empty
// line.
func parseHead(head []byte) (f framing, ok bool) {
	line, head, ok := cutLine(head)
	if !ok {
		return f, false
	}
	old := bytes.HasSuffix(line, []byte(" HTTP/1.0"))
	if !old && !bytes.HasSuffix(line, []byte(" HTTP/1.1")) {
		return f, false
	}
	lengths, encodings := 0, 0
	for {
		if line, head, ok = cutLine(head); !ok {
			return f, false
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := cutField(line)
		if !ok {
			return f, false
		}
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
			f.length, ok = parseLength(value)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			encodings++
			f.chunked = bytes.EqualFold(value, []byte("chunked"))
			f.unknown = !f.chunked
		}
		if !ok {
			return f, false
		}
	}
	return f, lengths+encodings < 2 && !(old && encodings > 0)
}

// cutLine cuts off a line that ends with CR LF and contains neither.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	line, rest, ok = bytes.Cut(b, []byte("\r\n"))
	return line, rest, ok && bytes.IndexByte(line, '\r') < 0 && bytes.IndexByte(line, '\n') < 0
}

// cutField splits a header line. It refuses folded lines, which begin with a
// space, and a space before the colon.
func cutField(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 {
		return nil, nil, false
	}
	for _, c := range name {
		if !isToken[c] {
			return nil, nil, false
		}
	}
	return name, bytes.Trim(value, " \t"), true
}

// isToken marks the characters of a header name (RFC 9110, section 5.6.2).
var isToken = func() (is [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// maxDigits is the number of digits of a length that always fits into an int64.
const maxDigits = 18

// parseLength parses a Content-Length, which consists of digits only.
func parseLength(value []byte) (int64, bool) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil && len(value) <= maxDigits
}
