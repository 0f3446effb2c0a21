package upstream

import (
	"context"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A server of 2025-11-25 can require that a tool is called as a task ("Tasks", "Tool-Level
// Negotiation"). The call is answered at once, and tasks/result blocks until the task has
// ended. The client sees an ordinary call.

const (
	maxTaskID      = 1024        // bytes
	cancelTaskTime = time.Second // for the answer to a cancellation
)

// takesTasks reports whether the server takes calls of tools as tasks.
func (c *conn) takesTasks() bool {
	return !c.revision.Modern() && capable(c.capabilities, "tasks", "requests", "tools", "call")
}

// taskParams returns params of a call that is a task. The server keeps the result for as long
// as the call may take; 0 means without a limit.
func taskParams(params []byte, timeout time.Duration) []byte {
	if timeout == 0 {
		return mcp.SetMember(params, "task", []byte("{}"))
	}
	return mcp.SetPath(params, []string{"task", "ttl"}, strconv.AppendInt(nil, timeout.Milliseconds(), 10))
}

// awaitTask returns the result of the task that a call was answered with, and the request that
// it came with. A server may also answer the call itself. The task is cancelled if the wait for it
// ends early.
func (c *conn) awaitTask(ctx context.Context, call *pending, answered *Reply, begun time.Time) (*pending, *Reply, error) {
	id, ok := mcp.TextMember(answered.Result, "task", "taskId")
	switch {
	case !ok:
		return call, answered, nil
	case id == "" || len(id) > maxTaskID:
		answered.Release()
		return call, nil, fault.New(fault.UpstreamBadMessage, "the server answered with a task that has no usable taskId")
	}
	answered.Release()
	params := mcp.SetMember([]byte("{}"), "taskId", mcp.AppendText(nil, id))
	p := &pending{method: mcp.MethodTaskResult, progress: call.progress, about: call.about, owner: call.owner}
	if call.clock.d > 0 {
		p.clock.d = max(call.clock.d-time.Since(begun), time.Millisecond)
	}
	defer p.clock.stop()
	reply, err := c.do(ctx, p, params)
	if err == errTimedOut || ctx.Err() != nil {
		c.cancelTask(ctx, params)
	}
	return p, reply, err
}

// cancelTask asks the server to end a task. The server may have ended it already.
func (c *conn) cancelTask(ctx context.Context, params []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTaskTime)
	defer cancel()
	p := &pending{method: mcp.MethodCancelTask, clock: callClock{d: cancelTaskTime}}
	defer p.clock.stop()
	reply, _ := c.do(ctx, p, params)
	reply.Release()
}
