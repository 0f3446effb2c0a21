package upstream

import (
	"context"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A modern server may tell how a task goes to who listens to it (the extension
// io.modelcontextprotocol/tasks). What it tells is all that there is to know of the
// task then, and may be its result: when something may have been missed, the server
// is asked.

// Follow asks the server to report the status of a task. The permit has to cover
// the tool that began it.
func (u *Upstream) Follow(ctx context.Context, permit policy.Permit, task string) error {
	if !permit.CoversTool(u.opts.Name) {
		return fault.In(u.opts.Name, fault.New(fault.Denied, "a task without a permit for its tool"))
	}
	return u.subscribeTo(ctx, topic{task: task})
}

// Unfollow takes that back, once. It does not wait for the server.
func (u *Upstream) Unfollow(task string) { u.unsubscribe(topic{task: task}) }

// knowingTasks says in params that who asks knows tasks.
func knowingTasks(params []byte) []byte {
	return mcp.SetPath(params, []string{"_meta", mcp.MetaClientCaps, "extensions", mcp.ExtensionTasks}, []byte("{}"))
}

// askAbout tells how a task is, as if the server had told it. It does not wait.
func (c *conn) askAbout(task string) {
	p := &pending{method: mcp.MethodGetTask}
	if c.register(p) != nil {
		return // it ends
	}
	c.push(p, c.withMeta(knowingTasks(mcp.SetMember(nil, "taskId", mcp.AppendText(nil, task))), c.revision))
	c.goes("asking about a task", func() {
		ctx, cancel := context.WithTimeout(c.ctx, c.up.opts.Call)
		defer cancel()
		a, err := c.wait(ctx, p)
		if id, _ := mcp.TextMember(a.result, "taskId"); err != nil || id != task {
			c.up.opts.Log.Debug("the server does not say how a task is", "server", c.up.opts.Name, "error", err)
			c.loseTask(task)
			return
		}
		state := mcp.DeleteMember(a.result, "resultType")
		if c.up.noteTask(state) { // or its end was told meanwhile, and this is older
			c.up.opts.Peer.ServerNotification(c.up, nil, mcp.NoteTask, state)
		}
	})
}

// loseTask tells that nothing more will be told of a task, with a state that has
// no status: whoever wants to know has to ask. A connection that ends loses
// nothing, since the next one asks.
func (c *conn) loseTask(task string) {
	if c.ctx.Err() == nil {
		c.up.opts.Peer.ServerNotification(c.up, nil, mcp.NoteTask, mcp.SetMember(nil, "taskId", mcp.AppendText(nil, task)))
	}
}

// noteTask takes note of a task that has ended. A server may end the request to
// listen then, and to ask it anew would be to tell the end again and again. It
// reports whether this is news: not, when the task went on after its end.
func (u *Upstream) noteTask(params []byte) bool {
	id, _ := mcp.TextMember(params, "taskId")
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.subs[topic{task: id}]
	if s == nil || s.heard == nil {
		return true
	}
	switch status, _ := mcp.TextMember(params, "status"); status {
	case "completed", "failed", "cancelled":
		s.heard.ended.Store(true)
		return true
	}
	return !s.heard.ended.Load()
}
