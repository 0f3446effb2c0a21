package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// Some decoders match the names of members without regard to case, as encoding/json does.
// A server with such a decoder takes "Name" for "name", and would run another tool, read
// another task or report progress to another client than the gateway has checked.

// paramNames are the members of params that the gateway checks or sets. A new member that the
// gateway reads or writes belongs here, too.
var paramNames = []string{"name", "arguments", "_meta", "uri", "ref", "argument", "taskId", "requestState",
	"inputResponses"}

// nestedNames are the same of the objects in params.
var nestedNames = map[string][]string{
	"_meta": {"progressToken", metaContext, mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaClientCaps, mcp.MetaLogLevel},
	"ref":   {"type", "name", "uri"},
}

// checkMemberNames refuses a request whose server could read another name than the gateway: one that differs
// from a name of the protocol only in the case of its letters. It also notes whether there is a
// requestState. checkMethod calls it for each request. It is pure but for what it notes in r.
func checkMemberNames(r *request) *rpcError {
	for name, value := range mcp.Members(r.params) {
		if known, wrong := caseVariant(name, paramNames); wrong {
			return wrongCase(name, known)
		}
		r.carries = r.carries || name == "requestState"
		nested := nestedNames[name]
		if nested == nil {
			continue
		}
		for name := range mcp.Members(value) {
			if known, wrong := caseVariant(name, nested); wrong {
				return wrongCase(name, known)
			}
		}
	}
	return nil
}

// caseVariant returns the name that another one differs from only in case.
func caseVariant(name string, names []string) (known string, found bool) {
	i := slices.IndexFunc(names, func(known string) bool { return strings.EqualFold(name, known) })
	if i < 0 || slices.Contains(names, name) {
		return "", false
	}
	return names[i], true
}

func wrongCase(name, known string) *rpcError {
	return &rpcError{
		code:    mcp.CodeInvalidParams,
		message: fmt.Sprintf("params have the member %q: it differs from %q only in case", clip(name), known),
		data:    map[string]string{"reason": "member_name"}, refused: true,
	}
}
