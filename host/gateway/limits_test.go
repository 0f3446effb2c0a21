package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// simple is a server with one tool, t.
func simple(name string) *fake {
	f := newFake(name, "2025-11-25")
	f.Capabilities = `{"tools":{}}`
	f.Set("tools/list", `{"name":"t"}`)
	return f
}

// TestInFlight: the 501st request is refused; when one is answered there is
// room for another.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		call := func(id int) {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t"}}`, id)
			synctest.Wait()
		}
		for i := range maxInFlight {
			call(i)
		}
		if got := c.drain(); len(got) > 0 || len(f.got) != maxInFlight {
			t.Fatalf("%d at the server, %v", len(f.got), got)
		}
		call(500)
		c.say(`{"jsonrpc":"2.0","id":501,"method":"ping","params":{}}`)
		c.say(`{"jsonrpc":"2.0","id":502,"method":"tools/call","params":{"name":"a__t","_meta":{$M}}}`)
		synctest.Wait()
		got := c.drain()
		if len(got) != 3 || !strings.Contains(got[0], `"code":-32001,`) ||
			!strings.Contains(got[1], `"reason":"overloaded"`) || !strings.Contains(got[2], `"code":-31011,`) ||
			!strings.Contains(got[0], "request limit reached: 500 requests") ||
			!strings.Contains(got[0], `"gateway.overloaded"`) {
			t.Errorf("%v", got)
		}
		f.Link().Say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		synctest.Wait()
		c.drain()
		call(503)
		if got := c.drain(); len(got) > 0 || len(f.got) != maxInFlight+1 {
			t.Errorf("%d at the server, %v", len(f.got), got)
		}
	})
}

// TestOwnAnswers: many clients that use the same ids get their own answers.
func TestOwnAnswers(t *testing.T) {
	f := simple("a")
	f.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodCallTool {
			return conversation.Result(m, string(m.Params))
		}
		return ""
	}
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			c := d.client()
			defer c.hangUp()
			c.greet(t, "{}")
			for i := range 200 {
				c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t","client":%d}}`, i, n)
			}
			for range 200 {
				var m struct {
					ID     int
					Result struct{ Client int }
				}
				if err := json.Unmarshal([]byte(<-c.Sent), &m); err != nil || m.Result.Client != n {
					t.Errorf("client %d got the answer of %d, %v", n, m.Result.Client, err)
				}
			}
		})
	}
	wg.Wait()
	if f.Connections() != 1 {
		t.Errorf("%d connections", f.Connections())
	}
}

// TestProgressCoalesced: a thousand reports in a loop become fifty a second,
// the last one always, and none after the result.
func TestProgressCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","_meta":{"progressToken":"t"}}}`)
		synctest.Wait()
		report := func(i int) {
			f.Link().Say(fmt.Sprintf(
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":%d}}`, i,
			))
		}
		for i := range 1000 {
			report(i)
			bubble.Sleep(time.Millisecond)
		}
		bubble.Sleep(time.Second)
		got := c.drain()
		if last := got[len(got)-1]; len(got) > 51 || len(got) < 45 ||
			last !=
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":999}}` {
			t.Errorf("%d reports, the last %s", len(got), last)
		}
		for i := range 1000 {
			report(1000 + i)
		}
		f.Link().Say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		report(5000)
		bubble.Sleep(time.Second)
		got = c.drain()
		if n := len(got); n > 3 || n < 2 || !strings.Contains(got[n-2], `"progress":1999`) ||
			!strings.Contains(got[n-1], `"result"`) {
			t.Errorf("%v", got)
		}
	})
}

// TestPages: a list that is larger than a page comes in pages, whole.
func TestPages(t *testing.T) {
	f := simple("a")
	var items []string
	for i := range 3000 {
		items = append(items, fmt.Sprintf(`{"name":"t%d","description":"%s"}`, i, strings.Repeat("x", 3500)))
	}
	items = append(items, fmt.Sprintf(`{"name":"large","description":"%s"}`, strings.Repeat("x", 5<<20)),
		`{"name":"last"}`)
	f.Set("tools/list", items...)
	f.describe = catalog.Verbatim // one description is longer than a page
	f.rules.Deny = []policy.Pattern{{At: "f", Glob: "t7"}, {At: "f", Glob: "t2999"}}
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	c := d.client()
	defer c.hangUp()
	c.greet(t, "{}")
	var names []string
	cursor, pages := "null", 0
	for cursor != "" {
		pages++
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"cursor":%s}}`, pages, cursor)
		var m struct {
			Result struct {
				Tools []struct{ Name string }
				Next  json.RawMessage `json:"nextCursor"`
			}
		}
		if err := json.Unmarshal([]byte(<-c.Sent), &m); err != nil {
			t.Fatal(err)
		}
		for _, tool := range m.Result.Tools {
			names = append(names, tool.Name)
		}
		cursor = string(m.Result.Next)
	}
	if len(names) != 3000 || names[0] != "a__t0" || names[7] != "a__t8" || names[2998] != "a__large" ||
		names[2999] != "a__last" || pages != 5 {
		t.Errorf("%d tools on %d pages", len(names), pages)
	}
	for _, bad := range []string{`"x"`, `"%%"`, `7`, `{}`, `"LTE"`, `"OTk5OTk"`, `""`} {
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":%s}}`, bad)
		if got := <-c.Sent; !strings.Contains(got, `"code":-32602,"message":"the cursor is not one of this list"`) {
			t.Errorf("cursor %s: %.200s", bad, got)
		}
	}
}

// A blockedWriter is a client that does not read before it is told to.
type blockedWriter struct {
	testClient
	open chan struct{}
}

func (w *blockedWriter) Write(parts ...[]byte) error {
	<-w.open
	return w.testClient.Write(parts...)
}

// TestSlowClient: a client that does not read holds up only itself, and
// what waits for it is bounded.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		w := &blockedWriter{testClient: testClient{Sent: make(chan string, 1<<16)}, open: make(chan struct{})}
		w.box = sendqueue.New(w, 10_000, nil)
		w.Session = d.Open(Client{Principal: authn.Local(), Out: w.box, Sole: true})
		handled := make(chan int, 10_000)
		go func() {
			for i := range cap(handled) {
				w.say("%s", []string{`not JSON`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
					`{"jsonrpc":"2.0","id":2,"method":"none"}`, `{"id":3}`}[i%4])
				handled <- i
			}
		}()
		bubble.Sleep(time.Minute)
		if n := len(handled); n > 500 {
			t.Errorf("%d messages were taken from a client that does not read", n)
		}
		for range 10_000 {
			f.Link().Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"` +
				strings.Repeat("x", 100) + `"}}`)
		}
		synctest.Wait()

		other := d.client()
		defer other.hangUp()
		other.greet(t, "{}")
		other.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}`)
		synctest.Wait()
		f.Link().Say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		synctest.Wait()
		if got := other.drain(); len(got) != 1 {
			t.Errorf("the other one got %v", got)
		}
		close(w.open)
		for range cap(handled) {
			<-handled
		}
		w.hangUp()
		if n := len(w.drain()); n != cap(handled) {
			t.Errorf("%d answers", n)
		}
	})
}

// TestEnding: requests in flight have time to end; then an old client gets an
// answer that says why, and so does a modern one.
func TestEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		c := d.client()
		c.greet(t, "{}")
		for id, meta := range []string{"{}", "{}", "{$M}"} {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t","_meta":%s}}`, id, meta)
			synctest.Wait()
		}
		c.say(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{$M}}}`)
		synctest.Wait()
		c.drain()
		begun := time.Now()
		ended := make(chan struct{})
		go func() { defer close(ended); c.Close(t.Context(), 10*time.Second) }()
		bubble.Sleep(time.Second)
		c.say(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a__t"}}`)
		f.Link().Say(`{"jsonrpc":"2.0","id":3,"result":{"content":[],"in":"time"}}`)
		<-ended
		_ = c.box.Close()
		if time.Since(begun) != 10*time.Second {
			t.Errorf("it took %s", time.Since(begun))
		}
		got := strings.Join(c.drain(), "\n")
		for _, want := range []string{
			`{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}`,
			`{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"junctor is shutting down",`,
			`{"jsonrpc":"2.0","id":0,"result":{"content":[],"in":"time"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"junctor is shutting down; the call may have been executed",`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-31018,"message":"junctor is shutting down; the call may have been executed",`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not among\n%s", want, got)
			}
		}
		synctest.Wait()
		if n := f.Count(mcp.NoteCancelled); n != 2 {
			t.Errorf("the server was told %d times", n)
		}
	})
}

// A brokenExpression panics when it is evaluated.
type brokenExpression struct{ condition.Expression }

// TestPanic: a mistake of ours costs one request, not the host.
func TestPanic(t *testing.T) {
	f := simple("a")
	d := newFixture(f)
	defer d.end()
	broken := policy.Rule{Tools: []string{"*"}, When: condition.New("oops", brokenExpression{})}
	d.setPolicy(policy.New(map[string]policy.Server{"a": {}},
		policy.Rules{Given: true, Default: policy.Allows, Rules: []policy.Rule{broken}}))
	d.warm(t)
	c := d.client()
	defer c.hangUp()
	c.greet(t, "{}")
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := <-c.Sent; !strings.Contains(got, `"id":1,"error":{"code":-32603,`) ||
		strings.Contains(got, "nil pointer") {
		t.Error(got)
	}
	c.say(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	if got := <-c.Sent; got != `{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}` || d.log.count("nil pointer") == 0 {
		t.Error(got)
	}
}
