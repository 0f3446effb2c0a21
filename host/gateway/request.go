package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A request is one request of a client that is being answered.
type request struct {
	session  *Session
	out      Stream              // takes what belongs to the request
	header   map[string][]string // see Exchange
	ctx      context.Context
	cancel   context.CancelCauseFunc
	id       mcp.ID
	method   string
	params   []byte
	modern   bool
	caps     []byte      // that a modern request comes with
	level    string      // of log messages that a modern request asks for; empty: none
	server   string      // guarded by the session's mu; that answers it; empty: none so far
	hold     *limit.Hold // the memory of the answer
	leading  []byte      // members of the result before those that the server gave it
	partial  bool        // a list lacks what is not known yet
	progress progress
	// startReports are the reports about the start of its server so far; see
	// reportStart, one of which goes on at a time.
	startReports int
	cancelled    bool // guarded by the session's mu; by the client
	stopped      bool // guarded by the session's mu; because the session ends
}

// A handler answers requests of one method with a result in the form that the
// request's era wants.
type handler struct {
	answer func(r *request) (result []byte, err *rpcError)
	// immediate says that it does not wait, and must be in effect before the
	// client's next message is read.
	immediate      bool
	legacy, modern bool // part of one era only
}

var handlers map[string]handler

func init() { // handlers refer to each other
	handlers = map[string]handler{
		mcp.MethodInitialize:   {answer: initialize, immediate: true, legacy: true},
		mcp.MethodDiscover:     {answer: discover, immediate: true, modern: true},
		mcp.MethodPing:         {answer: ping, immediate: true, legacy: true},
		mcp.MethodSetLevel:     {answer: setLevel, immediate: true, legacy: true},
		mcp.MethodListTools:    {answer: listTools},
		mcp.MethodListRes:      {answer: listResources},
		mcp.MethodListTempl:    {answer: listTemplates},
		mcp.MethodListPrompts:  {answer: listPrompts},
		mcp.MethodCallTool:     {answer: withLogin(callTool)},
		mcp.MethodGetPrompt:    {answer: withLogin(getPrompt)},
		mcp.MethodReadResource: {answer: withLogin(readResource)},
		mcp.MethodComplete:     {answer: complete},
		mcp.MethodSubscribe:    {answer: subscribe, legacy: true},
		mcp.MethodUnsubscribe:  {answer: unsubscribe, legacy: true},
		mcp.MethodListen:       {answer: listenRequest, modern: true},
		mcp.MethodGetTask:      {answer: taskRequest, modern: true},
		mcp.MethodUpdateTask:   {answer: taskRequest, modern: true},
		mcp.MethodCancelTask:   {answer: taskRequest, modern: true},
	}
}

// noMethod is the error of a method that there is not, or not in this era.
func (r *request) noMethod(h handler, known bool) *rpcError {
	message := "method not found: " + clip(r.method)
	switch {
	case known && h.legacy:
		message = fmt.Sprintf("%s is not part of %s", r.method, mcp.Revision20260728)
	case known && h.modern:
		message = fmt.Sprintf("%s is part of %s, which needs _meta", r.method, mcp.Revision20260728)
	}
	return &rpcError{code: mcp.CodeMethodNotFound, message: message, refused: true}
}

// setEra finds out which era a request is of: it says so in _meta, or there
// was a handshake.
func (r *request) setEra() *rpcError {
	meta := mcp.Member(r.params, "_meta")
	version, said := mcp.TextMember(meta, mcp.MetaVersion)
	if !said || r.method == mcp.MethodInitialize && mcp.Member(r.params, "protocolVersion") != nil {
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
	if r.caps = mcp.Member(meta, mcp.MetaClientCaps); len(r.caps) == 0 || r.caps[0] != '{' {
		return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("_meta has no %s", mcp.MetaClientCaps)}
	}
	if len(r.caps) > maxCaps {
		return tooCapable()
	}
	if level, ok := mcp.TextMember(meta, mcp.MetaLogLevel); ok {
		if !slices.Contains(mcp.Levels, level) {
			return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("%q is not a log level", clip(level))}
		}
		r.level = level
	}
	return nil
}

// maxCaps bounds what a client says it can do, which is kept as long as its
// session, or as a connection that was made for it.
const maxCaps = 64 << 10

func tooCapable() *rpcError {
	return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("the capabilities have more than %d bytes", maxCaps)}
}

// newUse is what the request asks of an item of a server, with its notifications.
func (r *request) newUse(server string) Use {
	s := r.session
	s.mu.Lock()
	r.server = server
	level, caps := s.level, s.caps
	s.mu.Unlock()
	u := Use{Principal: s.Principal(), Params: r.params, About: r}
	if r.takeProgress() {
		u.Progress = r.progress.report
	}
	// A legacy client said at the beginning what it can do, and set the level for
	// the whole session; a modern server wants to be told with each request, an
	// old one beforehand.
	switch {
	case r.level != "":
		s.gw.register(s)
		s.gw.lowerLogLevel(s.Principal().Tenant, r.level)
	case !r.modern:
		u.Level, u.Capabilities = level, caps
	}
	return u
}

// atLeast reports whether a log message is at least as severe as level.
func atLeast(params []byte, level string) bool {
	said, _ := mcp.TextMember(params, "level")
	return slices.Index(mcp.Levels, said) >= slices.Index(mcp.Levels, level)
}

// An rpcError is an error that a client gets.
type rpcError struct {
	raw     []byte // the whole object, when an upstream made it
	code    int
	message string
	data    any
	refused bool  // see Answer
	cause   error // of an error of our own
}

func (e *rpcError) object() []byte {
	if e.raw != nil {
		return e.raw
	}
	return mcp.ErrorObject(e.code, e.message, e.data)
}

func faultError(err error, modern bool) *rpcError {
	return &rpcError{raw: mcp.FaultError(err, modern), cause: err}
}
