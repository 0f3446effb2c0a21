package gateway

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// An old server that needs the user to visit a page first says so in an error
// (2025-11-25, "URL Elicitation Required"), which newer clients do not know: they
// are asked to send the user there, and make the request again afterwards.

// isURLElicitation reports whether a server wants the user to visit pages.
func isURLElicitation(rpcErr []byte) bool {
	return string(mcp.Member(rpcErr, "code")) == fmt.Sprint(mcp.CodeURLElicitation) && mcp.Member(rpcErr, "data", "elicitations") != nil
}

// urlElicitation asks a modern client to send its user to the pages of an error. There is
// no state: the request that follows is a new one for the server.
func (r *request) urlElicitation(rpcErr []byte) (response, error) {
	message, _ := mcp.TextMember(rpcErr, "message")
	if mcp.Member(r.caps, "elicitation", "url") == nil {
		return response{}, &rpcError{code: mcp.CodeMissingCapability, message: message,
			data: map[string]any{"requiredCapabilities": map[string]any{"elicitation": map[string]any{"url": struct{}{}}}}}
	}
	questions, n := []byte("{}"), 0
	for page := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		if n++; n > maxQuestions || page[0] != '{' {
			n = 0
			break
		}
		question := mcp.SetMember([]byte(`{"method":"elicitation/create"}`), "params", mcp.DeleteMember(page, "elicitationId"))
		questions = mcp.SetMember(questions, fmt.Sprintf("q%d", n), question)
	}
	if n == 0 {
		return response{}, &rpcError{code: mcp.CodeInternal, message: message, data: map[string]string{"reason": "bad_upstream_json"}}
	}
	return response{result: mcp.SetMember([]byte(`{"resultType":"input_required"}`), "inputRequests", questions)}, nil
}
