package question

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// relayed holds the methods of server requests that are relayed to clients, with the client
// capability that each needs. A change decides what servers can do with clients.
var relayed = map[string]string{
	mcp.MethodSample: "sampling",
	mcp.MethodElicit: "elicitation",
	mcp.MethodRoots:  "roots",
}

// noCapability is the reason in the error of a question that the client lacks the
// capability for.
const noCapability = "no_capability"

// ServerFacing returns a client's capabilities without those that servers
// must not use. It keeps roots, sampling, elicitation and the extensions.
func ServerFacing(caps []byte) []byte {
	out := []byte("{}")
	for _, name := range []string{"roots", "sampling", "elicitation", "extensions"} {
		if v := mcp.Member(caps, name); v != nil {
			out = mcp.SetMember(out, name, v)
		}
	}
	return out
}

// Check returns a JSON-RPC error if a client with these capabilities cannot
// answer a question, and nil otherwise. The functions of this file are pure. A Filter and
// package gateway call them.
func Check(caps []byte, method string, params []byte) (rpcErr []byte) {
	capability, known := relayed[method]
	switch {
	case !known:
		return mcp.ErrorObject(mcp.CodeMethodNotFound, "method not found: "+clip(method), nil)
	case mcp.Member(caps, capability) == nil:
		return mcp.ErrorObject(mcp.CodeMethodNotFound, fmt.Sprintf(
			"the client does not have the capability %q", capability,
		),
			map[string]string{"reason": noCapability})
	}
	if err := missingSubCapability(mcp.Member(caps, capability), method, params); err != "" {
		return mcp.ErrorObject(mcp.CodeInvalidParams, err, map[string]string{"reason": noCapability})
	}
	if method == mcp.MethodElicit {
		if asked := mcp.Member(params, "requestedSchema"); asked != nil {
			if err := schema.VetElicitation(asked); err != nil {
				return mcp.ErrorObject(mcp.CodeInvalidParams, "requestedSchema: "+err.Error(), nil)
			}
		}
	}
	return nil
}

// missingSubCapability returns the member of a capability that a question needs and the
// client lacks, or "".
func missingSubCapability(capability []byte, method string, params []byte) string {
	has := func(name string) bool { return mcp.Member(capability, name) != nil }
	mode, _ := mcp.TextMember(params, "mode")
	switch {
	case method == mcp.MethodElicit && mode == "url" && !has("url"):
		return "the client does not have the capability \"elicitation.url\""
	case method == mcp.MethodElicit && mode != "url" && has("url") && !has("form"):
		return "the client does not have the capability \"elicitation.form\""
	case method == mcp.MethodSample && !has("tools") &&
		(mcp.Member(params, "tools") != nil || mcp.Member(params, "toolChoice") != nil):
		return "the client does not have the capability \"sampling.tools\""
	}
	return ""
}

// Relayed reports whether requests of a server with a method are relayed to clients.
func Relayed(method string) bool {
	_, known := relayed[method]
	return known
}

// Declined returns the answer to a question that the client was asked and did not answer, given
// the error in place of an answer; nil where the protocol has none.
func Declined(method string, rpcErr []byte) []byte {
	if reason, _ := mcp.TextMember(rpcErr, "data", "reason"); method != mcp.MethodElicit || reason == noCapability {
		return nil
	}
	return []byte(`{"action":"cancel"}`)
}

// NoClient returns the error of a question that no client can answer.
func NoClient(method string) (rpcErr []byte) {
	message := "there is no client that could answer " + clip(method)
	return mcp.ErrorObject(mcp.CodeMethodNotFound, message, map[string]string{"reason": "no_client"})
}

// clip shortens an untrusted text for a message.
func clip(s string) string { return truncate.Bytes(s, 100) }
