package gateway

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestUsageCountsFailures makes calls that end well, with an error of the tool, with one of
// the server, and at a server that does not start, and compares the numbers of the servers.
func TestUsageCountsFailures(t *testing.T) {
	for era, meta := range map[string]string{"legacy": "", "modern": `,"_meta":{$M}`} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := simple("b")
				b.broken = fault.New(fault.UpstreamExited, "the server exited with status 3")
				d := newFixture(answering("2025-11-25"), b)
				defer d.end()
				d.setPolicy(policy.New(map[string]policy.Server{"a": {}, "b": {}}, policy.Rules{
					Given: true, Default: policy.Allows,
					Members: []policy.Membership{{Holder: policy.Holder{Kind: "subject", Name: "bob"}}},
					Rules: []policy.Rule{{Effect: policy.Denies, Servers: []string{"b"},
						Holder: policy.Holder{Kind: "subject", Name: "bob"}, At: "f.hcl:3:4"}},
				}))
				var kept recorded
				d.recordIn(&kept)
				call := func(subject, tool, say string) {
					client := d.visitor(subject, "one")
					defer client.hangUp()
					client.greet(t, "{}")
					client.say(
						`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":{"say":%q}%s}}`,
						tool, say, meta,
					)
					bubble.Sleep(20 * time.Second)
					synctest.Wait()
				}
				for _, say := range []string{"ok", "fail", "error", "ok", "fail"} {
					call("alice", "a__t", say)
				}
				call("alice", "a__unknown", "ok")
				call("alice", "b__t", "ok")
				call("alice", "b__t", "ok")
				call("bob", "b__t", "ok")
				for server, want := range map[string]string{"a": "5 requests, 3 errors, 0 in flight",
					"b": "2 requests, 2 errors, 0 in flight"} {
					n := d.opts.Usage.Of(server)
					if got := fmt.Sprintf("%d requests, %d errors, %d in flight",
						n.Requests, n.Errors, n.InFlight); got != want {
						t.Errorf("server %s: %s, want %s", server, got, want)
					}
				}
				about := map[string]int{}
				for _, e := range kept.take() {
					if e.Method == "tools/call" && e.Item == "b__t" {
						about[e.Subject+" at "+e.Server]++
					}
				}
				if about["alice at b"] != 2 || about["bob at "] != 1 {
					t.Errorf("the events are about %v", about)
				}
			})
		})
	}
}

// TestUsageCountsWaitingCalls calls a tool of a server that does not answer initialize: the
// call is in flight at the server, and then failed.
func TestUsageCountsWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := simple("b")
		b.Answer = func(*conversation.Link, conversation.Message) string { return conversation.Later }
		d := newFixture(b)
		defer d.end()
		client := d.visitor("alice", "one")
		defer client.hangUp()
		client.greet(t, "{}")
		client.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"b__t"}}`)
		bubble.Sleep(time.Second)
		synctest.Wait()
		if n := d.opts.Usage.Of("b"); n.InFlight != 1 || n.Requests != 0 {
			t.Errorf("%d in flight, %d requests while the server starts", n.InFlight, n.Requests)
		}
		bubble.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := d.opts.Usage.Of("b"); n.InFlight != 0 || n.Requests != 1 || n.Errors != 1 {
			t.Errorf("%d in flight, %d requests, %d errors after the start failed", n.InFlight, n.Requests, n.Errors)
		}
	})
}
