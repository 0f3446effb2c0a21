package httpserver

import (
	"encoding/hex"
	"net/http"

	"github.com/junctor-mcp/junctor/host/gateway"
)

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 128 // bytes
)

// validRequestID reports whether a text has 1 to 128 visible characters of ASCII.
func validRequestID(id string) bool {
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID
}

// requestID returns the id that the client gave a request, or "".
func requestID(r *http.Request) string {
	if given := r.Header[requestIDHeader]; len(given) == 1 && validRequestID(given[0]) {
		return given[0]
	}
	return ""
}

// correlated returns an exchange with the id of a request and the id of its trace.
func correlated(r *http.Request, x gateway.Exchange) gateway.Exchange {
	x.RequestID, x.TraceID = requestID(r), traceID(r.Header)
	return x
}

// traceID returns the trace in the header traceparent of W3C Trace Context, or "".
func traceID(h http.Header) string {
	const version, size = 2, 55
	given := h["Traceparent"]
	if len(given) != 1 || len(given[0]) != size || given[0][version] != '-' || given[0][version+33] != '-' {
		return ""
	}
	id := given[0][version+1 : version+33]
	if sum, err := hex.DecodeString(id); err != nil || string(sum) == string(make([]byte, 16)) {
		return ""
	}
	return id
}
