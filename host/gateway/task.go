package gateway

import (
	"context"
	"sync"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern server may answer a call with a task, which its client asks about afterwards (the extension
// io.modelcontextprotocol/tasks). The gateway remembers whose task it is, and of which server.

const (
	taskOwners = 1000 // principals whose tasks are remembered
	tasksOne   = 1000 // tasks of one of them
)

// A task is a task of a server that belongs to a principal. It is a value that does not change.
type task struct{ server, tool string }

// tasks stores the tasks of each principal by id. Above tasksOne a principal's least
// recently used task is removed. The Gateway has one. Its methods may be called concurrently.
type tasks struct {
	mu sync.Mutex
	of *principalLRU[task] // guarded by mu; by id
}

func newTasks() *tasks { return &tasks{of: newPrincipalLRU[task](taskOwners, tasksOne)} }

// add remembers a task. It reports false when the principal has one of this id
// at another server: the first keeps it, or that server could take it over.
func (t *tasks) add(principal, id string, made task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.of.values(principal)
	if before, ok := mine.Get(id); ok && before.server != made.server {
		return false
	}
	mine.Add(id, made)
	return true
}

func (t *tasks) find(principal, id string) (task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of.find(principal, id)
}

// recordTask takes note of a task that a call was answered with. A client that did
// not say that it knows tasks has no use for one.
func recordTask(c *call, reply *upstream.Reply) error {
	if !c.knowsTasks() || reply.Error != nil || !reply.Revision.Modern() {
		return nil
	}
	if kind, _ := mcp.TextMember(reply.Result, "resultType"); kind != "task" {
		return nil
	}
	t := c.item
	id, ok := mcp.TextMember(reply.Result, "taskId")
	if !ok || len(id) > maxTaskID {
		return fault.In(t.Server,
			fault.New(fault.UpstreamBadMessage, "the server answered with a task that has no usable taskId"))
	}
	if !c.gw.tasks.add(c.principal.Key(), id, task{t.Server, t.Name}) {
		return fault.In(t.Server, fault.New(fault.UpstreamBadMessage,
			"the server answered with a task whose taskId is that of another server's"))
	}
	return nil
}

// maxTaskID bounds what is remembered of one task.
const maxTaskID = 1024

func (r *request) knowsTasks() bool {
	return r.modern() && mcp.Member(r.client.capabilities(), "extensions", mcp.ExtensionTasks) != nil
}

// noTasks is the error of a client that did not say that it knows tasks.
func noTasks(what string) *rpcError {
	return &rpcError{code: mcp.CodeMissingCapability, message: what + " is part of " + mcp.ExtensionTasks,
		data: map[string]any{
			"requiredCapabilities": map[string]any{"extensions": map[string]any{mcp.ExtensionTasks: struct{}{}}},
		}}
}

// resolveTask finds the tool that began a task of the client. It is the stage resolve of the
// methods tasks/*, on the goroutine of the request.
func resolveTask(_ context.Context, u *use) error {
	if !u.knowsTasks() {
		return noTasks(u.method)
	}
	id, ok := mcp.TextMember(u.params, "taskId")
	if !ok {
		return &rpcError{code: mcp.CodeInvalidParams, message: u.method + " needs a taskId"}
	}
	t, ok := u.gw.tasks.find(u.principal.Key(), id)
	if !ok {
		return unknownTask()
	}
	u.task, u.item = id, policy.Item{Server: t.server, Kind: policy.Tool, Name: t.tool}
	return nil
}

func unknownTask() error {
	return &rpcError{code: mcp.CodeInvalidParams, message: "there is no such task",
		data: map[string]string{"reason": "unknown_task"}}
}

// permitTask finds a task of the client, with the permit for the tool that began
// it. A client that may no longer call the tool has no such task.
func permitTask(u *use, id string) (t task, permit policy.Permit, ok bool) {
	if t, ok = u.gw.tasks.find(u.principal.Key(), id); !ok {
		return t, permit, false
	}
	q := u.query(policy.Item{Server: t.server, Kind: policy.Tool, Name: t.tool})
	q.Continues = true
	permit, err := u.generation.Policy.Decide(&q).Permit()
	return t, permit, err == nil
}
