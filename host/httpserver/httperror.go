package httpserver

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// An httpError is the reason why a request is not answered. The client gets it
// as a JSON-RPC error without an id, because the request may not have been
// parsed. It does not change but for text, which the first use sets; it may be used
// concurrently. Codes and reasons must stay.
type httpError struct {
	code    int
	message string
	reason  string
	modern  int // code for a modern client; 0: the same
	// supported are the revisions that the client may use; nil: the error is about
	// something else.
	supported []mcp.Revision

	made sync.Once
	text [2][]byte // body for a legacy and for a modern client
}

// codeTooManyRequests is the JSON-RPC code of errors with status 429.
const codeTooManyRequests = -32099

var (
	errNotFound = &httpError{code: mcp.CodeInvalidRequest, message: "unknown path: the endpoint is /mcp",
		reason: "not_found"}
	errOrigin = &httpError{code: -32001, message: `the Origin is not allowed: write origins = ["SCHEME://HOST:PORT"] in gateway { http { } } for pages that may use this gateway`,
		reason: "origin", modern: -31014}
	errHost = &httpError{code: -32001, message: "the Host header is not allowed", reason: "host",
		modern: -31014}
	errRate = &httpError{code: codeTooManyRequests, message: "too many requests from this address",
		reason: "rate_limited", modern: -31010}
	errMemory = &httpError{code: -32000, message: "the messages in memory have reached half of max_memory",
		reason: "overloaded", modern: -31011}
	errConnections = &httpError{code: -32000, message: "connection limit reached", reason: "overloaded",
		modern: -31011}
	errNotReading = &httpError{code: -32000, message: "the client does not read its stream", reason: "overloaded"}
	errStopping   = &httpError{code: -32000, message: stopping, reason: "stopping"}
	errMethod     = &httpError{code: mcp.CodeInvalidRequest, message: "method not allowed", reason: "method"}
	errType       = &httpError{code: mcp.CodeInvalidRequest, message: "the body must be application/json",
		reason: "content_type"}
	errAccept = &httpError{code: mcp.CodeInvalidRequest,
		message: "Accept must allow application/json or text/event-stream", reason: "accept"}
	errAcceptGet = &httpError{code: mcp.CodeInvalidRequest, message: "Accept must allow text/event-stream",
		reason: "accept"}
	errTooLarge = &httpError{code: mcp.CodeInvalidRequest, message: "the body is larger than max_body",
		reason: "message_too_large"}
	errMalformed = &httpError{code: mcp.CodeInvalidRequest, message: "malformed framing of the body",
		reason: "body"}
	errSlow = &httpError{code: mcp.CodeInvalidRequest, message: "the body did not arrive in time",
		reason: "body"}
	errNoSession = &httpError{code: mcp.CodeInvalidRequest,
		message: "Mcp-Session-Id is missing; begin with initialize", reason: "session"}
	errUnknownSession = &httpError{code: mcp.CodeInvalidRequest, message: "unknown or expired session",
		reason: "session"}
	errSessionNotFound = &httpError{code: -32001, message: "Session not found", reason: "session"}
	errVersion         = &httpError{code: mcp.CodeInvalidRequest,
		message: "MCP-Protocol-Version is not a supported version: the server supports " + mcp.RevisionNames(),
		reason:  "version", supported: mcp.Revisions}
	errEventID = &httpError{code: mcp.CodeInvalidRequest, message: "Last-Event-ID does not belong to this session",
		reason: "event_id"}
	errPurged = &httpError{code: -32001,
		message: "events after Last-Event-ID are no longer kept; begin a new session, or open the stream without it",
		reason:  "events_purged"}
	errStore       = &httpError{code: -32000, message: "the session store cannot be read", reason: "store"}
	errMemoryShare = &httpError{code: codeTooManyRequests,
		message: "the messages of this client have reached its share of the memory limit", reason: "share",
		modern: -31010}
	errResponse = &httpError{code: mcp.CodeInvalidRequest, message: "responses are not part of this protocol version",
		reason: "response"}
)

// writeError answers a request with an error. The goroutine of the request calls it and the
// other writers of this file.
func writeError(w http.ResponseWriter, r *http.Request, status int, why *httpError) {
	writeBody(w, status, why.body(mcp.Revision(r.Header.Get("Mcp-Protocol-Version")).Modern()))
}

// body returns the JSON body, which is rendered once because a flood of refused
// requests must be cheap.
func (e *httpError) body(modern bool) []byte {
	e.made.Do(func() {
		for i, code := range []int{e.code, cmp.Or(e.modern, e.code)} {
			data := map[string]any{"reason": e.reason}
			if e.supported != nil {
				data["supported"] = e.supported
			}
			object := mcp.ErrorObject(code, e.message, data)
			e.text[i] = append(append([]byte(`{"jsonrpc":"2.0","error":`), object...), '}')
		}
	})
	if modern {
		return e.text[1]
	}
	return e.text[0]
}

// writeRetryable answers a request with an error and a Retry-After header.
func writeRetryable(w http.ResponseWriter, r *http.Request, status int, wait time.Duration, why *httpError) {
	setRetryAfter(w, wait)
	writeError(w, r, status, why)
}

// setRetryAfter sets the Retry-After header, in seconds.
func setRetryAfter(w http.ResponseWriter, wait time.Duration) {
	seconds := int64((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, seconds), 10))
}

// retryStatus returns the status for a temporary error: 429 if it concerns this
// client only, else 503.
func (e *httpError) retryStatus() int {
	if e.code == codeTooManyRequests {
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

// notAllowed answers a request with a method that is not supported.
func notAllowed(w http.ResponseWriter, r *http.Request, methods string) {
	w.Header().Set("Allow", methods)
	writeError(w, r, http.StatusMethodNotAllowed, errMethod)
}

// writeBody writes a small JSON body.
func writeBody(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(chunkTimeout))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

var (
	jsonType   = []string{"application/json"}
	streamType = []string{"text/event-stream"}
)
