package httpserver

import (
	"fmt"
	"net/http"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A modern client repeats parts of its message in headers, so that proxies can
// read them (2026-07-28, streamable HTTP, "Request Metadata"). The gateway
// checks that both agree, because a proxy may have decided by the headers.

// knownVersion reports whether the version header of a legacy client is absent
// or names a supported version.
func knownVersion(h http.Header) bool {
	versions := h["Mcp-Protocol-Version"]
	return len(versions) == 0 || len(versions) == 1 && mcp.Revision(versions[0]).Known()
}

// nameMembers maps a method to the member of its params that the Mcp-Name
// header repeats.
var nameMembers = map[string]string{
	mcp.MethodCallTool:     "name",
	mcp.MethodGetPrompt:    "name",
	mcp.MethodReadResource: "uri",
	mcp.MethodGetTask:      "taskId",
	mcp.MethodUpdateTask:   "taskId",
	mcp.MethodCancelTask:   "taskId",
}

// checkHeaders compares the headers of a modern request with its message. It
// returns a JSON-RPC error object, or nil if they agree. The functions of this file are pure. A
// new header that the specification wants compared belongs here.
func checkHeaders(h http.Header, m *mcp.Message) (rpcErr []byte) {
	version, said := mcp.TextMember(m.Params, "_meta", mcp.MetaVersion)
	if !said && len(h["Mcp-Protocol-Version"]) == 1 {
		version = h["Mcp-Protocol-Version"][0] // the gateway reports what _meta lacks
	}
	if err := checkHeader(h, "Mcp-Protocol-Version", version, false); err != nil {
		return err
	}
	if err := checkHeader(h, "Mcp-Method", m.Method, false); err != nil {
		return err
	}
	if member, ok := nameMembers[m.Method]; ok {
		if name, ok := mcp.TextMember(m.Params, member); ok {
			return checkHeader(h, "Mcp-Name", name, true)
		}
	}
	return nil
}

// checkHeader compares one header with a value of the message. It returns a
// JSON-RPC error object, or nil if they agree.
func checkHeader(h http.Header, name, want string, encoded bool) (rpcErr []byte) {
	values := h[http.CanonicalHeaderKey(name)]
	wrong := func(what string) []byte {
		return mcp.ErrorObject(mcp.CodeHeaderMismatch, fmt.Sprintf("the header %s %s", name, what),
			map[string]string{"header": name})
	}
	switch {
	case len(values) == 0:
		return wrong("is missing")
	case len(values) > 1:
		return wrong("appears twice")
	}
	got := values[0]
	if encoded {
		var ok bool
		if got, ok = mcp.HeaderText(got); !ok {
			return wrong("is not validly encoded")
		}
	}
	if got != want {
		return wrong("differs from the message")
	}
	return nil
}
