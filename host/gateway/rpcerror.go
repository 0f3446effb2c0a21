package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// An rpcError is an error as a client of the gateway gets it. It does not change once it was
// returned. Codes, reasons and members of data are what clients act on: they must stay.
type rpcError struct {
	raw     []byte // the whole object, when an upstream made it
	code    int
	message string
	data    any
	refused bool  // see Answer
	cause   error // of an error of the host's own
}

func (e *rpcError) Error() string {
	if e.cause != nil {
		return e.cause.Error()
	}
	if e.raw != nil {
		return string(e.raw)
	}
	return e.message
}

func (e *rpcError) Unwrap() error { return e.cause }

// retryAfter returns the time to wait that the error tells its client; 0 without one.
func (e *rpcError) retryAfter() time.Duration {
	if e.cause == nil || e.raw == nil {
		return 0
	}
	ms, _ := strconv.ParseInt(string(mcp.Member(mcp.Member(e.raw, "data"), "retry_after_ms")), 10, 64)
	return time.Duration(ms) * time.Millisecond
}

func (e *rpcError) object() []byte {
	if e.raw != nil {
		return withVisibleMessage(e.raw)
	}
	return withVisibleMessage(mcp.ErrorObject(e.code, e.message, e.data))
}

func faultError(err error, modern bool) *rpcError {
	return &rpcError{raw: mcp.FaultError(err, modern), cause: err}
}

// asRPCError returns an error of a stage as this client gets it. run calls it at the end of each request.
func asRPCError(r *pendingRequest, err error) *rpcError {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	return clientError(r, err)
}

// noMethod is the error of a method that does not exist, or not in this era.
func noMethod(r *request, known bool) *rpcError {
	message := "method not found: " + clip(r.method)
	switch {
	case known && r.route.legacy:
		message = fmt.Sprintf("%s is not part of %s", r.method, mcp.Revision20260728)
	case known && r.route.modern:
		message = fmt.Sprintf("%s is part of %s, which needs _meta", r.method, mcp.Revision20260728)
	}
	return &rpcError{code: mcp.CodeMethodNotFound, message: message, refused: true}
}

// BadArguments reports arguments that do not fit a tool's schema. The server was not called.
type BadArguments struct {
	Tool     string
	Problems []schema.Problem
}

func (e *BadArguments) Error() string {
	return fmt.Sprintf("the arguments do not fit the schema of %s", e.Tool)
}

// result returns the problems as the result of a failed call, so that a model can read them and call again.
func (e *BadArguments) result(modern bool) []byte {
	var text strings.Builder
	text.WriteString(e.Error() + ":\n")
	for _, p := range e.Problems {
		if p.Path != "" {
			text.WriteString(p.Path + " ")
		}
		text.WriteString(p.Message + "\n")
	}
	result := map[string]any{
		"content": []map[string]string{{"type": "text", "text": strings.TrimSpace(text.String())}},
		"isError": true,
		"_meta":   map[string]any{"junctor/reason": "arguments"},
	}
	if modern {
		result["resultType"] = "complete"
	}
	b, err := json.Marshal(result)
	if err != nil {
		panic(err) // strings can always be rendered
	}
	return b
}
