package gateway

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func limits(rules ...limit.ToolRule) limit.Limiter {
	l := limit.NewTools(hclog.NewNullLogger())
	l.SetRules(rules)
	return l
}

func everyTool(string, string) bool { return true }

// TestToolCallsAreLimited exceeds the rate and the concurrency of a tool in both eras.
// Another tenant, other methods and the local user are not limited.
func TestToolCallsAreLimited(t *testing.T) {
	const modern = `,"_meta":{$M}`
	call := func(c *testClient, id int, era string) string {
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t"%s}}`, id, era)
		synctest.Wait()
		return strings.Join(c.drain(), "\n")
	}
	for what, x := range map[string]struct {
		rule limit.ToolRule
		wait time.Duration
		want map[string][]string // by era
	}{
		"rate": {limit.ToolRule{Match: everyTool, Rate: 1, Burst: 1}, 0, map[string][]string{
			"": {`"code":-32099`, `"reason":"rate_limited"`, `"retry_after_ms":1000`, `"code":"limit.rate"`,
				`(try again in 1s)"`},
			modern: {`"code":-31010`, `"reason":"rate_limited"`, `"retry_after_ms":1000`},
		}},
		"concurrency": {limit.ToolRule{
			Match: everyTool, Concurrent: 1, Wait: 5 * time.Second,
		}, 5 * time.Second, map[string][]string{
			"": {`"code":-32002`, `"max_in_flight":1`, `"queue_wait_ms_exceeded":5000`,
				`"code":"limit.concurrent"`},
			modern: {`"code":-31011`, `"max_in_flight":1`, `"queue_wait_ms_exceeded":5000`},
		}},
	} {
		for era, want := range x.want {
			t.Run(what+strings.Repeat(" modern", len(era)/len(modern)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := simple("a")
					d := newLimitedFixture("", limits(x.rule), f)
					defer d.end()
					d.warm(t)
					alice, bob, local := d.visitor("alice", "one"), d.visitor("bob", "two"), d.client()
					for _, c := range []*testClient{alice, bob, local} {
						defer c.hangUp()
						c.greet(t, "{}")
					}
					for id, c := range []*testClient{alice, bob, local, local} {
						if got := call(c, id, era); got != "" {
							t.Fatalf("the first call: %s", got)
						}
					}
					got := call(alice, 9, era)
					if x.wait > 0 {
						if got != "" {
							t.Fatalf("without a wait: %s", got)
						}
						bubble.Sleep(x.wait)
						synctest.Wait()
						got = strings.Join(alice.drain(), "\n")
					}
					for _, part := range want {
						if !strings.Contains(got, part) {
							t.Errorf("%s has no %s", got, part)
						}
					}
					if n := len(f.got); n != 4 {
						t.Errorf("the server got %d calls", n)
					}
					for range 20 {
						alice.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{%s}}`,
							strings.TrimPrefix(era, ","))
						synctest.Wait()
						if got := strings.Join(alice.drain(), "\n"); !strings.Contains(got, `"tools":`) {
							t.Fatal(got)
						}
					}
				})
			})
		}
	}
}

// TestCancelledWhileWaiting checks that a call that waits for a place ends at once, and
// takes no place.
func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newLimitedFixture("", limits(limit.ToolRule{Match: everyTool, Concurrent: 1, Wait: time.Minute}), f)
		defer d.end()
		d.warm(t)
		c := d.visitor("alice", "one")
		defer c.hangUp()
		c.greet(t, "{}")
		for id := range 3 {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t"}}`, id)
			synctest.Wait()
		}
		begun := time.Now()
		c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		if got := c.drain(); len(got) > 0 || time.Since(begun) != 0 {
			t.Errorf("after %s: %s", time.Since(begun), got)
		}
		f.Link().Say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		synctest.Wait()
		if n := len(f.got); n != 2 {
			t.Errorf("the server got %d calls: the cancelled one took a place", n)
		}
	})
}

// TestSuspendedCallKeepsItsPlace checks that a call counts as one in progress while its
// client answers a question, until it ends or is abandoned.
func TestSuspendedCallKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newLimitedFixture("", limits(limit.ToolRule{Match: everyTool, Concurrent: 1}), curious("s"))
		defer d.end()
		d.warm(t)
		c := d.visitor("alice", "one")
		defer c.hangUp()
		begin := fmt.Sprintf(rooted, "s__t", "")
		refused := func(when string) {
			t.Helper()
			if got := d.ask(c, begin); !strings.Contains(got, `"reason":"busy"`) {
				t.Errorf("%s: %s", when, got)
			}
		}
		state := stateOf(d.ask(c, begin))
		if state == "" {
			t.Fatal("the call was not suspended")
		}
		refused("while a call is suspended")
		if got := d.ask(c, fmt.Sprintf(rooted, "s__t",
			fmt.Sprintf(`"inputResponses":{"q1":{"roots":[1]}},"requestState":%q,`, state))); !strings.Contains(got,
			`"heard":{"roots":[1]}`) {
			t.Fatal(got)
		}
		if state = stateOf(d.ask(c, begin)); state == "" {
			t.Fatal("the place of a call that has ended is taken")
		}
		refused("while another is suspended")
		bubble.Sleep(suspendTime)
		synctest.Wait()
		if state = stateOf(d.ask(c, begin)); state == "" {
			t.Error("the place of an abandoned call is taken")
		}
	})
}
