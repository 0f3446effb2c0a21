package results

import (
	"fmt"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Answered returns the fault for a reply that is not a result, and nil for a result. The reply stays
// the caller's, who releases it if it goes on. Verbs of the groups use and operate
// call it.
func Answered(inv *invocation.Invocation, server string, reply *upstream.Reply) error {
	if kind, _ := mcp.TextMember(reply.Result, "resultType"); kind == "input_required" {
		return fault.In(server, fault.New(fault.CallInput,
			"the server requires input from the user that the command line cannot ask for").
			WithHint("use a client of protocol revision %s with junctor serve", mcp.Revision20260728))
	}
	rpcError := reply.Error
	if rpcError == nil {
		return nil
	}
	message, _ := mcp.TextMember(rpcError, "message")
	message = fmt.Sprintf("the server answered with error %s: %s", mcp.Member(rpcError, "code"), message)
	data := mcp.Member(rpcError, "data")
	if !inv.JSON {
		message, data = errorByField(message, data)
	}
	if data != nil && string(data) != "null" && string(data) != `""` {
		message += "\ndata: " + string(data)
	}
	return &fault.Error{Code: fault.UpstreamError, Message: message, Server: server}
}
