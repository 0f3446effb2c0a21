package httpserver

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A httpError is why a request is not answered, as the client is told: a JSON-RPC
// error without an id, because nobody looked for one.
type httpError struct {
	code    int
	message string
	reason  string
	modern  int // the code for a modern client, if it is another one

	made sync.Once
	text [2][]byte // the answer, to a legacy and to a modern client
}

var (
	errNowhere        = &httpError{code: mcp.CodeInvalidRequest, message: "there is nothing here; the endpoint is /mcp", reason: "not_found"}
	errOrigin         = &httpError{code: -32001, message: "this origin may not use the gateway", reason: "origin", modern: -31014}
	errHost           = &httpError{code: -32001, message: "the Host header names another server", reason: "host", modern: -31014}
	errTooOften       = &httpError{code: -32099, message: "too many requests from this address", reason: "rate_limited", modern: -31010}
	errOverloaded     = &httpError{code: -32000, message: "too many requests are being answered", reason: "overloaded", modern: -31011}
	errCrowded        = &httpError{code: -32000, message: "the messages in memory have reached half of max_memory", reason: "overloaded", modern: -31011}
	errCrowdedOut     = &httpError{code: -32000, message: "there are as many connections as there may be", reason: "overloaded", modern: -31011}
	errUnread         = &httpError{code: -32000, message: "the stream is full of what was not read", reason: "overloaded"}
	errListening      = &httpError{code: -32000, message: "too many clients listen", reason: "overloaded", modern: -31011}
	errFull           = &httpError{code: -32000, message: "there are as many sessions as there may be", reason: "overloaded"}
	errStopping       = &httpError{code: -32000, message: "the gateway is about to end", reason: "stopping"}
	errMethod         = &httpError{code: mcp.CodeInvalidRequest, message: "this method is not used here", reason: "method"}
	errType           = &httpError{code: mcp.CodeInvalidRequest, message: "the body must be application/json", reason: "content_type"}
	errAccept         = &httpError{code: mcp.CodeInvalidRequest, message: "Accept must allow application/json or text/event-stream", reason: "accept"}
	errAcceptGet      = &httpError{code: mcp.CodeInvalidRequest, message: "Accept must allow text/event-stream", reason: "accept"}
	errTooLarge       = &httpError{code: mcp.CodeInvalidRequest, message: "the body is larger than allowed", reason: "message_too_large"}
	errMalformed      = &httpError{code: mcp.CodeInvalidRequest, message: "the body is not framed as HTTP says", reason: "body"}
	errSlow           = &httpError{code: mcp.CodeInvalidRequest, message: "the body did not arrive", reason: "body"}
	errNoSession      = &httpError{code: mcp.CodeInvalidRequest, message: "Mcp-Session-Id is missing; begin with initialize", reason: "session"}
	errUnknown        = &httpError{code: mcp.CodeInvalidRequest, message: "unknown or expired session", reason: "session"}
	errGone           = &httpError{code: -32001, message: "Session not found", reason: "session"}
	errVersion        = &httpError{code: mcp.CodeInvalidRequest, message: "MCP-Protocol-Version names no version that is supported", reason: "version"}
	errEventID        = &httpError{code: mcp.CodeInvalidRequest, message: "Last-Event-ID is none of this session", reason: "event_id"}
	errPurged         = &httpError{code: -32001, message: "events after Last-Event-ID are no longer kept; begin a new session, or open the stream without it", reason: "events_purged"}
	errStore          = &httpError{code: -32000, message: "the session store cannot be read", reason: "store"}
	errEnough         = &httpError{code: -32099, message: "half of the requests that are answered at a time are yours; the rest is for others", reason: "share", modern: -31010}
	errEnoughBytes    = &httpError{code: -32099, message: "the messages of this client have reached its share of the memory limit", reason: "share", modern: -31010}
	errEnoughListen   = &httpError{code: -32099, message: "half of those that may listen are yours; the rest is for others", reason: "share", modern: -31010}
	errEnoughSessions = &httpError{code: -32099, message: "half of the sessions that there may be are yours; the rest is for others", reason: "share", modern: -31010}
	errResponse       = &httpError{code: mcp.CodeInvalidRequest, message: "a client of this version sends no responses", reason: "response"}
)

// refuse answers a request that nobody looks at any further.
func refuse(w http.ResponseWriter, r *http.Request, status int, why *httpError) {
	body(w, status, why.body(mcp.Revision(r.Header.Get("Mcp-Protocol-Version")).Modern()))
}

// body is the answer that a refusal is. It is made once: whoever is refused often
// should cost little.
func (r *httpError) body(modern bool) []byte {
	r.made.Do(func() {
		for i, code := range []int{r.code, cmp.Or(r.modern, r.code)} {
			object := mcp.ErrorObject(code, r.message, map[string]string{"reason": r.reason})
			r.text[i] = append(append([]byte(`{"jsonrpc":"2.0","error":`), object...), '}')
		}
	})
	if modern {
		return r.text[1]
	}
	return r.text[0]
}

// busy is refuse for what may go well later.
func busy(w http.ResponseWriter, r *http.Request, status int, wait time.Duration, why *httpError) {
	seconds := int64((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, seconds), 10))
	refuse(w, r, status, why)
}

// busy is the status of a refusal for what may go well later: it is about the
// gateway, or about this client alone.
func (r *httpError) busy() int {
	if r.code == errTooOften.code {
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

// notAllowed answers a method that there is not.
func notAllowed(w http.ResponseWriter, r *http.Request, methods string) {
	w.Header().Set("Allow", methods)
	refuse(w, r, http.StatusMethodNotAllowed, errMethod)
}

// denied is what everybody gets who did not prove who they are: which of the
// reasons it was stands in the log.
const denied = `{"jsonrpc":"2.0","error":{"code":-32001,"message":"unauthorized"}}`

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="junctor"`)
	body(w, http.StatusUnauthorized, []byte(denied))
}

// body writes a small JSON body.
func body(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyPatience))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

var (
	jsonType   = []string{"application/json"}
	streamType = []string{"text/event-stream"}
)
