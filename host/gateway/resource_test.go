package gateway

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// reader is a server that lists a resource and answers reads with its own name.
func reader(name, uri string) *fake {
	f := simple(name)
	f.Capabilities = `{"resources":{}}`
	f.Set("resources/list", fmt.Sprintf(`{"uri":%q}`, uri))
	f.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodReadResource {
			return conversation.Result(m, fmt.Sprintf(`{"contents":[],"by":%q}`, name))
		}
		return ""
	}
	return f
}

// slowly makes a server take a while to answer the handshake.
func slowly(f *fake, d time.Duration) *fake {
	answer := f.Answer
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodInitialize {
			bubble.Sleep(d)
		}
		return answer(l, m)
	}
	return f
}

// TestResourceOwnerWhileStarting: a read of a URI that two servers list waits for
// the first one of the configuration, and the second does not answer for it.
func TestResourceOwnerWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := slowly(reader("first", "db://x"), 30*time.Second)
		first.start = time.Minute
		d := newFixture(first, reader("second", "db://x"))
		defer d.end()
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		c.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
		bubble.Sleep(firstListTime)
		synctest.Wait()
		if got := strings.Join(c.drain(), "\n"); !strings.Contains(got, `{"uri":"db://x","name":"x"}`) {
			t.Error(got)
		}
		c.say(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"db://x"}}`)
		c.say(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"junctor://second/db%%3A%%2F%%2Fx"}}`)
		synctest.Wait()
		if got := strings.Join(c.drain(), "\n"); strings.Contains(got, `"id":2`) ||
			!strings.Contains(got, `"id":3,"result":{"contents":[],"by":"second"}`) {
			t.Error(got)
		}
		bubble.Sleep(30 * time.Second)
		if got := strings.Join(c.drain(), "\n"); !strings.Contains(got,
			`"id":2,"result":{"contents":[],"by":"first"}`) {
			t.Error(got)
		}
	})
}

// TestResourceOwnerThatCannotStart: a server that could not be started does not
// keep the resources of others from anybody.
func TestResourceOwnerThatCannotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := reader("first", "db://x")
		first.login = &login{done: make(chan struct{})} // which it never gets
		d := newFixture(first, reader("second", "db://x"))
		defer d.end()
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		for id := range 3 {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"db://x"}}`, id)
			bubble.Sleep(time.Second)
			if got := strings.Join(c.drain(), "\n"); !strings.Contains(got, `"by":"second"`) {
				t.Error(got)
			}
		}
	})
}

// TestLinksAreBounded: a server that returns many links makes only its own
// client forget some.
func TestLinksAreBounded(t *testing.T) {
	l := newLinks()
	l.add("bob", "a", "file:///bob")
	for i := range 10 * linksOne {
		l.add("alice", "a", fmt.Sprintf("file:///%d", i))
	}
	l.add("alice", "a", "file:///"+strings.Repeat("x", maxLink))
	l.add("alice", "a", "")
	if mine, _ := l.of.principals.Get("alice"); mine.Len() != linksOne {
		t.Errorf("%d links", mine.Len())
	}
	if _, ok := l.find("bob", "file:///bob"); !ok {
		t.Error("another principal's link is forgotten")
	}
	for i := range 2 * linkOwners {
		l.add(fmt.Sprint(i), "a", "x:y")
	}
	if l.of.principals.Len() != linkOwners {
		t.Errorf("%d principals", l.of.principals.Len())
	}
}

// TestHostileResults: results of any form are looked through without harm.
func TestHostileResults(t *testing.T) {
	g := New(Options{})
	s := g.session(t.Context(), Client{})
	for _, result := range []string{
		`{"content":"\"resource_link\""}`, `{"content":[1,null,{"type":"resource_link"},{"type":"resource","resource":"x"},{"type":"resource_link","uri":7}],"resource":1}`,
		`{"messages":[{"content":[{"type":"resource_link","uri":"a:b"}]},7]}`, `["resource_link"]`, `7`,
		`{"content":[` + strings.Repeat(`{"type":"resource_link","uri":"x"},`, 9999) + `{}]}`,
	} {
		for _, method := range []string{mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource,
			mcp.MethodGetTask, "other"} {
			r := &pendingRequest{request: request{gw: g, principal: s.Principal(), method: method}, server: "a"}
			g.links.record(newUse(r), []byte(result))
		}
	}
	if mine, ok := g.links.of.principals.Get(s.Principal().Key()); !ok || mine.Len() > 2 {
		t.Errorf("%v", mine)
	}
}
