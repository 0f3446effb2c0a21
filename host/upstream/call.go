package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Call is a request on behalf of a client.
type Call struct {
	Method string
	Params []byte // as the server should see them, but for the progress token and the era

	// Capabilities and Level are what the client said about itself other than in
	// params; a modern server is told. Nil and empty say nothing.
	Capabilities []byte
	Level        string

	// Permit is what the policy decided about this request. It has to cover the
	// owner, and the item and arguments in Params.
	Permit policy.Permit
	// Owner is the key of the principal that the request is made for. The answer
	// counts for its share of the memory.
	Owner string

	// About comes back with what the server asks or says in the course of the
	// call.
	About any

	// Progress is called with the params of progress notifications; nil asks
	// for none. It must not wait.
	Progress func(params []byte)

	Timeout time.Duration // 0: the server's own
	// Repeat allows to send the request again when the connection ended
	// before the answer: the configuration says that it changes nothing.
	Repeat bool

	own bool // the host's, not a client's
}

// A Reply is what the server answered: a result or an error object.
type Reply struct {
	Result, Error []byte
	Names         mcp.Names // of Result's members
	Revision      mcp.Revision
	// Hold is the memory that the bytes take. The caller releases it when it no
	// longer needs them.
	Hold *limit.Hold
}

// Call sends a request to the server, connecting when need be, and waits for
// the answer. Without a permit that covers the call it does neither.
func (u *Upstream) Call(ctx context.Context, call Call) (Reply, error) {
	if !call.permitted(u.opts.Name) {
		return Reply{}, fault.In(u.opts.Name, fault.New(fault.Denied, "a call without a permit for it"))
	}
	return u.call(ctx, call)
}

// Ask sends a request on the host's own account: nothing that a client chose.
func (u *Upstream) Ask(ctx context.Context, method string, params []byte) (Reply, error) {
	reply, err := u.call(ctx, Call{Method: method, Params: params, own: true})
	reply.Hold.Release() // what the host keeps of its own questions has bounds of its own
	return reply, err
}

func (u *Upstream) call(ctx context.Context, call Call) (Reply, error) {
	timeout := call.Timeout
	if timeout == 0 {
		timeout = u.opts.Call
	}
	priority := ForCall
	if call.own {
		priority = ForList
	}
	for attempt := 0; ; attempt++ {
		// Connecting has its own time; the call's begins when it is sent.
		c, err := u.get(ctx, priority)
		if err != nil {
			return Reply{}, err
		}
		if !call.own {
			c.levelled(ctx)
		}
		reply, sent, err := u.once(ctx, c, call, timeout)
		u.put()
		if err == nil {
			return reply, nil
		}
		wait, again := call.again(err, sent, attempt)
		if !again || !pause(ctx, wait) {
			return Reply{}, fault.In(u.opts.Name, err)
		}
	}
}

const (
	repeatsMost = 3 // of a call to a server that is busy
	repeatFirst = time.Second
)

// again says whether a call that failed is worth another attempt, and when. What
// the server cannot have seen, or may see twice, is worth one on a new
// connection; one that may be repeated waits for a server that is busy.
func (call *Call) again(err error, sent bool, attempt int) (wait time.Duration, again bool) {
	switch code := fault.As(err).Code; {
	case ended(err):
		return 0, attempt == 0 && (!sent || call.Repeat)
	case call.Repeat && (code == fault.UpstreamLimited || code == fault.UpstreamUnavailable):
		return repeatFirst << attempt, attempt < repeatsMost
	}
	return 0, false
}

// pause waits, unless ctx ends before.
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

// once sends the request on one connection. sent reports whether the server
// may have seen it.
func (u *Upstream) once(ctx context.Context, c *conn, call Call, timeout time.Duration) (r Reply, sent bool, err error) {
	if ctx.Err() != nil {
		return r, false, gaveUp(ctx, call.Method)
	}
	timed, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	k := newClock(timeout, func() { cancel(context.DeadlineExceeded) })
	defer k.stop()
	u.used()
	p := &pending{method: call.Method, progress: call.Progress, about: call.About, owner: call.Owner, clock: k}
	if u.opts.Extends {
		p.progress = k.extending(call.Progress)
	}
	a, err := c.do(timed, p, c.forEra(call))
	switch {
	case err == nil:
		if !call.own {
			c.useful.Store(true)
		}
		return Reply{Result: a.result, Names: a.names, Error: a.rpcError, Revision: c.revision, Hold: a.hold}, true, nil
	case err == timed.Err() && context.Cause(timed) == context.DeadlineExceeded && ctx.Err() == nil:
		f := fault.New(fault.CallTimeout, "%s did not end within %s", call.Method, timeout)
		return r, p.sent.Load(), f.WithHint("raise timeouts { call } in its block")
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || err == timed.Err()): // both times may be over at once
		return r, p.sent.Load(), gaveUp(ctx, call.Method)
	default:
		return r, p.sent.Load(), err
	}
}

// ended reports whether a call failed because its connection did, if only
// because we closed it as idle.
func ended(err error) bool {
	switch fault.As(err).Code {
	case fault.UpstreamExited, fault.UpstreamStopped, fault.UpstreamSession, fault.PluginExited, fault.PluginUnresponsive:
		return true
	}
	return false
}

// forEra makes params fit the server's era: modern requests say who asks, and
// old servers are not bothered with it.
func (c *conn) forEra(call Call) []byte {
	params := call.Params
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
	params = mcp.DeleteMember(params, "inputResponses") // which its call was not ended to ask for
	switch {
	case mcp.Empty(stripped):
		return mcp.DeleteMember(params, "_meta")
	default:
		return mcp.SetMember(params, "_meta", stripped)
	}
}

func (u *Upstream) used() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.idle.used(time.Now())
}

// Notify sends a notification to an old server when it is connected; otherwise
// it has nothing to know. It does not wait: one for a server that does not read
// is lost.
func (u *Upstream) Notify(method string, params []byte) {
	u.mu.Lock()
	c := u.conn
	u.mu.Unlock()
	if c != nil && !c.revision.Modern() {
		c.reply(mcp.AppendNotification(nil, method, params))
	}
}
