package gateway

import (
	"bytes"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// Members of _meta about traces, and the one with the id of a request, which a client cannot set.
const (
	metaParent    = "traceparent"
	metaState     = "tracestate"
	metaBaggage   = "baggage"
	metaRequestID = "junctor/requestId"
)

// An inboundTrace is what a client says about the trace of a request. It does not change. The
// functions of this file are pure: they read and write the members of _meta about traces.
type inboundTrace struct {
	parent tracing.Context // of the message, or else of the HTTP request
	link   tracing.Context // of the HTTP request, if the message has another
	meta   bool            // _meta has such members, valid or not
}

// readTrace returns what _meta and the headers of a request say about its trace; nil: nothing.
func readTrace(meta []byte, header tracing.Context) *inboundTrace {
	given := mayTrace(meta)
	if !given && header.Zero() {
		return nil
	}
	in := &inboundTrace{parent: header, meta: given}
	if given {
		parent, _ := mcp.TextMember(meta, metaParent)
		state, _ := mcp.TextMember(meta, metaState)
		if own := tracing.NewContext(parent, state); !own.Zero() {
			in.parent = own
			if header.Parent != own.Parent {
				in.link = header
			}
		}
	}
	return in
}

// mayTrace reports whether an object may have a member about traces. It looks for texts,
// because most requests have none.
func mayTrace(meta []byte) bool {
	return bytes.Contains(meta, []byte("trace")) || bytes.Contains(meta, []byte(metaBaggage)) ||
		bytes.Contains(meta, []byte(metaRequestID)) ||
		bytes.IndexByte(meta, '\\') >= 0 // a name may have escapes
}

// withTrace returns the params of a request with what its server learns about the trace:
// the span own, or else the span of the client, and the id of the request if the client
// named one or the request is observed. It removes what is malformed.
func withTrace(u *use, params []byte, own tracing.Context) []byte {
	told, id := own, ""
	if told.Zero() && u.inbound != nil {
		told = u.inbound.parent
	}
	if u.named || u.span != nil {
		id = u.requestID
	}
	untraced := u.generation.Servers[u.item.Server].Untraced
	if untraced {
		told, id = tracing.Context{}, ""
	}
	given := u.inbound != nil && u.inbound.meta
	if !given && told.Zero() && id == "" {
		return params
	}
	meta := mcp.Member(params, "_meta")
	if given {
		meta = withoutTrace(meta, untraced)
	}
	if !told.Zero() {
		meta = mcp.SetMember(meta, metaParent, mcp.AppendText(nil, told.Parent))
		if told.State != "" {
			meta = mcp.SetMember(meta, metaState, mcp.AppendText(nil, told.State))
		}
	}
	if id != "" {
		meta = mcp.SetMember(meta, metaRequestID, mcp.AppendText(nil, id))
	}
	switch {
	case meta == nil:
		return params
	case mcp.Empty(meta):
		return mcp.DeleteMember(params, "_meta")
	}
	return mcp.SetMember(params, "_meta", meta)
}

// withoutTrace removes the members about traces from _meta. A valid baggage stays, unless
// the server is to learn nothing.
func withoutTrace(meta []byte, all bool) []byte {
	for _, name := range []string{metaParent, metaState, metaRequestID} {
		if mcp.Member(meta, name) != nil {
			meta = mcp.DeleteMember(meta, name)
		}
	}
	if bag := mcp.Member(meta, metaBaggage); bag != nil {
		if text, ok := mcp.Text(bag); all || !ok || !tracing.ValidBaggage(text) {
			meta = mcp.DeleteMember(meta, metaBaggage)
		}
	}
	return meta
}
