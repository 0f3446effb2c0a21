package httpserver

import (
	"fmt"
	"net/http"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A modern client repeats in headers what its message says, so that whoever
// stands between can see it (2026-07-28, streamable HTTP, "Request Metadata").
// What they saw must be what is done.

// modern reports whether a message comes from a modern client: its header says
// so, or the message itself.
func modern(h http.Header, m *mcp.Message) bool {
	if m.Method == mcp.MethodInitialize && mcp.Member(m.Params, "protocolVersion") != nil {
		return false // in whatever way it was sent, it begins a session
	}
	if v := mcp.Revision(h.Get("Mcp-Protocol-Version")); v.Modern() {
		return true
	}
	_, said := mcp.TextMember(m.Params, "_meta", mcp.MetaVersion)
	return said
}

// knownVersion reports whether the header of a legacy client, if it has one,
// names a version that we speak.
func knownVersion(h http.Header) bool {
	versions := h["Mcp-Protocol-Version"]
	return len(versions) == 0 || len(versions) == 1 && mcp.Revision(versions[0]).Known()
}

// named are the methods whose item stands in a header, and where it stands in
// the message.
var named = map[string]string{
	mcp.MethodCallTool:     "name",
	mcp.MethodGetPrompt:    "name",
	mcp.MethodReadResource: "uri",
	mcp.MethodGetTask:      "taskId",
	mcp.MethodUpdateTask:   "taskId",
	mcp.MethodCancelTask:   "taskId",
}

// mismatch compares the headers of a modern request with its message. The error
// is nil when they agree.
func mismatch(h http.Header, m *mcp.Message) (rpcErr []byte) {
	version, said := mcp.TextMember(m.Params, "_meta", mcp.MetaVersion)
	if !said && len(h["Mcp-Protocol-Version"]) == 1 {
		version = h["Mcp-Protocol-Version"][0] // the gateway says what _meta lacks
	}
	if err := repeats(h, "Mcp-Protocol-Version", version, false); err != nil {
		return err
	}
	if err := repeats(h, "Mcp-Method", m.Method, false); err != nil {
		return err
	}
	if member, ok := named[m.Method]; ok {
		if name, ok := mcp.TextMember(m.Params, member); ok {
			return repeats(h, "Mcp-Name", name, true)
		}
	}
	return nil
}

// repeats checks that a header says what stands in the message.
func repeats(h http.Header, name, want string, encoded bool) (rpcErr []byte) {
	values := h[http.CanonicalHeaderKey(name)]
	wrong := func(what string) []byte {
		return mcp.ErrorObject(mcp.CodeHeaderMismatch, fmt.Sprintf("the header %s %s", name, what), map[string]string{"header": name})
	}
	switch {
	case len(values) == 0:
		return wrong("is missing")
	case len(values) > 1:
		return wrong("stands twice")
	}
	got := values[0]
	if encoded {
		var ok bool
		if got, ok = mcp.HeaderText(got); !ok {
			return wrong("is not encoded as it says")
		}
	}
	if got != want {
		return wrong("is not what the message says")
	}
	return nil
}
