package gateway

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestUnsubscribeWhileSubscriptionIsRenewed: a client unsubscribes while the server that
// replaced another one refuses subscriptions. When that accepts them, none is made,
// whatever form of the URI the client uses.
func TestUnsubscribeWhileSubscriptionIsRenewed(t *testing.T) {
	for _, uri := range []string{"a:0", "junctor://a/a%3A0", "junctor://a/a:0"} {
		t.Run(uri, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := library("a", 1)
				d := newFixture(a)
				defer d.end()
				d.warm(t)
				c := d.client()
				defer c.hangUp()
				c.greet(t, "{}")
				c.say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`, uri)
				synctest.Wait()
				answer := a.Answer
				a.On(func(l *conversation.Link, m conversation.Message) string {
					if m.Method == mcp.MethodSubscribe {
						return conversation.Error(m, `{"code":-32603,"message":"not yet"}`)
					}
					return answer(l, m)
				})
				d.replace(a)
				synctest.Wait()
				if n := a.Count(mcp.MethodSubscribe); n != 2 {
					t.Fatalf("%d requests to subscribe", n)
				}
				c.say(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":%q}}`, uri)
				synctest.Wait()
				a.On(answer)
				bubble.Sleep(time.Hour)
				if got := uris(c.State()); len(got) > 0 {
					t.Errorf("subscribed to %q", got)
				}
				a.Link().Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:0"}}`)
				synctest.Wait()
				if got := c.drain(); slices.ContainsFunc(got,
					func(m string) bool { return strings.Contains(m, mcp.NoteResUpdated) }) {
					t.Errorf("%q", got)
				}
			})
		})
	}
}
