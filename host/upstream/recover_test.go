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

// A panickingRequests peer panics in ServerRequest.
type panickingRequests struct{ *recorder }

func (panickingRequests) ServerRequest(context.Context, *Upstream, any, string, []byte) (result, rpcError []byte) {
	panic("oops")
}

// TestPanic checks that a panic while answering a server's request fails only that
// request.
func TestPanic(t *testing.T) {
	heard := make(chan string, 1)
	s := &conversation.Server{Revision: "2025-11-25",
		Answer: func(_ *conversation.Link, m conversation.Message) string {
			if m.Method == "" {
				heard <- m.Text
				return conversation.Later
			}
			return ""
		}}
	var log strings.Builder
	o := usual(panickingRequests{newRecorder()}, s.Open)
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
		t.Error("the server got no response")
	}
	u.Close()
	if !strings.Contains(log.String(), "oops") {
		t.Error("the panic was not logged")
	}
}

// A panickingNotifications peer panics in ServerNotification.
type panickingNotifications struct{ *recorder }

func (panickingNotifications) ServerNotification(*Upstream, any, string, []byte) { panic("oops") }

// TestPanicReading checks that a panic while reading closes the connection and fails the
// pending calls, and that the next call reconnects.
func TestPanicReading(t *testing.T) {
	s := &conversation.Server{Revision: "2025-11-25",
		Answer: func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodCallTool {
				l.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
				return conversation.Later
			}
			return ""
		}}
	var log strings.Builder
	o := usual(panickingNotifications{newRecorder()}, s.Open)
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
		t.Error("the panic was not logged")
	}
}

// TestPanicConnecting checks that a panic while connecting fails the attempt.
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
		t.Error("the panic was not logged")
	}
}

// TestSubscribeAbandoned checks that abandoning a rejected subscription does not release
// the next subscription to the same resource.
func TestSubscribeAbandoned(t *testing.T) {
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
	first := u.subs.subscribe(c, topic{uri: uri})
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
	u.subs.abandon(topic{uri: uri}, first) // as Subscribe does when its context ends
	if n := u.Status().Subscriptions; n != 1 {
		t.Errorf("%d subscriptions remain", n)
	}
}
