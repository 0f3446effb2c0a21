package httpserver

import (
	"net/http"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/tracing"
)

const requestIDHeader = "X-Request-Id"

// setRequestID gives a request an id and repeats it in the response: the client's, if it
// is a valid one, and otherwise a random one. It must be called before requestID and
// correlated, which read the id from the head of the response.
func setRequestID(w http.ResponseWriter, r *http.Request) {
	given := r.Header[requestIDHeader]
	if len(given) == 1 && tracing.ValidRequestID(given[0]) {
		w.Header()[requestIDHeader] = given
		return
	}
	delete(r.Header, requestIDHeader) // what is left there is valid
	w.Header()[requestIDHeader] = []string{tracing.NewRequestID()}
}

// requestID returns the id of a request. The functions of this file keep no state.
func requestID(w http.ResponseWriter) string {
	if id := w.Header()[requestIDHeader]; len(id) == 1 {
		return id[0]
	}
	return ""
}

// correlated returns an exchange with the id and the trace context of a request.
func correlated(w http.ResponseWriter, r *http.Request, x gateway.Exchange) gateway.Exchange {
	x.RequestID, x.Named, x.Trace = requestID(w), len(r.Header[requestIDHeader]) == 1, tracing.FromHeader(r.Header)
	return x
}
