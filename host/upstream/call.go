package upstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Call is a request on behalf of a client. The caller owns it, and must not change it until
// Call has returned. Progress and the Peer with About are called on the goroutine that reads
// the connection.
type Call struct {
	Method string
	Params []byte // for the server; Call adds the progress token and the members of the era

	// Capabilities and Level are sent to modern servers with the request. They
	// come from the client, outside of Params. Zero values are omitted.
	Capabilities []byte
	Level        string

	// Permit proves that the policy allowed this request. It must cover the owner,
	// and the item and arguments in Params.
	Permit policy.Permit
	// Principal is the one that the request is made for. The response counts toward its
	// share of the memory.
	Principal authn.Principal

	// About is passed to the Peer with the server's requests and notifications that
	// belong to this call.
	About any

	// Progress receives the params of progress notifications and must not block. If
	// it is nil, the call requests no progress.
	Progress func(params []byte)

	Timeout Timeout // without a limit it is the server's timeout
	// AsTask makes the call a task at a legacy server that takes tasks. The reply is then the
	// result of the task.
	AsTask bool
	// Repeat allows Call to send the request again if the connection ends before
	// the response. The configuration declares the request read-only.
	Repeat bool

	internal bool // sent by the host itself, not for a client
}

// A Timeout bounds one call.
type Timeout struct {
	Limit time.Duration // 0: the timeout of the server
	// Setting is the setting with the limit, as an error names it, and At its place in the
	// configuration. Setting is empty for a timeout of the caller, without a hint.
	Setting, At string
}

// A Reply is the response of the server: a result or an error object. All stages of
// a request share one by pointer: their stacks stay small.
type Reply struct {
	Result, Error []byte
	Names         mcp.Names    // the member names of Result
	Revision      mcp.Revision // of the connection
	// Hold accounts for the memory of the response. The caller releases it after
	// its last use of the bytes.
	Hold *limit.Hold
}

// Release releases the memory of a reply; r may be nil.
func (r *Reply) Release() {
	if r != nil {
		r.Hold.Release()
	}
}

// Call sends a request to the server and waits for the response. It connects first
// if necessary. It returns an error if the permit does not cover the call. It does not
// change the call. It blocks until the response, the timeout or the end of ctx. The caller
// releases the reply.
func (u *Upstream) Call(ctx context.Context, call *Call) (*Reply, error) {
	if !call.permitted(u.opts.Name) {
		return nil, fault.In(u.opts.Name, fault.New(fault.Denied, "a call without a permit for it"))
	}
	return u.call(ctx, call)
}

// Ask sends a request of the host itself, which contains no input of a client. As for Call, the
// caller releases the reply.
func (u *Upstream) Ask(ctx context.Context, method string, params []byte) (*Reply, error) {
	reply, err := u.call(ctx, &Call{Method: method, Params: params, internal: true})
	reply.Release() // the host bounds the memory of these responses itself
	return reply, err
}

func (u *Upstream) call(ctx context.Context, call *Call) (*Reply, error) {
	timeout := call.Timeout
	if timeout.Limit == 0 {
		timeout = serverTimeout(u.opts.Call)
	}
	priority := ForCall
	if call.internal {
		priority = ForList
	}
	for attempt := 0; ; attempt++ {
		// The timeout covers only the request; connecting has its own timeout.
		c, err := u.get(ctx, priority)
		if err != nil {
			return nil, err
		}
		if !call.internal {
			c.awaitLevel(ctx)
		}
		reply, sent, err := c.call(ctx, call, timeout)
		u.put()
		if err == nil {
			return reply, nil
		}
		wait, again := call.retryDelay(err, sent, attempt)
		if !again || !pause(ctx, wait) {
			return nil, fault.In(u.opts.Name, err)
		}
	}
}

// permitted reports whether the permit of a call covers the item and arguments in its
// params.
func (c *Call) permitted(server string) bool {
	switch c.Method {
	case mcp.MethodCallTool:
		name, _ := mcp.TextMember(c.Params, "name")
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Tool, Name: name},
			mcp.Member(c.Params, "arguments"))
	case mcp.MethodGetPrompt:
		name, _ := mcp.TextMember(c.Params, "name")
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Prompt, Name: name}, nil)
	case mcp.MethodReadResource:
		uri, _ := mcp.TextMember(c.Params, "uri")
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Resource, Name: uri}, nil)
	case mcp.MethodComplete:
		return c.permitsCompletion(server)
	case mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask:
		return c.Permit.CoversTool(server)
	}
	return false
}

// permitsCompletion reports whether the permit covers the prompt, the resource or
// the template whose argument is completed.
func (c *Call) permitsCompletion(server string) bool {
	ref := mcp.Member(c.Params, "ref")
	if name, ok := mcp.TextMember(ref, "name"); ok {
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Prompt, Name: name}, nil)
	}
	uri, _ := mcp.TextMember(ref, "uri")
	return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Template, Name: uri}, nil) ||
		c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Resource, Name: uri}, nil)
}

const (
	maxRepeats       = 3 // attempts to repeat a call to a busy server
	firstRepeatDelay = time.Second
)

// retryDelay reports whether a failed call is repeated, and the wait before that. A
// call is repeated once after a lost connection, if the server did not receive it or
// it is repeatable. A repeatable call is also repeated if the server is busy.
func (call *Call) retryDelay(err error, sent bool, attempt int) (wait time.Duration, again bool) {
	switch code := fault.As(err).Code; {
	case connectionLost(err):
		return 0, attempt == 0 && (!sent || call.Repeat)
	case call.Repeat && (code == fault.UpstreamLimited || code == fault.UpstreamUnavailable):
		return firstRepeatDelay << attempt, attempt < maxRepeats
	}
	return 0, false
}

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// call sends the request on this connection. sent reports whether the server may
// have received it.
func (c *conn) call(ctx context.Context, call *Call, timeout Timeout) (r *Reply, sent bool, err error) {
	if ctx.Err() != nil {
		return nil, false, contextError(ctx, call.Method)
	}
	c.up.used()
	p := &pending{
		method:   call.Method,
		progress: call.Progress,
		about:    call.About,
		owner:    call.Principal,
		clock:    callClock{d: timeout.Limit},
	}
	defer p.clock.stop()
	if c.up.opts.Extends {
		p.progress = p.clock.extending(call.Progress)
	}
	params, begun := c.paramsForEra(call), time.Now()
	task := call.AsTask && c.takesTasks()
	if task {
		params = taskParams(params, timeout.Limit)
	}
	r, err = c.do(ctx, p, params)
	if err == nil && task {
		p, r, err = c.awaitTask(ctx, call, p, r, begun)
	}
	switch {
	case err == nil:
		if !call.internal {
			c.useful.Store(true)
		}
		r.Revision = c.revision
		return r, true, nil
	case err == errTimedOut && ctx.Err() == nil:
		f := timeoutError(call.Method+" did not finish", timeout)
		f.Hint = timeout.hintOf(p, c.up.opts.Extends)
		return nil, p.sent.Load(), c.unmatched.explain(c.withStrayOutput(f, begun), p.unmatched)
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || err == errTimedOut):
		// Both deadlines may pass at the same time.
		return nil, p.sent.Load(), c.explainEnd(contextError(ctx, call.Method), p)
	default:
		return nil, p.sent.Load(), err
	}
}

// serverTimeout returns the timeout that the block of the server sets.
func serverTimeout(d time.Duration) Timeout {
	return Timeout{Limit: d, Setting: "timeouts { call } in its block"}
}

// timeoutError returns the error of a request that took too long.
func timeoutError(what string, t Timeout) *fault.Error {
	return &fault.Error{Code: fault.CallTimeout, Message: fmt.Sprintf("%s within %s", what, t.Limit), At: t.At,
		Hint: t.hint(), Timeout: t.Limit}
}

func (t Timeout) hint() string {
	if t.Setting == "" {
		return ""
	}
	return "raise " + t.Setting
}

// hintOf returns the hint of a call that timed out. Progress of a server that extends the
// timeout already has reached its limit.
func (t Timeout) hintOf(p *pending, extends bool) string {
	if p.progressed.Load() && !extends && t.Setting != "" {
		return "the server was sending progress: set timeouts { progress_extends = true } in its block, or raise " +
			strings.TrimSuffix(t.Setting, " in its block")
	}
	return t.hint()
}

// connectionLost reports whether a call failed because its connection ended. This
// includes connections that the host closed as idle.
func connectionLost(err error) bool {
	switch fault.As(err).Code {
	case fault.UpstreamExited, fault.UpstreamStopped, fault.UpstreamSession, fault.PluginExited,
		fault.PluginUnresponsive:
		return true
	}
	return false
}

// paramsForEra adapts params to the era of the server. It adds the members about
// the client for modern servers and removes them for legacy servers.
func (c *conn) paramsForEra(call *Call) []byte {
	params := call.Params
	if call.Method == mcp.MethodCallTool {
		params = mcp.DeleteMember(params, "task") // the client's, which no server of ours could keep
	}
	if c.revision.Modern() {
		if call.Capabilities != nil {
			params = mcp.SetPath(params, []string{"_meta", mcp.MetaClientCaps}, call.Capabilities)
		}
		if call.Level != "" {
			params = mcp.SetPath(params, []string{"_meta", mcp.MetaLogLevel}, mcp.AppendText(nil, call.Level))
		}
		return c.withMeta(params, c.revision)
	}
	meta := mcp.Member(params, "_meta")
	if meta == nil {
		return params
	}
	stripped := meta
	for _, name := range []string{mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaClientCaps, mcp.MetaLogLevel} {
		stripped = mcp.DeleteMember(stripped, name)
	}
	if len(stripped) == len(meta) {
		return params
	}
	params = mcp.DeleteMember(params, "inputResponses") // legacy servers never return input_required
	switch {
	case mcp.Empty(stripped):
		return mcp.DeleteMember(params, "_meta")
	default:
		return mcp.SetMember(params, "_meta", stripped)
	}
}

// used records a call for the adaptive idle time.
func (u *Upstream) used() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.idle.used(time.Now())
}

// Notify sends a notification to a connected legacy server. It does nothing for
// modern or disconnected servers. It does not block: it drops the notification if
// the send queue is full.
func (u *Upstream) Notify(method string, params []byte) {
	u.mu.Lock()
	c := u.conn
	u.mu.Unlock()
	if c != nil && !c.revision.Modern() {
		c.writer.reply(mcp.AppendNotification(nil, method, params))
	}
}
