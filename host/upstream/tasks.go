package upstream

import (
	"context"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A modern server sends task notifications to clients that listen for them (the
// extension io.modelcontextprotocol/tasks). A notification has the complete state
// of the task and may include its result. After a gap the host polls the server.

// Follow subscribes to the notifications of a task. The permit must cover the tool
// that began it. It blocks until the server has answered. The subscriptions themselves are in
// subscribe.go.
func (u *Upstream) Follow(ctx context.Context, permit policy.Permit, task string) error {
	if !permit.CoversTool(u.opts.Name) {
		return fault.In(u.opts.Name, fault.New(fault.Denied, "a task without a permit for its tool"))
	}
	return u.subs.subscribeTo(ctx, topic{task: task})
}

// Unfollow releases one subscription to a task. It does not wait for the server.
func (u *Upstream) Unfollow(task string) { u.subs.unsubscribe(topic{task: task}) }

// withTaskCapability adds the tasks extension to the client capabilities in params.
func withTaskCapability(params []byte) []byte {
	return mcp.SetPath(params, []string{"_meta", mcp.MetaClientCaps, "extensions", mcp.ExtensionTasks}, []byte("{}"))
}

// pollTask requests the state of a task and delivers it as a notification. It does
// not block. A goroutine of its own polls.
func (c *conn) pollTask(task string) {
	p := &pending{method: mcp.MethodGetTask}
	if c.writer.register(p) != nil {
		return // the connection is ending
	}
	c.writer.pushRequest(p,
		c.withMeta(withTaskCapability(mcp.SetMember(nil, "taskId", mcp.AppendText(nil, task))), c.revision))
	c.spawn("asking about a task", func() {
		ctx, cancel := context.WithTimeout(c.ctx, c.up.opts.Call)
		defer cancel()
		reply, err := c.wait(ctx, p)
		var id string
		if err == nil {
			id, _ = mcp.TextMember(reply.Result, "taskId")
		}
		if err != nil || id != task {
			c.up.opts.Log.Debug("polling a task failed", "server", c.up.opts.Name, "error", err)
			c.taskLost(task)
			return
		}
		state := mcp.DeleteMember(reply.Result, "resultType")
		if c.up.subs.recordTask(state) { // false if a newer final state has been delivered
			c.up.opts.Peer.ServerNotification(c.up, nil, mcp.NoteTask, state)
		}
	})
}

// taskLost reports that no more notifications of a task will follow. It delivers a
// state without a status, so receivers must poll. It does nothing when the connection
// ends, because the next connection polls.
func (c *conn) taskLost(task string) {
	if c.ctx.Err() == nil {
		c.up.opts.Peer.ServerNotification(c.up, nil, mcp.NoteTask,
			mcp.SetMember(nil, "taskId", mcp.AppendText(nil, task)))
	}
}

// recordTask records the final state of a task. The server may end the listen request
// then, and it is not renewed. recordTask returns false for a state that arrives after
// the final one.
func (ss *subscriptions) recordTask(params []byte) bool {
	id, _ := mcp.TextMember(params, "taskId")
	ss.up.mu.Lock()
	defer ss.up.mu.Unlock()
	s := ss.byTopic[topic{task: id}]
	if s == nil || s.listen == nil {
		return true
	}
	switch status, _ := mcp.TextMember(params, "status"); status {
	case "completed", "failed", "cancelled":
		s.listen.taskEnded.Store(true)
		return true
	}
	return !s.listen.taskEnded.Load()
}
