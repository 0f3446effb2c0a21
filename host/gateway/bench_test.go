package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// BenchmarkCall is one call through a session and an upstream, without the
// processes and pipes around them. The scripted server reads JSON with
// encoding/json, so compare only with itself.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{200, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprint("result=", size), func(b *testing.B) {
			text := strings.Repeat("lorem ipsum dolor sit amet, ", size/28)
			f := simple("a")
			f.Answer = func(l *conversation.Link, m conversation.Message) string {
				if m.Method == "tools/call" {
					return conversation.Result(m, `{"content":[{"type":"text","text":"`+text+`"}]}`)
				}
				return ""
			}
			d := newFixture(f)
			defer d.end()
			d.Catalog().Ensure(b.Context())
			c := d.client()
			defer c.hangUp()
			c.greet(b, "{}")
			b.ReportAllocs()
			for b.Loop() {
				c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{}}}`)
				for !strings.HasPrefix(<-c.Sent, `{"jsonrpc":"2.0","id":1,`) {
				}
			}
		})
	}
}

// BenchmarkStages is what authentication with a static token, the stages, a policy and the
// limits of a tool add to a call: everything before the server is asked.
func BenchmarkStages(b *testing.B) {
	f := simple("a")
	d := newFixture(f)
	defer d.end()
	d.Catalog().Ensure(b.Context())
	tokens := authn.NewTokens([]authn.StaticToken{{Token: strings.Repeat("t", 32), Subject: "alice", Tenant: "red",
		Roles: []string{"dev"}}})
	d.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
		Given: true, Roles: []string{"dev"}, Rules: []policy.Rule{{Effect: policy.Allows,
			Holder: policy.Holder{Kind: "role", Name: "dev"}, Tools: []string{"t"}}},
	}))
	limits := limit.NewTools(hclog.NewNullLogger())
	limits.SetRules([]limit.ToolRule{{Match: func(string, string) bool { return true }, Rate: 1e9, Burst: 1 << 30,
		Concurrent: 10}})
	p := &pipeline{d.opts, d.suspended, d.states, d.audit}
	p.opts.Limit = limits
	http := &http.Request{Header: http.Header{"Authorization": {"Bearer " + strings.Repeat("t", 32)}}}
	m, err := mcp.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	answer := response{result: []byte(`{"content":[]}`)}
	b.ReportAllocs()
	for b.Loop() {
		who, err := tokens.Authenticate(http)
		if err != nil {
			b.Fatal(err)
		}
		r, refused := d.newRequest(who, nil, m, Exchange{})
		if refused != nil {
			b.Fatal(refused)
		}
		r.route.serve = func(context.Context, *use) (response, error) { return answer, nil }
		if _, err := p.serve(b.Context(), newUse(r)); err != nil {
			b.Fatal(err)
		}
		r.leaveGeneration()
	}
}

// BenchmarkRecord is what the audit log adds to a call: the event and its place in the
// buffer. The writer is not part of it.
func BenchmarkRecord(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("audit=%t", on), func(b *testing.B) {
			d := newFixture(simple("a"))
			defer d.end()
			d.Catalog().Ensure(b.Context())
			to := audit.Recorder(audit.Discard{})
			if on {
				to = &events{}
			}
			c := newRecord(to)
			answer := response{result: []byte(`{"content":[]}`)}
			m, err := mcp.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{"query":"is:open label:bug","repo":"acme/site","per_page":30},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
			if err != nil {
				b.Fatal(err)
			}
			r, refused := d.newRequest(authn.Principal{Subject: "alice", Tenant: "red", Method: "jwt"}, nil, m,
				Exchange{RequestID: "r-1"})
			if refused != nil {
				b.Fatal(refused)
			}
			defer r.leaveGeneration()
			u := newUse(r)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.begin(u); err != nil {
					b.Fatal(err)
				}
				c.end(u, answer, nil)
			}
		})
	}
}

// events is a recorder that keeps nothing of the events that it gets.
type events struct{ audit.Discard }

// Begin implements [audit.Recorder].
func (*events) Begin() (bool, error) { return true, nil }
