package tracing

import (
	"crypto/rand"
	"encoding/hex"
)

// maxRequestID bounds the id that a client gives a request, in bytes.
const maxRequestID = 128

// ValidRequestID reports whether an id from a client may be logged and sent on: 1 to 128
// letters, digits and - _ . : / + =.
func ValidRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=':
		default:
			return false
		}
	}
	return true
}

// NewRequestID returns a random UUID, version 4.
func NewRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := make([]byte, 36)
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:], b[10:])
	return string(text)
}
