package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// keeper keeps what a session must know of itself after a restart.
type keeper struct {
	mu     sync.Mutex
	states []string // guarded by mu
}

func (k *keeper) keep(state []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states = append(k.states, string(state))
}

func (k *keeper) last() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.states) == 0 {
		return nil
	}
	return []byte(k.states[len(k.states)-1])
}

// uris are the subscriptions of a state.
func uris(state []byte) []string {
	var s struct {
		Subscriptions []string `json:"subscriptions"`
	}
	_ = json.Unmarshal(state, &s)
	return s.Subscriptions
}

// library is an old server with resources r:0, r:1 and so on.
func library(name string, n int) *fake {
	f := newFake(name, "2025-11-25")
	f.Capabilities = `{"resources":{"subscribe":true},"logging":{},"tools":{}}`
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf(`{"uri":"%s:%d"}`, name, i))
	}
	f.Set("resources/list", items...)
	f.Set("tools/list", `{"name":"t"}`)
	answer := f.Answer
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodCallTool {
			l.Say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		}
		if answer(l, m) == conversation.Later && m.ID != nil && m.Method != "" {
			return conversation.Result(m, "{}")
		}
		return ""
	}
	return f
}

func (d *fixture) resumed(k *keeper, state []byte) *testClient {
	c := newClient()
	c.Session = d.Resume(Client{Principal: authn.Anonymous(), Out: c.box, Changed: k.keep}, state)
	return c
}

// TestResume: a session goes on in another process as who it was, with its
// revision, capabilities, level and subscriptions.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &keeper{}
		func() {
			a := library("a", 3)
			d := newFixture(a)
			defer d.end()
			d.warm(t)
			c := newClient()
			alice := authn.Principal{Subject: "alice", Tenant: "one", Method: "test", Roles: []string{"dev"}}
			c.Session = d.Open(Client{Principal: alice, Out: c.box, Changed: kept.keep})
			defer c.hangUp()
			if c.State() != nil {
				t.Error("there is a state before the handshake")
			}
			c.greet(t, `{"roots":{},"x":9007199254740993}`)
			for i := range 3 {
				c.say(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"a:%d"}}`, i, i)
			}
			c.say(`{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"warning"}}`)
			synctest.Wait()
			c.say(`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"a:1"}}`)
			synctest.Wait()
		}()
		state := kept.last()
		if got := uris(state); !slices.Equal(got, []string{"a:0", "a:2"}) {
			t.Fatalf("%s", state)
		}
		a := library("a", 3)
		a.share = PerSession
		d := newFixture(a)
		defer d.end()
		d.warm(t)
		again := &keeper{}
		c := d.resumed(again, state)
		defer c.hangUp()
		if p := c.Principal(); p.Subject != "alice" || p.Tenant != "one" || !slices.Equal(p.Roles, []string{"dev"}) ||
			c.Revision() != mcp.Revision20251125 {
			t.Errorf("%v, %s", p, c.Revision())
		}
		synctest.Wait()
		if string(c.State()) != string(state) || string(again.last()) != string(state) {
			t.Errorf("the state was\n%s, is\n%s, and was kept as\n%s", state, c.State(), again.last())
		}
		own := a.Links()[1]
		seen := strings.Join(a.Seen(true), "\n")
		for _, want := range []string{`"capabilities":{"roots":{}}`,
			`"method":"logging/setLevel","params":{"level":"warning"}`, `"params":{"uri":"a:0"}`,
			`"params":{"uri":"a:2"}`} {
			if !strings.Contains(seen, want) {
				t.Errorf("the server was not sent %s:\n%s", want, seen)
			}
		}
		own.Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:2"}}`)
		own.Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1"}}`)
		own.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		synctest.Wait()
		if got := c.drain(); len(got) != 1 || !strings.Contains(got[0], `"uri":"a:2"`) {
			t.Errorf("%v", got)
		}
	})
}

// TestResumeAway: subscriptions of a session that goes on stay in its state while
// a server cannot be reached, and are made when it is back; those of other
// servers do not wait for that; one that the client takes back is not made.
func TestResumeAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := library("a", 3), library("b", 1)
		d := newFixture(a, b)
		defer d.end()
		d.warm(t)
		answer := a.Answer
		a.On(func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodSubscribe {
				return conversation.Error(m, `{"code":-32603,"message":"not yet"}`)
			}
			return answer(l, m)
		})
		k := &keeper{}
		state := []byte(
			`{"principal":{},"revision":"2025-11-25","capabilities":{},"subscriptions":["a:0","a:1","a:2","b:0"]}`,
		)
		c := d.resumed(k, state)
		defer c.hangUp()
		synctest.Wait()
		if b.Count(mcp.MethodSubscribe) != 1 || a.Count(mcp.MethodSubscribe) != 3 {
			t.Fatal(a.Seen(false), b.Seen(false))
		}
		c.say(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"a:1"}}`)
		synctest.Wait()
		if got := uris(k.last()); !slices.Equal(got, []string{"a:0", "a:2", "b:0"}) {
			t.Fatalf("%s", k.last())
		}
		bubble.Sleep(10 * time.Second)
		a.On(answer)
		bubble.Sleep(10 * time.Second)
		tried := a.Count(mcp.MethodSubscribe)
		a.Link().Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:0"}}`)
		a.Link().Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1"}}`)
		bubble.Sleep(time.Hour)
		if got := strings.Join(c.drain(), "\n"); !strings.Contains(got, `"uri":"a:0"`) ||
			strings.Contains(got, `"uri":"a:1"`) {
			t.Error(got)
		}
		if n := a.Count(mcp.MethodSubscribe); n != tried {
			t.Errorf("subscribed %d times more though nothing was left", n-tried)
		}
	})
}

// TestResumeNever: what cannot be subscribed to at all is given up in the end;
// and a session that ends meanwhile does not wait for it.
func TestResumeNever(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := library("a", 1)
			d := newFixture(a)
			defer d.end()
			d.warm(t)
			k := &keeper{}
			c := d.resumed(k,
				[]byte(`{"principal":{},"revision":"2025-11-25","capabilities":{},"subscriptions":["none:0"]}`))
			if leaves {
				bubble.Sleep(5 * time.Second)
				begun := time.Now()
				c.Close(t.Context(), time.Hour)
				if took := time.Since(begun); took > 0 {
					t.Errorf("the session ended after %s", took)
				}
				_ = c.box.Close()
				return
			}
			defer c.hangUp()
			bubble.Sleep(time.Hour)
			if k.last() == nil || len(uris(k.last())) != 0 {
				t.Errorf("%s", k.last())
			}
		})
	}
}

// TestStateOrder: what is kept last is the last state, whichever of many requests
// was the quickest.
func TestStateOrder(t *testing.T) {
	const n = 40
	a := library("a", n)
	d := newFixture(a)
	defer d.end()
	d.warm(t)
	k := &keeper{}
	c := newClient()
	c.Session = d.Open(Client{Principal: authn.Anonymous(), Out: c.box, Changed: func(state []byte) {
		time.Sleep(time.Duration(len(state)%3) * time.Millisecond) // a disk, of a varying speed
		k.keep(state)
	}})
	defer c.hangUp()
	c.greet(t, "{}")
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			p := d.post(c,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"a:%d"}}`, i, i))
			<-p.done
			if !slices.Contains(uris(k.last()), fmt.Sprintf("a:%d", i)) {
				t.Errorf("a:%d was answered before it was kept", i)
			}
			if i%2 == 0 {
				<-d.post(c,
					fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/unsubscribe","params":{"uri":"a:%d"}}`,
						i, i)).done
			}
		})
	}
	all.Wait()
	if string(k.last()) != string(c.State()) || len(uris(k.last())) != n/2 {
		t.Errorf("kept was\n%s\nand not\n%s", k.last(), c.State())
	}
}

// TestEndListens: what modern clients listen to ends with an answer that says so,
// and later requests get that answer at once.
func TestEndListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := library("a", 1)
		d := newFixture(a)
		defer d.end()
		d.warm(t)
		c := d.visitor("c", "")
		defer c.hangUp()
		const text = `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:0"]},"_meta":{$M}}}`
		before := d.post(c, text)
		gone := d.post(c, text)
		synctest.Wait()
		gone.end()
		synctest.Wait()
		if a.Count(mcp.MethodUnsubscribe) != 0 {
			t.Error("unsubscribed while somebody listens")
		}
		d.EndListens()
		after := d.post(c, text)
		synctest.Wait()
		for _, p := range []*post{before, after} {
			<-p.done
			got := p.drain()
			if len(got) != 2 || !strings.Contains(got[0], `"method":"notifications/subscriptions/acknowledged"`) ||
				got[1] != `{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}` {
				t.Errorf("%v", got)
			}
		}
		if n := len(d.sessions.all()); n != 1 {
			t.Errorf("%d sessions are told what happens", n)
		}
		if a.Count(mcp.MethodUnsubscribe) == 0 {
			t.Error("the server was not told that nobody listens")
		}
	})
}
