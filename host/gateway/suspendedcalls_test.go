package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// curious is an old server that asks for the client's roots before it answers a
// call.
func curious(name string) *fake {
	f := simple(name)
	f.share = PerSession
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		switch {
		case m.Method == mcp.MethodCallTool:
			l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"of %s","method":"sampling/createMessage","params":{}}`, m.ID))
			return conversation.Later
		case m.Method == "" && m.Result != nil:
			id := strings.Trim(strings.TrimPrefix(string(m.ID), `"of `), `"`)
			l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"heard":%s}}`, id, m.Result))
			return conversation.Later
		}
		return ""
	}
	return f
}

// rooted is a modern request of a client that has roots and sampling.
const rooted = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{}}}}}`

// ask makes a request over HTTP and returns its answer.
func (d *fixture) ask(of *testClient, text string) string {
	p := d.post(of, text)
	<-p.done
	select {
	case answer := <-p.Sent:
		return answer
	default:
		return ""
	}
}

func stateOf(answer string) string {
	state, _ := mcp.TextMember([]byte(answer), "result", "requestState")
	return state
}

// TestSuspendedCallsAreLimited: a principal has a hundred calls that wait for their client, all
// have a thousand, and a server 256 connections; what is over that is refused,
// and there is room again when one goes on.
func TestSuspendedCallsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var servers []*fake
		for i := range 5 {
			servers = append(servers, curious(fmt.Sprintf("s%d", i)))
		}
		d := newFixture(servers...)
		defer d.end()
		d.warm(t)
		var states []string
		call := func(c *testClient, server int) string {
			answer := d.ask(c, fmt.Sprintf(rooted, fmt.Sprintf("s%d__t", server), ""))
			if state := stateOf(answer); state != "" {
				states = append(states, state)
				return ""
			}
			return answer
		}
		var clients []*testClient
		for i := range MaxSuspended/MaxSuspendedPerPrincipal + 1 {
			c := d.visitor(fmt.Sprint(i), "")
			defer c.hangUp()
			clients = append(clients, c)
		}
		for i := range MaxSuspendedPerPrincipal {
			if got := call(clients[0], 0); got != "" {
				t.Fatalf("call %d: %s", i, got)
			}
		}
		if got := call(clients[0], 0); !strings.Contains(got, `"code":-31011,`) ||
			!strings.Contains(got, "100 calls wait for this client") {
			t.Fatalf("the 101st of one principal: %s", got)
		}
		for i := MaxSuspendedPerPrincipal; i < MaxSuspended; i++ {
			if got := call(clients[i/MaxSuspendedPerPrincipal], i/MaxSuspendedPerPrincipal/2); got != "" {
				t.Fatalf("call %d: %s", i, got)
			}
		}
		if got := call(clients[len(clients)-1], 4); !strings.Contains(got, `"code":-31011,`) ||
			!strings.Contains(got, "1000 calls wait") {
			t.Fatalf("the 1001st: %s", got)
		}
		got := d.ask(clients[0], fmt.Sprintf(rooted, "s0__t",
			fmt.Sprintf(`"inputResponses":{"q1":{"roots":[1]}},"requestState":%q,`, states[0])))
		if !strings.Contains(got, `"heard":{"roots":[1]}`) {
			t.Fatal(got)
		}
		if got := call(clients[len(clients)-1], 4); got != "" {
			t.Errorf("there is room again: %s", got)
		}
		d.Stop()
		for _, f := range servers {
			for _, l := range f.Links()[1:] {
				select {
				case <-l.Closed():
				default:
					t.Fatalf("a connection to %s was left", f.name)
				}
			}
		}
	})
}

// TestLinesMost: a server has 256 connections that not all share, and one that
// waits for another request makes room.
func TestLinesMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := curious("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		open := func() (n int) {
			for _, l := range f.Links() {
				select {
				case <-l.Closed():
				default:
					n++
				}
			}
			return n - 1 // but for that of the lists
		}
		states := map[int]string{}
		for i := range limit.DefaultConnections {
			c := d.visitor(fmt.Sprint(i/MaxSuspendedPerPrincipal), "")
			defer c.hangUp()
			if states[i] = stateOf(d.ask(c, fmt.Sprintf(rooted, "a__t", ""))); states[i] == "" {
				t.Fatal(i)
			}
		}
		late := d.visitor("late", "")
		defer late.hangUp()
		if got := d.ask(late, fmt.Sprintf(rooted, "a__t", "")); !strings.Contains(got, `"code":-31011,`) ||
			open() != limit.DefaultConnections {
			t.Fatalf("the 257th: %s; %d are open", got, open())
		}
		late.greet(t, `{"roots":{}}`)
		if got := d.ask(late,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}`); !strings.Contains(got,
			`"reason":"overloaded"`) {
			t.Fatalf("the 257th, of a session: %s", got)
		}
		first := d.visitor("0", "")
		defer first.hangUp()
		d.ask(first,
			fmt.Sprintf(rooted, "a__t", fmt.Sprintf(`"inputResponses":{"q1":{}},"requestState":%q,`, states[0])))
		if open() != limit.DefaultConnections {
			t.Fatalf("%d are open", open())
		}
		if got := d.ask(late, fmt.Sprintf(rooted, "a__t", "")); stateOf(got) == "" ||
			open() != limit.DefaultConnections {
			t.Errorf("in the place of one that was idle: %s; %d are open", got, open())
		}
	})
}

// TestLinesOfOne: one of several clients has half of them, in its sessions and its
// modern requests together; what it does not need makes room for itself alone.
func TestLinesOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := library("a", 1)
		f.share = PerSession
		d := newFixture(f)
		defer d.end()
		const share = 100
		d.SetShares(Shares{PerServer: limit.DefaultConnections, Connections: limit.Shares{Principal: share}})
		d.warm(t)
		call := func(c *testClient) string {
			return d.ask(c, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a__t"}}`)
		}
		var greedy []*testClient
		for range share + 1 {
			c := d.visitor("greedy", "")
			defer c.hangUp()
			c.greet(t, "{}")
			greedy = append(greedy, c)
		}
		const modern = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","_meta":{$M}}}`
		other := d.visitor("other", "")
		defer other.hangUp()
		if got := d.ask(other, modern); !strings.Contains(got, `"result"`) { // its connection waits for another request
			t.Fatal(got)
		}
		for i, c := range greedy[:share] {
			if got := call(c); !strings.Contains(got, `"result"`) {
				t.Fatalf("session %d: %s", i, got)
			}
		}
		before := f.Connections()
		for _, got := range []string{call(greedy[share]), d.ask(greedy[share], modern)} {
			if !strings.Contains(got, "this client has its share of the connections open") {
				t.Errorf("one too many: %s", got)
			}
		}
		if got := d.ask(other, modern); !strings.Contains(got, `"result"`) || f.Connections() != before {
			t.Errorf("%d new connections, %s", f.Connections()-before, got)
		}
		greedy[0].Close(t.Context(), 0)
		synctest.Wait()
		if got := d.ask(greedy[share], modern); !strings.Contains(got, `"result"`) {
			t.Errorf("in the place of one that ended: %s", got)
		}
		if got := call(greedy[share]); !strings.Contains(got, `"result"`) {
			t.Errorf("in the place of one that waits: %s", got)
		}
	})
}

// TestLinesSpare: old clients and tenants whose connections were closed as idle do
// not keep others from having one; those that are used or subscribed do.
func TestLinesSpare(t *testing.T) {
	for _, share := range []Share{PerSession, PerTenant} {
		synctest.Test(t, func(t *testing.T) {
			f := library("a", 1)
			f.share, f.idle = share, time.Minute
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			call := func(c *testClient, method, params string) string {
				p := d.post(c, fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":{%s}}`, method, params))
				<-p.done
				var answer string
				for len(p.Sent) > 0 {
					answer = <-p.Sent
				}
				return answer
			}
			var all []*testClient
			for i := range limit.DefaultConnections + 3 {
				c := d.visitor(fmt.Sprint(i), fmt.Sprint(i))
				defer c.hangUp()
				c.greet(t, "{}")
				all = append(all, c)
			}
			for i, c := range all[:limit.DefaultConnections] {
				method, params := "tools/call", `"name":"a__t"`
				if i == 0 {
					method, params = "resources/subscribe", `"uri":"a:0"`
				}
				if got := call(c, method, params); !strings.Contains(got, `"result"`) {
					t.Fatalf("client %d: %s", i, got)
				}
			}
			if got := call(all[limit.DefaultConnections], "tools/call", `"name":"a__t"`); !strings.Contains(got,
				`"reason":"overloaded"`) {
				t.Fatalf("while all are open: %s", got)
			}
			bubble.Sleep(2 * time.Minute)
			before := f.Connections()
			for i, c := range all[limit.DefaultConnections:] {
				if got := call(c, "tools/call", `"name":"a__t"`); !strings.Contains(got, `"result"`) {
					t.Fatalf("client %d: %s", limit.DefaultConnections+i, got)
				}
			}
			if got := call(all[1], "tools/call", `"name":"a__t"`); !strings.Contains(got, `"result"`) {
				t.Errorf("who comes back: %s", got)
			}
			if n := f.Connections() - before; n != 4 {
				t.Errorf("%d new connections", n)
			}
			for _, l := range f.Links()[1:2] { // of who is subscribed
				select {
				case <-l.Closed():
					t.Error("the connection of a subscription was closed")
				default:
				}
			}
		})
	}
}

// TestQuestionsMost: the 33rd waiting question is refused, for any client.
func TestQuestionsMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		f.share = PerSession
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		c := d.visitor("c", "")
		defer c.hangUp()
		p := d.post(c, fmt.Sprintf(rooted, "a__t", ""))
		defer p.end()
		synctest.Wait()
		l := f.Link()
		<-f.at(l)
		for i := range era.MaxQuestions + 1 {
			l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i))
		}
		if refused := <-f.at(l); !strings.Contains(refused, `"code":-32603,`) {
			t.Error(refused)
		}
		if answer := <-p.Sent; strings.Count(answer, `"method":"roots/list"`) != era.MaxQuestions {
			t.Error(answer)
		}
	})
}

// TestSuspendedCallExpires: a call that is not continued is cancelled after ten minutes,
// not before, and its state is no good afterwards.
func TestSuspendedCallExpires(t *testing.T) {
	for _, after := range []time.Duration{suspendTime - time.Second, suspendTime + time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := curious("a")
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			c := d.visitor("c", "")
			defer c.hangUp()
			state := stateOf(d.ask(c, fmt.Sprintf(rooted, "a__t", "")))
			bubble.Sleep(after)
			got := d.ask(c,
				fmt.Sprintf(rooted, "a__t", fmt.Sprintf(`"inputResponses":{"q1":{}},"requestState":%q,`, state)))
			if good := strings.Contains(got, `"heard":{}`); good != (after < suspendTime) {
				t.Errorf("after %s: %s", after, got)
			}
		})
	}
}

// TestAbout: a state fits nothing that differs in one thing from what it was made
// for, and what is written otherwise but says the same.
func TestAbout(t *testing.T) {
	made := func(subject, server, method, params string) string {
		r := request{principal: authn.Principal{Subject: subject}, method: method, params: []byte(params)}
		return string(r.stateBinding(server, r.params))
	}
	first := made("alice", "a", "tools/call", `{"name":"t","arguments":{"x":1,"y":2}}`)
	for _, same := range []string{
		made("alice", "a", "tools/call", `{"arguments":{"y":2,"x":1}, "name":"\u0074"}`),
		made("alice", "a", "tools/call",
			`{"name":"t","arguments":{"x":1,"y":2},"inputResponses":{"q":{}},"requestState":"s","_meta":{"a":1}}`),
	} {
		if same != first {
			t.Errorf("%q is not %q", same, first)
		}
	}
	for _, other := range []string{
		made("bob", "a", "tools/call", `{"name":"t","arguments":{"x":1,"y":2}}`),
		made("alice", "b", "tools/call", `{"name":"t","arguments":{"x":1,"y":2}}`),
		made("alice", "a", "prompts/get", `{"name":"t","arguments":{"x":1,"y":2}}`),
		made("alice", "a", "tools/call", `{"name":"t","arguments":{"x":1,"y":3}}`),
		made("alice", "a", "tools/call", `{"name":"t","arguments":{"x":"1","y":2}}`),
		made("alice", "a", "tools/call", `{"name":"u","arguments":{"x":1,"y":2}}`),
		made("alice", "a", "tools/call", `{"name":"t","arguments":{"x":1,"y":2},"more":null}`),
	} {
		if other == first {
			t.Errorf("%q fits what it was not made for", other)
		}
	}
}

// TestParkedRequestsHoldTheirMemory: a large request that waits for its client is
// counted until it is answered, and refused when there is no memory for it.
func TestParkedRequestsHoldTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(curious("s"))
		defer d.end()
		d.warm(t)
		c := d.visitor("ann", "")
		defer c.hangUp()
		const size = 1 << 20
		argument := fmt.Sprintf(`"arguments":{"x":%q},`, strings.Repeat("x", size))
		state := stateOf(d.ask(c, fmt.Sprintf(rooted, "s__t", argument)))
		if used := d.Budget().Used(); state == "" || used < size || used > 2*size {
			t.Fatalf("%d bytes are held, state %q", used, state)
		}
		d.Budget().Count(64 << 20)
		if got := d.ask(c, fmt.Sprintf(rooted, "s__t", argument)); !strings.Contains(got, `"code":-31011,`) ||
			!strings.Contains(got, "gateway.overloaded") {
			t.Errorf("%.300s", got)
		}
		d.Budget().Count(-64 << 20)
		got := d.ask(c, fmt.Sprintf(rooted, "s__t",
			fmt.Sprintf(`%s"inputResponses":{"q1":{"roots":[1]}},"requestState":%q,`, argument, state)))
		if used := d.Budget().Used(); !strings.Contains(got, `"heard":{"roots":[1]}`) || used != 0 {
			t.Errorf("%d bytes are held; %.300s", used, got)
		}
	})
}

// TestSuspendedCallIsRevoked: a call that waits for its client ends when a new policy denies
// it.
func TestSuspendedCallIsRevoked(t *testing.T) {
	for _, denied := range []string{"t", "other"} {
		synctest.Test(t, func(t *testing.T) {
			f := curious("a")
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			c := d.visitor("c", "")
			defer c.hangUp()
			state := stateOf(d.ask(c, fmt.Sprintf(rooted, "a__t", "")))
			d.setPolicy(policy.New(map[string]policy.Server{"a": {}},
				policy.Rules{Given: true, Default: policy.Allows, Rules: []policy.Rule{
					{Effect: policy.Denies, Tools: []string{denied}, At: "f:1:1"},
				}}))
			got := d.ask(c,
				fmt.Sprintf(rooted, "a__t", fmt.Sprintf(`"inputResponses":{"q1":{}},"requestState":%q,`, state)))
			if heard := strings.Contains(got, `"heard":{}`); heard != (denied == "other") {
				t.Errorf("with %s denied: %s", denied, got)
			}
		})
	}
}

// TestSuspendedCallKeepsItsMeaning: a call that waits for its client ends when the name of its tool
// is that of another server, or when other arguments are pinned.
func TestSuspendedCallKeepsItsMeaning(t *testing.T) {
	pinned := func(value string) map[string]*catalog.View {
		return map[string]*catalog.View{"t": {Pin: map[string]json.RawMessage{"x": json.RawMessage(value)}}}
	}
	for what, c := range map[string]struct {
		prefixes map[string]string // by server, after the change
		views    map[string]*catalog.View
		heard    bool
	}{
		"nothing changes":     {map[string]string{"a": "a", "b": "b"}, pinned("1"), true},
		"another server":      {map[string]string{"a": "b", "b": "a"}, pinned("1"), false},
		"other pinned values": {map[string]string{"a": "a", "b": "b"}, pinned("2"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b := curious("a"), curious("b")
			for _, f := range []*fake{a, b} {
				f.views = pinned("1")
				f.Set(mcp.MethodListTools,
					`{"name":"t","inputSchema":{"type":"object","properties":{"x":{"type":"integer"}}}}`)
			}
			d := newFixture(a, b)
			defer d.end()
			d.warm(t)
			client := d.visitor("c", "")
			defer client.hangUp()
			state := stateOf(d.ask(client, fmt.Sprintf(rooted, "a__t", "")))
			var all []*catalog.Server
			for _, name := range []string{"a", "b"} {
				prefix := c.prefixes[name]
				u := d.generations.current().Servers[name].Upstream
				all = append(all, &catalog.Server{Name: name, Prefix: prefix, Views: c.views, Upstream: u, Key: name})
			}
			d.Catalog().SetServers(all)
			got := d.ask(client,
				fmt.Sprintf(rooted, "a__t", fmt.Sprintf(`"inputResponses":{"q1":{}},"requestState":%q,`, state)))
			if heard := strings.Contains(got, `"heard":{}`); heard != c.heard {
				t.Errorf("%s: %s", what, got)
			}
			if !c.heard && !strings.Contains(got, "request_state") {
				t.Errorf("%s: %s", what, got)
			}
			if n := d.SuspendedCalls(); n != 0 {
				t.Errorf("%s: %d calls are suspended", what, n)
			}
		})
	}
}
