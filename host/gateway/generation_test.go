package gateway

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// replace applies a generation in which another server has the name.
func (d *fixture) replace(f *fake) {
	before := d.generations.current()
	n := &Generation{Policy: before.Policy, Servers: maps.Clone(before.Servers)}
	log := hclog.NewNullLogger()
	u := f.upstream(d.Peer(f.name), log)
	d.close = append(d.close, u.Close)
	n.Servers[f.name] = Server{
		Upstream: u, Share: f.share, Open: func(p upstream.Peer, _ authn.Principal) *upstream.Upstream { return f.upstream(p, log) },
	}
	d.Apply(n)
}

// slowLibrary is a library that answers a subscription when the test says so.
func slowLibrary(name string) (f *fake, answer func()) {
	f = library(name, 1)
	usual := f.Answer
	var asked conversation.Message
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodSubscribe {
			asked = m
			return conversation.Later
		}
		return usual(l, m)
	}
	return f, func() { f.Link().Say(conversation.Result(asked, "{}")) }
}

// TestReloadMovesSubscriptionBeingMade: the client's subscription is at the new server
// if its server is replaced before it answers.
func TestReloadMovesSubscriptionBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, answer := slowLibrary("a")
		d := newFixture(before)
		defer d.end()
		d.warm(t)
		c := d.visitor("c", "")
		defer c.hangUp()
		c.greet(t, "{}")
		c.say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:0"}}`)
		synctest.Wait()
		after := library("a", 1)
		d.replace(after)
		answer()
		synctest.Wait()
		if got := c.drain(); len(got) != 1 || !strings.Contains(got[0], `"id":1,"result":{}`) {
			t.Errorf("%v", got)
		}
		if n := after.Count(mcp.MethodSubscribe); n != 1 {
			t.Fatalf("the new server was asked %d times", n)
		}
		after.Link().Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:0"}}`)
		synctest.Wait()
		if got := c.drain(); len(got) != 1 || !strings.Contains(got[0], `"uri":"a:0"`) {
			t.Errorf("%v", got)
		}
	})
}

// TestReloadEndsListenBeingMade: a listen request ends if a server of it is replaced
// before it is acknowledged, so that the client listens again.
func TestReloadEndsListenBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, answer := slowLibrary("a")
		d := newFixture(before)
		defer d.end()
		d.warm(t)
		c := d.visitor("c", "")
		defer c.hangUp()
		p := d.post(c, `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["a:0"]},"_meta":{$M}}}`)
		defer p.end()
		synctest.Wait()
		d.replace(library("a", 1))
		answer()
		synctest.Wait()
		got := p.drain()
		if len(got) != 2 || !strings.Contains(got[0], `"notifications":{"resourceSubscriptions":["a:0"]}`) || !strings.Contains(got[1], `"resultType":"complete"`) {
			t.Errorf("%v", got)
		}
	})
}
