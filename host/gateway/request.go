package gateway

import (
	"fmt"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// A request is one message of a client that wants an answer: what came over the wire, who
// sent it, and the configuration that was in effect then. It does not change. newRequest sets
// it, and setClient; all goroutines may read it after that.
type request struct {
	gw         *Gateway
	generation *Generation // in effect when the request began
	route      route
	principal  authn.Principal
	client     client       // its other end
	exchange   modernClient // the client of a modern request
	id         mcp.ID
	method     string
	params     []byte
	out        Stream              // takes messages that belong to the request
	header     map[string][]string // see Exchange
	address    string              // see Exchange
	transport  string              // as the audit log names it
	level      string              // minimum level of log messages that a modern request asks for; empty: none
	carries    bool                // the params have a requestState
	renewal    bool                // makes a subscription again that the client has
	named      bool                // the client chose the id of the HTTP request
	inbound    *inboundTrace       // nil: the client says nothing about a trace

	// seesAll is set for a command of the user who runs Junctor: nothing is hidden from it.
	seesAll bool
	limited bool              // the limits of tools apply
	time    time.Duration     // in which the request must end; 0: no limit
	warn    func(text string) // is told of defects of tools; nil: the log has them
}

// modern reports whether the request is of the modern era.
func (r *request) modern() bool { return r.client.era() == era.Modern }

// setClient sets the client of a request: what a modern one says in _meta, or the session of the
// handshake. s is the session of the request, or nil, and of the era that was decided.
func setClient(r *request, s *Session, of era.Era, header tracing.Context) *rpcError {
	r.client = s
	meta := mcp.Member(r.params, "_meta")
	r.inbound = readTrace(meta, header)
	version, said := mcp.TextMember(meta, mcp.MetaVersion)
	if of == era.Legacy || !said {
		if !s.legacy() && r.method != mcp.MethodInitialize && r.method != mcp.MethodPing {
			return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf(
				"say who asks: either initialize first, or put %s and %s into _meta",
				mcp.MetaVersion, mcp.MetaClientCaps,
			)}
		}
		return nil
	}
	r.exchange = modernClient{version: version, info: mcp.Member(meta, mcp.MetaClientInfo)}
	r.client = &r.exchange
	if v := mcp.Revision(version); !v.Known() || !v.Modern() {
		return &rpcError{code: mcp.CodeUnsupported, message: "unsupported protocol version",
			data: map[string]any{"supported": mcp.Revisions, "requested": clip(version)}}
	}
	caps := mcp.Member(meta, mcp.MetaClientCaps)
	if len(caps) == 0 || caps[0] != '{' {
		return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("_meta has no %s", mcp.MetaClientCaps)}
	}
	if len(caps) > maxCaps {
		return tooCapable()
	}
	r.exchange.caps = mcp.WithoutDeepNulls(caps)
	if level, ok := mcp.TextMember(meta, mcp.MetaLogLevel); ok {
		if !slices.Contains(mcp.Levels, level) {
			return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("%q is not a log level", clip(level))}
		}
		r.level = level
	}
	return nil
}

// maxCaps bounds the capabilities of a client in bytes. They are kept as long as
// its session, or as a connection that was made for it.
const maxCaps = 64 << 10

func tooCapable() *rpcError {
	return &rpcError{code: mcp.CodeInvalidParams,
		message: fmt.Sprintf("the capabilities have more than %d bytes", maxCaps)}
}
