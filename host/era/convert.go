package era

import (
	"crypto/rand"
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// MaxQuestions bounds the questions that one result or error may ask at a time.
const MaxQuestions = 32

// IsInputRequired reports whether the result of a modern server asks for input
// before there is a result (2026-07-28, "Multi Round-Trip Requests").
func IsInputRequired(result []byte) bool { return resultType(result) == "input_required" }

func resultType(result []byte) string {
	kind, _ := mcp.TextMember(result, "resultType")
	return kind
}

// ToLegacy returns the result of a modern server for a legacy client. Its error
// names the type of a result that the legacy era does not have.
func ToLegacy(result []byte) (_ []byte, err error) {
	switch kind := resultType(result); kind {
	case "", "complete":
		return mcp.DeleteMember(result, "resultType"), nil
	default:
		return nil, UnknownResultType(kind)
	}
}

// An UnknownResultType is the type of a modern result that the legacy era does not
// have.
type UnknownResultType string

func (t UnknownResultType) Error() string { return fmt.Sprintf("result of type %q", string(t)) }

// ToModern returns the result of a legacy server for a modern client. leading holds
// members, each with a comma, that precede those of the result: results are large,
// and are not copied for that. names are the member names of the result.
func ToModern(method string, result []byte, names mcp.Names) (leading, converted []byte) {
	set := func(name, value string) {
		if names.Maybe(name) && mcp.Member(result, name) != nil {
			result = mcp.SetMember(result, name, []byte(value))
			return
		}
		leading = fmt.Appendf(leading, `%q:%s,`, name, value)
	}
	set("resultType", `"complete"`)
	if method == mcp.MethodReadResource {
		// A legacy server cannot say how long its resources may be cached and by
		// whom; the strictest answer is safe.
		set("ttlMs", "0")
		set("cacheScope", `"private"`)
	}
	return leading, result
}

// ErrorToModern returns the error of a legacy server for a modern client, with the
// code that the modern era has for it.
func ErrorToModern(rpcErr []byte) []byte {
	if string(mcp.Member(rpcErr, "code")) == fmt.Sprint(mcp.CodeResourceNotFound) {
		return mcp.SetMember(rpcErr, "code", fmt.Append(nil, mcp.CodeInvalidParams))
	}
	return rpcErr
}

// IsURLElicitation reports whether the error of a legacy server sends the user to
// pages first (2025-11-25, "URL Elicitation Required").
func IsURLElicitation(rpcErr []byte) bool {
	return string(mcp.Member(rpcErr, "code")) == fmt.Sprint(mcp.CodeURLElicitation) &&
		mcp.Member(rpcErr, "data", "elicitations") != nil
}

// URLElicitation returns the modern result that asks for the pages of such an
// error; nil if the error is malformed. The result has no state: the request that
// follows is a new one for the server.
func URLElicitation(rpcErr []byte) (result []byte) {
	questions, n := []byte("{}"), 0
	for page := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		if n++; n > MaxQuestions || page[0] != '{' {
			return nil
		}
		question := mcp.SetMember([]byte(`{"method":"elicitation/create"}`), "params",
			mcp.DeleteMember(page, "elicitationId"))
		questions = mcp.SetMember(questions, fmt.Sprintf("q%d", n), question)
	}
	if n == 0 {
		return nil
	}
	return InputRequired(questions)
}

// InputRequired returns the modern result that asks questions: an object of
// requests by key.
func InputRequired(questions []byte) []byte {
	return mcp.SetMember([]byte(`{"resultType":"input_required"}`), "inputRequests", questions)
}

// QuestionToLegacy returns the params of a modern server's question for a legacy
// client, which expects an id of each page that it sends the user to.
func QuestionToLegacy(method string, params []byte) []byte {
	if mode, _ := mcp.TextMember(params, "mode"); method != mcp.MethodElicit || mode != "url" ||
		mcp.Member(params, "elicitationId") != nil {
		return params
	}
	return mcp.SetMember(params, "elicitationId", mcp.AppendText(nil, rand.Text()))
}

// WithAnswers returns the params of a request that continues after a result which
// asked for input: with the answers, and with the state of that result.
func WithAnswers(params, answers, result []byte) []byte {
	params = mcp.DeleteMember(params, "requestState")
	if !mcp.Empty(answers) {
		params = mcp.SetMember(params, "inputResponses", answers)
	}
	if state := mcp.Member(result, "requestState"); state != nil {
		params = mcp.SetMember(params, "requestState", state)
	}
	return params
}
