package upstream

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// A clumsy peer makes a mistake when it is asked.
type clumsy struct{ *recorder }

func (clumsy) ServerRequest(context.Context, *Upstream, any, string, []byte) (result, rpcError []byte) {
	panic("oops")
}

// TestPanic: a mistake of ours over a question of a server costs that question.
func TestPanic(t *testing.T) {
	heard := make(chan string, 1)
	s := &conversation.Server{Revision: "2025-11-25", Answer: func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == "" {
			heard <- m.Text
			return conversation.Later
		}
		return ""
	}}
	var log strings.Builder
	o := usual(clumsy{newRecorder()}, s.Open)
	o.Revision, o.Log = mcp.Revision20251125, hclog.New(&hclog.LoggerOptions{Output: &log})
	u := New(o)
	if err := u.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Link().Say(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
	select {
	case got := <-heard:
		if !strings.Contains(got, `"id":7,"error":{"code":-32603,`) || strings.Contains(got, "oops") {
			t.Error(got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server is not answered")
	}
	u.Close()
	if !strings.Contains(log.String(), "oops") {
		t.Error("the log says nothing")
	}
}

// A stumbling peer makes a mistake when it is told something.
type stumbling struct{ *recorder }

func (stumbling) ServerNotification(*Upstream, any, string, []byte) { panic("oops") }

// TestPanicReading: a mistake of ours over what a server says costs the
// connection and those who wait for it, and the next call has another one.
func TestPanicReading(t *testing.T) {
	s := &conversation.Server{Revision: "2025-11-25", Answer: func(l *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodCallTool {
			l.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			return conversation.Later
		}
		return ""
	}}
	var log strings.Builder
	o := usual(stumbling{newRecorder()}, s.Open)
	o.Revision, o.Log = mcp.Revision20251125, hclog.New(&hclog.LoggerOptions{Output: &log})
	u := New(o)
	for range 2 {
		_, err := u.Call(t.Context(), permitted(t, Call{Method: mcp.MethodCallTool, Params: []byte(`{"name":"x"}`)}))
		if !fault.Is(err, fault.Internal) || strings.Contains(err.Error(), "oops") {
			t.Fatal(err)
		}
	}
	if n := u.Status().Connects; n != 2 {
		t.Errorf("%d connections", n)
	}
	u.Close()
	if strings.Count(log.String(), "panic=oops") != 2 {
		t.Error("the log says nothing")
	}
}

// TestPanicConnecting: so it is with an attempt to connect.
func TestPanicConnecting(t *testing.T) {
	o := usual(newRecorder(), nil)
	o.Open = func(context.Context) (Link, error) { panic("oops") }
	var log strings.Builder
	o.Log = hclog.New(&hclog.LoggerOptions{Output: &log})
	u := New(o)
	if err := u.Connect(t.Context()); !fault.Is(err, fault.Internal) || strings.Contains(err.Error(), "oops") {
		t.Error(err)
	}
	u.Close()
	if !strings.Contains(log.String(), "panic=oops") {
		t.Error("the log says nothing")
	}
}

// TestSubscribeGivenUp: who gives up a subscription that the server refused just
// then takes nothing from the next one to the same resource.
func TestSubscribeGivenUp(t *testing.T) {
	s := &conversation.Server{Revision: "2025-11-25", Capabilities: `{"resources":{"subscribe":true}}`}
	s.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodSubscribe {
			return ""
		}
		return conversation.Error(m, `{"code":-32603,"message":"not now"}`)
	}
	o := usual(newRecorder(), s.Open)
	o.Revision = mcp.Revision20251125
	u := New(o)
	defer u.Close()
	c, err := u.get(t.Context(), ForCall)
	if err != nil {
		t.Fatal(err)
	}
	defer u.put()
	const uri = "test://r"
	first := u.subscribe(c, topic{uri: uri})
	<-first.ready
	s.On(func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodSubscribe {
			return conversation.Result(m, "{}")
		}
		return ""
	})
	if err := u.Subscribe(t.Context(), permittedResource(t, uri), uri); err != nil {
		t.Fatal(err)
	}
	u.giveUp(topic{uri: uri}, first) // as Subscribe does when its context ends
	if n := u.Status().Subscriptions; n != 1 {
		t.Errorf("%d subscriptions are left of the other's", n)
	}
}
