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
	maxTaskID      = 1024             // bytes
	cancelTaskTime = 10 * time.Second // for the answer to a cancellation, which nothing waits for
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
// it came with. A server may also answer the call itself. The task is cancelled if there is no
// result. It runs on the goroutine of the call and blocks. This file is for tasks that the host
// makes of calls at legacy servers; tasks.go is for those of modern clients.
func (c *conn) awaitTask(
	ctx context.Context, call *Call, first *pending, answered *Reply, begun time.Time,
) (*pending, *Reply, error) {
	id, ok := mcp.TextMember(answered.Result, "task", "taskId")
	switch {
	case !ok:
		return first, answered, nil
	case id == "" || len(id) > maxTaskID:
		answered.Release()
		return first, nil, fault.New(fault.UpstreamBadMessage,
			"the server answered with a task that has no usable taskId")
	}
	answered.Release()
	params := mcp.SetMember([]byte("{}"), "taskId", mcp.AppendText(nil, id))
	p := &pending{method: mcp.MethodTaskResult, progress: call.Progress, about: call.About, owner: call.Principal}
	if first.clock.d > 0 {
		p.clock.d = max(first.clock.d-time.Since(begun), time.Millisecond)
	}
	defer p.clock.stop()
	if c.up.opts.Extends {
		p.progress = p.clock.extending(call.Progress)
	}
	c.table.setTask(first.id, p)
	defer c.table.setTask(first.id, nil)
	reply, err := c.do(ctx, p, params)
	p.sent.Store(true) // the server has received the call
	if err != nil && !connectionLost(err) {
		c.cancelTask(params)
	}
	return p, reply, err
}

// cancelTask asks the server to end a task, which may have ended already. It does not wait for
// the answer.
func (c *conn) cancelTask(params []byte) {
	p := &pending{method: mcp.MethodCancelTask}
	if c.writer.register(p) != nil {
		return // the connection is ending
	}
	c.writer.pushRequest(p, params)
	c.spawn("cancelling a task", func() {
		ctx, cancel := context.WithTimeout(c.ctx, cancelTaskTime)
		defer cancel()
		reply, err := c.wait(ctx, p)
		if err != nil {
			c.up.opts.Log.Debug("the server did not answer the cancellation of a task",
				"server", c.up.opts.Name, "error", err)
		}
		reply.Release()
	})
}
