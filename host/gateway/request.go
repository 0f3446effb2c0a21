package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A request is one request of a client that is being answered.
type request struct {
	session   *Session
	ctx       context.Context
	cancel    context.CancelCauseFunc
	id        mcp.ID
	method    string
	params    []byte
	modern    bool
	level     string // of log messages that a modern request asks for; empty: none
	server    string // guarded by the session's mu; that answers it; empty: none so far
	progress  progress
	cancelled bool // guarded by the session's mu; by the client
	stopped   bool // guarded by the session's mu; because the session ends
}

// A handler answers a request with a result, in the form the request's era
// wants it.
type handler func(r *request) (result []byte, err *rpcError)

// handlerOf returns the handler of a method, nil when there is none. An
// immediate one does not wait and must be in effect before the client's next
// message is read.
func handlerOf(method string) (h handler, immediate bool) {
	switch method {
	case mcp.MethodInitialize:
		return initialize, true
	case mcp.MethodDiscover:
		return modernOnly(discover), true
	case mcp.MethodPing:
		return legacyOnly(ping), true
	case mcp.MethodSetLevel:
		return legacyOnly(setLevel), true
	case mcp.MethodListTools:
		return listTools, false
	case mcp.MethodListRes:
		return listResources, false
	case mcp.MethodListTempl:
		return listTemplates, false
	case mcp.MethodListPrompts:
		return listPrompts, false
	case mcp.MethodCallTool:
		return callTool, false
	case mcp.MethodGetPrompt:
		return getPrompt, false
	case mcp.MethodReadResource:
		return readResource, false
	case mcp.MethodComplete:
		return complete, false
	case mcp.MethodSubscribe:
		return legacyOnly(subscribe), false
	case mcp.MethodUnsubscribe:
		return legacyOnly(unsubscribe), false
	case mcp.MethodListen:
		return modernOnly(listenTo), false
	}
	return nil, false
}

func legacyOnly(h handler) handler {
	return func(r *request) ([]byte, *rpcError) {
		if r.modern {
			return nil, &rpcError{code: mcp.CodeMethodNotFound, message: fmt.Sprintf("%s is not part of %s", r.method, mcp.Revision20260728)}
		}
		return h(r)
	}
}

func modernOnly(h handler) handler {
	return func(r *request) ([]byte, *rpcError) {
		if !r.modern {
			return nil, &rpcError{code: mcp.CodeMethodNotFound, message: fmt.Sprintf("%s is part of %s, which needs _meta", r.method, mcp.Revision20260728)}
		}
		return h(r)
	}
}

// setEra finds out which era a request is of: it says so in _meta, or there
// was a handshake.
func (r *request) setEra() *rpcError {
	meta := mcp.Member(r.params, "_meta")
	version, said := mcp.TextMember(meta, mcp.MetaVersion)
	if !said || r.method == mcp.MethodInitialize {
		r.session.mu.Lock()
		defer r.session.mu.Unlock()
		if r.session.revision == "" && r.method != mcp.MethodInitialize && r.method != mcp.MethodPing {
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
	if caps := mcp.Member(meta, mcp.MetaClientCaps); len(caps) == 0 || caps[0] != '{' {
		return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("_meta has no %s", mcp.MetaClientCaps)}
	}
	if level, ok := mcp.TextMember(meta, mcp.MetaLogLevel); ok {
		if !slices.Contains(mcp.Levels, level) {
			return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("%q is not a log level", clip(level))}
		}
		r.level = level
	}
	return nil
}

// use is what the request asks of an item of a server, with its notifications.
func (r *request) use(server string) Use {
	r.session.mu.Lock()
	r.server = server
	r.session.mu.Unlock()
	u := Use{Principal: r.session.principal, Params: r.params}
	if token := mcp.Member(r.params, "_meta", "progressToken"); token != nil {
		r.progress.begin(token, func(params []byte) { r.session.tell(mcp.NoteProgress, params) })
		u.Progress = r.progress.report
	}
	// A legacy client set the level for the whole session; a modern server
	// wants to be told with each request, an old one beforehand.
	switch {
	case r.level != "":
		r.session.gw.heed(r.level)
	case !r.modern:
		r.session.mu.Lock()
		level := r.session.level
		r.session.mu.Unlock()
		if level != "" {
			u.Params = mcp.SetPath(u.Params, []string{"_meta", mcp.MetaLogLevel}, mcp.AppendText(nil, level))
		}
	}
	return u
}

// atLeast reports whether a log message is at least as severe as level.
func atLeast(params []byte, level string) bool {
	said, _ := mcp.TextMember(params, "level")
	return slices.Index(mcp.Levels, said) >= slices.Index(mcp.Levels, level)
}

// relay turns an upstream's reply into what the client's era expects.
func (r *request) relay(reply upstream.Reply, err error) ([]byte, *rpcError) {
	if err != nil {
		return nil, r.fault(err)
	}
	if reply.Error != nil {
		return nil, &rpcError{raw: r.forEra(reply)}
	}
	// Between the same eras the bytes pass without a look: results are large.
	switch {
	case r.modern == reply.Revision.Modern():
		return reply.Result, nil
	case reply.Result[0] != '{':
		return nil, r.fault(fault.New(fault.UpstreamBadMessage, "the server's result is not an object"))
	case r.modern:
		return r.completed(reply.Result), nil
	}
	switch kind, _ := mcp.TextMember(reply.Result, "resultType"); kind {
	case "", "complete":
		return mcp.DeleteMember(reply.Result, "resultType"), nil
	case "input_required":
		return nil, r.fault(fault.New(fault.CallInput, "the server wants something from the user that this client cannot be asked for").
			WithHint("use a client of protocol revision %s", mcp.Revision20260728))
	default:
		return nil, r.fault(fault.New(fault.UpstreamUnsupported, "the server answered with a result of type %q, which this client does not know", clip(kind)).
			WithHint("use a client of protocol revision %s", mcp.Revision20260728))
	}
}

// completed adds what every modern result has.
func (r *request) completed(result []byte) []byte {
	result = mcp.SetMember(result, "resultType", []byte(`"complete"`))
	if r.method == mcp.MethodReadResource {
		// What a legacy server cannot say about its resources is assumed in
		// the safe direction.
		result = mcp.SetMember(result, "ttlMs", []byte("0"))
		result = mcp.SetMember(result, "cacheScope", []byte(`"private"`))
	}
	return result
}

// forEra adapts an error's code where the eras have different ones.
func (r *request) forEra(reply upstream.Reply) []byte {
	if r.modern && !reply.Revision.Modern() && string(mcp.Member(reply.Error, "code")) == fmt.Sprint(mcp.CodeResourceNotFound) {
		return mcp.SetMember(reply.Error, "code", fmt.Append(nil, mcp.CodeInvalidParams))
	}
	return reply.Error
}

// An rpcError is an error that a client gets.
type rpcError struct {
	raw     []byte // the whole object, when an upstream made it
	code    int
	message string
	data    any
}

func (e *rpcError) object() []byte {
	if e.raw != nil {
		return e.raw
	}
	return mcp.ErrorObject(e.code, e.message, e.data)
}

func faultError(err error, modern bool) *rpcError {
	return &rpcError{raw: mcp.FaultError(err, modern)}
}

// fault is an error of our own as this client gets it. What is not allowed
// looks as if it did not exist.
func (r *request) fault(err error) *rpcError {
	if fault.Is(err, fault.Denied) {
		err = fault.New(fault.NameUnknown, "unknown name")
	}
	return faultError(err, r.modern)
}
