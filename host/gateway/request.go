package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/tracing"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A request is one message of a client that wants an answer. The goroutine that
// runs it through the stages owns all fields that name no other guard.
type request struct {
	gw         *Gateway
	generation *Generation // in effect when the request began
	left       bool        // see leaveGeneration
	renewal    bool        // makes a subscription again that the client has
	route      route
	principal  authn.Principal
	id         mcp.ID
	method     string
	params     []byte // the client's; from the stage resolve on, those that the server gets
	out        Stream // takes messages that belong to the request

	session *Session            // nil for the command line, and for a stateless request that neither listens nor asks for log messages
	local   *LocalCall          // nil for clients of the gateway
	header  map[string][]string // see Exchange
	address string              // see Exchange
	modern  bool
	caps    []byte // client capabilities of a modern request
	level   string // minimum level of log messages that a modern request asks for; empty: none

	item       policy.Item      // set by resolve; zero: the request is about none
	tool       *catalog.Tool    // the item, if it is a tool
	prompt     *catalog.Prompt  // the item, if it is a prompt
	resource   catalog.Location // the item, if it is a resource
	failing    string           // set by resolve; the server that the item belongs to by its name, whose lists could not be read or whose tool is held back
	requested  string           // the name or URI that the client used for the item
	given      []byte           // the arguments of a tool call as the client wrote them
	task       string           // the id of the task that the request is about
	permit     policy.Permit    // set by authorize
	approval   *policy.Approval // set by authorize; nil: the request needs none
	approvalID string           // set by confirm; empty: nothing waits or was used
	decision   string           // set by authorize
	rule       string           // set by authorize; that decided

	ruleName, policyDigest string         // set by authorize
	denied                 bool           // set by authorize; the error may hide it
	hidden                 int            // set by list; items that the policy left out
	leave                  func()         // gives back the call's place under the limits of its tool; nil: it has none
	carries                bool           // the params have a requestState
	carried                *carriedState  // set by openState: the state, unless it is that of a suspended call
	resumed                *suspendedCall // set by openState: the suspended call that the request continues

	hold     *limit.Hold // memory of the answer
	leading  []byte      // members that precede those of the server's result, each with its comma
	names    mcp.Names   // of the members of the server's result; zero: unknown
	progress progress
	// startReports counts the reports about the start of the server so far. One
	// report goes on at a time.
	startReports int
	limitedBy    limit.Scope // whose limit of calls refused the request; empty: none did

	requestID   string        // empty for a client that is not on HTTP, unless the request is observed or recorded
	named       bool          // the client chose requestID
	inbound     *inboundTrace // nil: the client says nothing about a trace
	span        tracing.Span  // set by trace; nil: the request is not observed
	observation Observation   // set by trace, with span
	begun       time.Time     // set by record
	recording   bool          // set by record
	state       string        // set by record; that continues a call
	continues   bool          // set by record; a call of which an event waits

	clock     *requestClock // set by bound; nil: no limit
	cancel    context.CancelCauseFunc
	cancelled bool // guarded by the mu of requestsInFlight; by the client
	stopped   bool // guarded by the mu of requestsInFlight; because the session ends

	mu     sync.Mutex
	server string // guarded by mu; that answers the request; empty: none so far
}

// A LocalCall is a request of the command line. The item is known already.
type LocalCall struct {
	Method string
	Params []byte // with the item under its exposed name

	// One of these is what the call is about.
	Tool     *catalog.Tool
	Prompt   *catalog.Prompt
	Resource catalog.Location

	Timeout  time.Duration       // 0: the server's own
	Progress func(params []byte) // called with progress notifications; nil asks for none; must not wait
	// Warn is called with a defect of a tool that can be used all the same; nil: the
	// log has it.
	Warn func(text string)
	// Limited is set for a call that the limits of tools apply to, as to those of clients.
	Limited bool
}

// A response is the outcome of a request that did not fail.
type response struct {
	result []byte          // for a client of the gateway; nil: nothing is sent
	reply  *upstream.Reply // for the command line: what the server answered
}

// serverName returns the server that answers the request; empty before one is
// asked.
func (r *request) serverName() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server
}

func (r *request) setServer(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = name
}

// setEra finds out which era a request is of: it says so in _meta, or there
// was a handshake.
func (r *request) setEra(header tracing.Context) *rpcError {
	meta := mcp.Member(r.params, "_meta")
	r.inbound = readTrace(meta, header)
	version, said := mcp.TextMember(meta, mcp.MetaVersion)
	if !said || r.method == mcp.MethodInitialize && mcp.Member(r.params, "protocolVersion") != nil {
		if !r.session.legacy() && r.method != mcp.MethodInitialize && r.method != mcp.MethodPing {
			return &rpcError{code: mcp.CodeInvalidParams,
				message: fmt.Sprintf("say who asks: either initialize first, or put %s and %s into _meta", mcp.MetaVersion, mcp.MetaClientCaps)}
		}
		return nil
	}
	r.modern = true
	if v := mcp.Revision(version); !v.Known() || !v.Modern() {
		return &rpcError{code: mcp.CodeUnsupported, message: "unsupported protocol version",
			data: map[string]any{"supported": mcp.Revisions, "requested": clip(version)}}
	}
	if r.caps = mcp.Member(meta, mcp.MetaClientCaps); len(r.caps) == 0 || r.caps[0] != '{' {
		return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("_meta has no %s", mcp.MetaClientCaps)}
	}
	if len(r.caps) > maxCaps {
		return tooCapable()
	}
	r.caps = mcp.WithoutDeepNulls(r.caps)
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
	return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("the capabilities have more than %d bytes", maxCaps)}
}

// call returns the request as a server gets it, for a connection.
func (r *request) call() *upstream.Call {
	c := &upstream.Call{Method: r.method, Params: r.withContext(r.params), Permit: r.permit, Principal: r.principal, About: r, Repeat: r.mayRepeat(),
		AsTask: r.tool != nil && r.tool.AsTask && r.method == mcp.MethodCallTool}
	switch {
	case r.local != nil:
		c.Timeout.Limit, c.Progress = r.local.Timeout, r.local.Progress
		if r.gw.local.client != nil {
			c.Capabilities = r.gw.local.capabilities()
		}
		return c
	case r.takeProgress():
		c.Progress = r.progress.report
	}
	if limit := r.generation.Servers[r.item.Server].Timeout; limit != nil && r.method == mcp.MethodCallTool {
		c.Timeout = limit(r.item.Name, r.principal)
	}
	// A legacy client stated its capabilities at initialize and set the level for
	// its session; a modern server is told both with each request.
	if r.session != nil && !r.modern {
		r.session.mu.Lock()
		c.Level, c.Capabilities = r.session.level, r.session.caps
		r.session.mu.Unlock()
	}
	if level, asked := r.gw.levels.setBy(r.item.Server); asked && lowerLevel(level, cmp.Or(c.Level, r.level)) {
		c.Level = level
	}
	return c
}

// mayRepeat reports whether the request may be sent again after the connection
// ended before the answer.
func (r *request) mayRepeat() bool {
	switch r.method {
	case mcp.MethodCallTool:
		repeat := r.generation.Servers[r.item.Server].Repeat
		return repeat != nil && repeat(r.item.Name)
	case mcp.MethodUpdateTask, mcp.MethodCancelTask:
		return false
	}
	return true
}

// requestLogs makes the messages that servers log reach a modern request that
// asks for them.
func (r *request) requestLogs(ctx context.Context) {
	if r.level != "" {
		r.openSession(ctx)
		r.gw.sessions.add(r.session)
		r.gw.levels.lower(r.principal.Tenant, r.level)
	}
}
