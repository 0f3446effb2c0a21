package listen

import (
	"net/http"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A refusal is why a request is not answered, as the client is told: a JSON-RPC
// error without an id, because nobody looked for one.
type refusal struct {
	code    int
	message string
	reason  string
}

var (
	errNowhere    = &refusal{mcp.CodeInvalidRequest, "there is nothing here; the endpoint is /mcp", "not_found"}
	errOrigin     = &refusal{-32001, "this origin may not use the gateway", "origin"}
	errHost       = &refusal{-32001, "the Host header names another server", "host"}
	errTooOften   = &refusal{-32099, "too many requests from this address", "rate_limited"}
	errOverloaded = &refusal{-32000, "too many requests are being answered", "overloaded"}
	errFull       = &refusal{-32000, "there are as many sessions as there may be", "overloaded"}
	errStopping   = &refusal{-32000, "the gateway is about to end", "stopping"}
	errMethod     = &refusal{mcp.CodeInvalidRequest, "this method is not used here", "method"}
	errType       = &refusal{mcp.CodeInvalidRequest, "the body must be application/json", "content_type"}
	errAccept     = &refusal{mcp.CodeInvalidRequest, "Accept must allow application/json or text/event-stream", "accept"}
	errAcceptGet  = &refusal{mcp.CodeInvalidRequest, "Accept must allow text/event-stream", "accept"}
	errTooLarge   = &refusal{mcp.CodeInvalidRequest, "the body is larger than allowed", "message_too_large"}
	errSlow       = &refusal{mcp.CodeInvalidRequest, "the body did not arrive", "body"}
	errNoSession  = &refusal{mcp.CodeInvalidRequest, "Mcp-Session-Id is missing; begin with initialize", "session"}
	errUnknown    = &refusal{mcp.CodeInvalidRequest, "unknown or expired session", "session"}
	errGone       = &refusal{-32001, "Session not found", "session"}
	errVersion    = &refusal{mcp.CodeInvalidRequest, "MCP-Protocol-Version names no version that is supported", "version"}
	errEventID    = &refusal{mcp.CodeInvalidRequest, "Last-Event-ID is none of this session", "event_id"}
	errPurged     = &refusal{-32001, "events after Last-Event-ID are no longer kept; begin a new session, or open the stream without it", "events_purged"}
	errStore      = &refusal{-32000, "the session store cannot be read", "store"}
	errResponse   = &refusal{mcp.CodeInvalidRequest, "a client of this version sends no responses", "response"}
)

func (e *refusal) object() []byte {
	return mcp.ErrorObject(e.code, e.message, map[string]string{"reason": e.reason})
}

// refuse answers a request that nobody looks at any further.
func refuse(w http.ResponseWriter, status int, why *refusal) {
	body(w, status, append(append([]byte(`{"jsonrpc":"2.0","error":`), why.object()...), '}'))
}

// busy is refuse for what may go well later.
func busy(w http.ResponseWriter, status int, wait time.Duration, why *refusal) {
	seconds := int64((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, seconds), 10))
	refuse(w, status, why)
}

// notAllowed answers a method that there is not.
func notAllowed(w http.ResponseWriter, methods string) {
	w.Header().Set("Allow", methods)
	refuse(w, http.StatusMethodNotAllowed, errMethod)
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
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

var (
	jsonType   = []string{"application/json"}
	streamType = []string{"text/event-stream"}
)
