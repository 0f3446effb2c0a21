package gateway

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/policy"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestTasksMost: a principal that has many tasks loses its own oldest ones, and
// no other's.
func TestTasksMost(t *testing.T) {
	all := newTasks()
	all.add("alice", "first", task{"a", "t"})
	for i := range tasksOne + 1 {
		all.add("mallory", fmt.Sprint(i), task{"a", "t"})
	}
	if _, ok := all.find("mallory", "0"); ok {
		t.Error("more tasks are remembered than may be")
	}
	if _, ok := all.find("mallory", fmt.Sprint(tasksOne)); !ok {
		t.Error("the newest task is not known")
	}
	if _, ok := all.find("alice", "first"); !ok {
		t.Error("a task was lost to somebody else's")
	}
	for i := range taskOwners {
		all.add(fmt.Sprint("owner ", i), "x", task{"a", "t"})
	}
	if n := all.of.principals.Len(); n != taskOwners {
		t.Errorf("%d owners", n)
	}
}

// TestTaskDenied: who may no longer call the tool is told what everybody is who
// has no such task, and the server is not asked.
func TestTaskDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "2026-07-28")
		f.Set("tools/list", `{"name":"t"}`)
		f.Answer = func(_ *conversation.Link, m conversation.Message) string {
			switch m.Method {
			case "tools/call":
				return conversation.Result(m, `{"resultType":"task","taskId":"T"}`)
			case "tasks/get":
				return conversation.Result(m, `{"resultType":"complete"}`)
			}
			return ""
		}
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		c := d.visitor("c", "")
		defer c.hangUp()
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
		get := func(id string) string {
			return d.ask(c,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":%q,%s}}`, id, meta))
		}
		d.ask(c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t",`+meta+`}}`)
		if got := get("T"); got != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}` {
			t.Fatal(got)
		}
		d.setPolicy(policy.New(nil, policy.Rules{}))
		if got := get("T"); got != get("none") || f.Count("tasks/get") != 1 {
			t.Errorf("%s; the server was asked %d times", got, f.Count("tasks/get"))
		}
	})
}
