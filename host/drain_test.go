package host

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// sent collects the messages to a client.
type sent chan string

func (s sent) Write(parts ...[]byte) error {
	s <- string(bytes.Join(parts, nil))
	return nil
}

func (s sent) Flush() error { return nil }

type fixedRevision mcp.Revision

func (r fixedRevision) Revision() mcp.Revision { return mcp.Revision(r) }
func (fixedRevision) Remember(mcp.Revision)    {}

// A drainFixture is a call of a client that has just been asked for a user's answer, and
// whose server is being replaced.
type drainFixture struct {
	process *Process
	before  *generation // of the call
	client  *gateway.Session
	sent    sent
	begun   time.Time
	drained chan time.Duration
}

const drainTimeout = time.Minute

// askingServer is a server whose tool t elicits an answer before its result, in the way
// of the revision.
func askingServer(revision mcp.Revision) *conversation.Server {
	server := &conversation.Server{Revision: string(revision)}
	server.Set("tools/list", `{"name":"t"}`)
	var call conversation.Message
	server.Answer = func(l *conversation.Link, m conversation.Message) string {
		const question = `"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}`
		switch {
		case m.Method == mcp.MethodCallTool && revision.Modern() && mcp.Member(m.Params, "inputResponses") == nil:
			return conversation.Result(m, `{"resultType":"input_required","inputRequests":{"q":{`+question+`}}}`)
		case m.Method == mcp.MethodCallTool && revision.Modern():
			return conversation.Result(m, `{"resultType":"complete","content":[]}`)
		case m.Method == mcp.MethodCallTool:
			call = m
			l.Say(`{"jsonrpc":"2.0","id":"q",` + question + `}`)
			return conversation.Later
		case m.Method == "" && string(m.ID) == `"q"`:
			l.Say(conversation.Result(call, `{"content":[]}`))
			return conversation.Later
		}
		return ""
	}
	return server
}

func newDrainFixture(t *testing.T, revision mcp.Revision) *drainFixture {
	server, log := askingServer(revision), hclog.NewNullLogger()
	c := catalog.New(nil, "", log, nil)
	a := &Process{Gateway: gateway.New(gateway.Options{Version: "1", Catalog: c, Log: log})}
	u := upstream.New(upstream.Options{
		Name: "a", Peer: a.Gateway.Peer("a"), Revisions: fixedRevision(revision), Log: log, Start: time.Second,
		Call: drainTimeout,
		Open: func(context.Context) (upstream.Link, error) { return server.Open(), nil },
	})
	before, rules := &generation{}, policy.New(map[string]policy.Server{"a": {}}, policy.Rules{})
	before.offered.Policy, before.offered.Servers = rules, map[string]gateway.Server{"a": {Upstream: u}}
	a.Gateway.Apply(&before.offered)
	c.SetServers([]*catalog.Server{{Name: "a", Prefix: "a", Upstream: u}})

	d := &drainFixture{process: a, before: before, sent: make(sent, 100), drained: make(chan time.Duration, 1)}
	queue := sendqueue.New(d.sent, 1<<20, nil)
	d.client = a.Gateway.Open(gateway.Client{Principal: authn.Local(), Out: queue, Sole: true})
	t.Cleanup(func() {
		d.client.Close(context.Background(), 0)
		_ = queue.Close()
		a.Gateway.Stop()
		c.Stop()
	})
	d.client.Handle([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`))
	d.client.Handle([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}`))
	d.await(t, `"method":"elicitation/create"`)

	d.begun = time.Now()
	a.Gateway.Apply(&gateway.Generation{Policy: rules})
	go func() {
		a.drain(before, u, drainTimeout)
		d.drained <- time.Since(d.begun)
	}()
	return d
}

// await returns the message that has a text, and drops those before it.
func (d *drainFixture) await(t *testing.T, text string) string {
	t.Helper()
	for {
		select {
		case m := <-d.sent:
			if strings.Contains(m, text) {
				return m
			}
		case <-time.After(time.Hour):
			t.Fatalf("the client was not sent %s", text)
		}
	}
}

// TestReloadWaitsForPersons: a call whose user answers after the call timeout has its
// result, though its server was replaced.
func TestReloadWaitsForPersons(t *testing.T) {
	for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		synctest.Test(t, func(t *testing.T) {
			d := newDrainFixture(t, revision)
			bubble.Sleep(5 * drainTimeout)
			d.client.Handle([]byte(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}`))
			if got := d.await(t, `"id":1,`); !strings.Contains(got, `"content":[]`) {
				t.Errorf("%s: %s", revision, got)
			}
			if after := <-d.drained; after < 5*drainTimeout || after > 6*drainTimeout {
				t.Errorf("%s: closed after %s", revision, after)
			}
		})
	}
}

// TestReloadDoesNotWaitForPersonsForever: the upstream is closed when the question to
// the user has timed out.
func TestReloadDoesNotWaitForPersonsForever(t *testing.T) {
	for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		synctest.Test(t, func(t *testing.T) {
			d := newDrainFixture(t, revision)
			if after := <-d.drained; after < gateway.AskTime-time.Second ||
				after > gateway.AskTime+drainTimeout+time.Second {
				t.Errorf("%s: closed after %s", revision, after)
			}
		})
	}
}

// TestSecretStoreWaitsForRequests: the secret store of an earlier generation is not closed
// while a request of it is in flight, but is after the longest time that a request has.
func TestSecretStoreWaitsForRequests(t *testing.T) {
	const limit = 10 * drainTimeout
	for answered, want := range map[bool]time.Duration{true: 2 * drainTimeout, false: limit} {
		synctest.Test(t, func(t *testing.T) {
			d := newDrainFixture(t, mcp.Revision20251125)
			waited := make(chan time.Duration, 1)
			go func() {
				d.process.awaitRequests(d.before, limit)
				waited <- time.Since(d.begun)
			}()
			bubble.Sleep(2 * drainTimeout)
			if answered {
				d.client.Handle([]byte(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}`))
			}
			if after := <-waited; after < want || after > want+time.Second {
				t.Errorf("answered: %t: it waited for %s, want %s", answered, after, want)
			}
			<-d.drained
		})
	}
}
