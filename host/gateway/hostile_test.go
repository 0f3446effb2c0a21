package gateway

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestPanicOnExclusiveConnection: a mistake of ours costs one request also where that goes on
// without its client.
func TestPanicOnExclusiveConnection(t *testing.T) {
	f := curious("a")
	f.repeat = func(string) bool { panic("oops") }
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	c := d.visitor("x", "")
	defer c.hangUp()
	for i := range limit.DefaultConnections + 1 { // each of them gives its connection back
		got := d.ask(c, fmt.Sprintf(rooted, "a__t", ""))
		if !strings.Contains(got, `"id":1,"error":{"code":-32603,`) || strings.Contains(got, "oops") ||
			d.log.count("oops") == 0 {
			t.Fatalf("request %d: %s", i, got)
		}
	}
	if n := len(f.Links()); n != 1 {
		t.Errorf("%d connections were opened", n)
	}
}

// TestLargeNews: what a server tells everybody is not copied for everybody when
// it is large.
func TestLargeNews(t *testing.T) {
	f := simple("a")
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	const clients, size = 64, 4 << 20
	var all []*testClient
	for range clients {
		c := d.visitor("x", "")
		defer c.hangUp()
		c.greet(t, "{}")
		c.say(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
		<-c.Sent
		all = append(all, c)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	padding := strings.Repeat("x", size)
	for _, news := range []string{
		`"notifications/elicitation/complete","params":{"elicitationId":"%s"}`,
		`"notifications/message","params":{"level":"error","data":"%s"}`,
		`"notifications/resources/updated","params":{"uri":"test://%s"}`,
	} {
		f.Link().Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":`+news+`}`, padding))
	}
	f.Link().Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"the last"}}`)
	for _, c := range all {
		for got := ""; !strings.Contains(got, `"the last"`); {
			got = <-c.Sent
			if len(got) > size {
				got = got[:0]
			}
		}
	}
	runtime.ReadMemStats(&after)
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 200 {
		t.Errorf("%d MiB for 12 MiB of news", grown)
	}
}

// TestLargeClient: what a client says of itself lasts as long as its session, and
// is bounded.
func TestLargeClient(t *testing.T) {
	f := newFake("a", "2025-11-25")
	f.Capabilities = `{"resources":{"subscribe":true}}`
	f.Set(mcp.MethodListTempl, `{"name":"t","uriTemplate":"test://{+x}"}`)
	f.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodSubscribe {
			return conversation.Result(m, "{}")
		}
		return ""
	}
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	c := d.visitor("x", "")
	defer c.hangUp()
	large := strings.Repeat("x", 1<<20)
	c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"experimental":{"x":%q}}}}`,
		large)
	if got := <-c.Sent; !strings.Contains(got, `"code":-32602,`) || c.State() != nil {
		t.Errorf("%.300s, a state of %d bytes", got, len(c.State()))
	}
	c.greet(t, "{}")
	c.say(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"test://%s"}}`, large)
	if got := <-c.Sent; !strings.Contains(got, `"code":-32602,`) || len(c.State()) > 1<<16 {
		t.Errorf("%.300s, a state of %d bytes", got, len(c.State()))
	}
	c.say(`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"test://%s"}}`, large[:1000])
	if got := <-c.Sent; !strings.Contains(got, `"result":{}`) {
		t.Errorf("%.300s", got)
	}
	if got := d.ask(c, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"experimental":{"x":%q}}}}}`,
		large)); !strings.Contains(got, `"code":-32602,`) {
		t.Errorf("%.300s", got)
	}
}

// TestWarnedMost: what the log said once is not remembered for ever.
func TestWarnedMost(t *testing.T) {
	f := simple("a")
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	tool, _ := d.Catalog().Snapshot().Tool("a__t")
	for i := range 3 * 10_000 {
		other := *tool
		other.Name = fmt.Sprint(i)
		d.tools.warnOnce(&other, nil, outputMissing)
	}
	if n := len(d.warnings.logged); n > 10_000 {
		t.Errorf("%d warnings are remembered", n)
	}
}
