package gateway

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/tracing"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

const (
	clientParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	headerParent = "00-11111111111111111111111111111111-2222222222222222-01"
	ownParent    = "00-33333333333333333333333333333333-4444444444444444-00"
)

// A spy is an Observer that remembers what it was told.
type spy struct {
	mu       sync.Mutex
	begun    []Beginning
	ended    []Ending
	inFlight int
	spans    []string // names, each with the outcome
	events   map[Event]int
	refused  map[outcome.Outcome]int
}

func (s *spy) Begin(b Beginning) Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun, s.inFlight = append(s.begun, b), s.inFlight+1
	return &spied{s, ""}
}

func (s *spy) Refused(_ string, o outcome.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[o]++
}

func (s *spy) Count(e Event, _ string, _ outcome.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[e]++
}

// outcomes returns how the requests since the last call of it ended.
func (s *spy) outcomes() (all []outcome.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ended {
		all = append(all, e.Outcome)
	}
	s.ended = nil
	return all
}

// A spied is a request and a span of it.
type spied struct {
	*spy
	name string
}

func (s *spied) Span() tracing.Span { return spiedSpan{s} }
func (s *spied) Found(string)       {}
func (s *spied) End(e Ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.inFlight = append(s.ended, e), s.inFlight-1
}

type spiedSpan struct{ *spied }

func (s spiedSpan) Start(name string) tracing.Span { return spiedSpan{&spied{s.spy, name}} }
func (s spiedSpan) Ask(name string) tracing.Span   { return spiedSpan{&spied{s.spy, "ask " + name}} }
func (spiedSpan) Set(string, string)               {}
func (spiedSpan) Context() tracing.Context         { return tracing.NewContext(ownParent, "") }
func (s spiedSpan) End(o outcome.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spans = append(s.spans, s.name+": "+string(o))
}

func newSpy() *spy { return &spy{events: map[Event]int{}, refused: map[outcome.Outcome]int{}} }

// TestOutcomes ends a call in each way and compares what the observer is told.
func TestOutcomes(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}`
	result := func(text string) func(*conversation.Link, conversation.Message) string {
		return func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodCallTool {
				return conversation.Result(m, text)
			}
			return ""
		}
	}
	silent := func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodCallTool {
			return conversation.Later
		}
		return ""
	}
	for what, c := range map[string]struct {
		answer func(*conversation.Link, conversation.Message) string
		say    []string
		policy *policy.Policy
		rules  []limit.ToolRule
		want   []outcome.Outcome
		code   string
	}{
		"ok": {answer: result(`{"content":[],"isError":false}`), say: []string{call},
			want: []outcome.Outcome{outcome.OK}},
		"the tool's": {answer: result(`{"content":[],"isError":true}`), say: []string{call},
			want: []outcome.Outcome{outcome.Error}},
		"a nested member": {answer: result(`{"content":[],"structuredContent":{"isError":true}}`), say: []string{call},
			want: []outcome.Outcome{outcome.OK}},
		"the server's": {answer: func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodCallTool {
				return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32603,"message":"no"}}`
			}
			return ""
		}, say: []string{call}, want: []outcome.Outcome{outcome.Error}, code: "-32603"},
		"cancelled": {answer: silent,
			say:  []string{call, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
			want: []outcome.Outcome{outcome.Cancelled}, code: "call.canceled"},
		"timeout": {answer: silent, say: []string{call}, want: []outcome.Outcome{outcome.Timeout},
			code: "call.timeout"},
		"unknown": {answer: silent, say: []string{strings.Replace(call, "a__t", "a__u", 1)},
			want: []outcome.Outcome{outcome.Error}, code: "name.unknown"},
		"denied": {answer: silent, say: []string{call},
			policy: policy.New(map[string]policy.Server{"a": {}}, policy.Rules{Given: true}),
			want:   []outcome.Outcome{outcome.Denied}, code: "name.unknown"},
		"rate": {
			answer: result(`{"content":[]}`), say: []string{call, strings.Replace(call, `"id":1`, `"id":2`, 1)},
			rules: []limit.ToolRule{{Rate: .001, Burst: 1}}, want: []outcome.Outcome{outcome.OK, outcome.RateLimited},
			code: "limit.rate",
		},
		"not a request": {answer: silent, say: []string{`{"jsonrpc":"2.0","id":1,"method":"no/such"}`}, want: nil},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := simple("a")
				f.Answer = c.answer
				limits := limit.NewTools(hclog.NewNullLogger())
				for i := range c.rules {
					c.rules[i].Match = func(string, string) bool { return true }
				}
				limits.SetRules(c.rules)
				d := newLimitedFixture("", limits, f)
				defer d.end()
				d.warm(t)
				if c.policy != nil {
					d.setPolicy(c.policy)
				}
				alice := d.visitor("alice", "one")
				defer alice.hangUp()
				alice.greet(t, "{}")
				s := newSpy()
				d.Observe(s)
				for _, m := range c.say {
					alice.say("%s", m)
					synctest.Wait()
				}
				if what == "timeout" {
					bubble.Sleep(2 * time.Minute)
					synctest.Wait()
				}
				last := ""
				if len(s.ended) > 0 {
					last = s.ended[len(s.ended)-1].Code
				}
				if got := s.outcomes(); !sameOutcomes(got, c.want) || last != c.code || s.inFlight != 0 {
					t.Errorf("%v with %q and %d in flight, want %v with %q", got, last, s.inFlight, c.want, c.code)
				}
			})
		})
	}
}

func sameOutcomes(got, want []outcome.Outcome) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

// TestPanicsAreObserved checks that a request that panics ends for the observer, and that an
// internal error of a handler is no panic.
func TestPanicsAreObserved(t *testing.T) {
	d := newFixture(simple("a"))
	defer d.end()
	s := newSpy()
	d.Observe(s)
	for what, c := range map[string]struct {
		serve handler
		want  outcome.Outcome
	}{
		"a panic": {func(context.Context, *use) (response, error) { panic("oh") }, outcome.Panicked},
		"an internal error": {func(context.Context, *use) (response, error) {
			return response{}, &rpcError{code: mcp.CodeInternal}
		}, outcome.Error},
	} {
		r := request{gw: d.Gateway, client: &modernClient{}, generation: d.generations.current(),
			method: mcp.MethodPing, principal: authn.Local(), route: route{serve: c.serve}}
		if _, err := d.serve(t.Context(), newUse(&pendingRequest{request: r})); err == nil {
			t.Errorf("%s: no error", what)
		}
		if got := s.outcomes(); !sameOutcomes(got, []outcome.Outcome{c.want}) || s.inFlight != 0 {
			t.Errorf("%s: %v, %d in flight", what, got, s.inFlight)
		}
	}
}

// TestTraceReachesServers checks what a server is told about traces and ids, and what the
// observer is told about the client's.
func TestTraceReachesServers(t *testing.T) {
	meta := func(parent, more string) string { return `"traceparent":"` + parent + `","x":1` + more }
	for what, c := range map[string]struct {
		meta     string
		exchange Exchange
		observed bool
		off      bool
		want     string
		parent   string
		link     string
	}{
		"nothing": {meta: `"x":1`, want: `{"x":1}`},
		"the client's": {meta: meta(clientParent, `,"tracestate":"a=b","baggage":"c=d"`),
			want: `{"x":1,"baggage":"c=d","traceparent":"` + clientParent + `","tracestate":"a=b"}`},
		"that of the header": {meta: `"x":1`, exchange: Exchange{Trace: tracing.NewContext(headerParent, "a=b")},
			want: `{"x":1,"traceparent":"` + headerParent + `","tracestate":"a=b"}`},
		"the message's": {meta: meta(clientParent, ""), exchange: Exchange{Trace: tracing.NewContext(headerParent, "")},
			want: `{"x":1,"traceparent":"` + clientParent + `"}`},
		"malformed": {meta: meta("00-x", `,"tracestate":"a=b","baggage":"no"`), want: `{"x":1}`},
		"malformed, but a header": {
			meta: meta("00-x", ""), exchange: Exchange{Trace: tracing.NewContext(headerParent, "")},
			want: `{"x":1,"traceparent":"` + headerParent + `"}`,
		},
		"escaped": {meta: `"\u0074raceparent":"bad","x":1`, want: `{"x":1}`},
		"no text": {meta: `"traceparent":7,"tracestate":{},"baggage":[],"x":1`, want: `{"x":1}`},
		"oversized": {meta: meta(clientParent, `,"tracestate":"a=`+strings.Repeat("b",
			600)+`","baggage":"a=`+strings.Repeat("b", 9000)+`"`),
			want: `{"x":1,"traceparent":"` + clientParent + `"}`},
		"a forged id": {meta: `"junctor/requestId":"root","x":1`, want: `{"x":1}`},
		"an id of the client": {meta: `"x":1`, exchange: Exchange{RequestID: "mine", Named: true},
			want: `{"x":1,"junctor/requestId":"mine"}`},
		"an id of the gateway": {meta: `"x":1`, exchange: Exchange{RequestID: "random"}, want: `{"x":1}`},
		"observed": {meta: `"x":1`, exchange: Exchange{RequestID: "random"}, observed: true,
			want: `{"x":1,"traceparent":"` + ownParent + `","junctor/requestId":"random"}`},
		"observed, with a parent": {meta: meta(clientParent, ""), exchange: Exchange{RequestID: "r"}, observed: true,
			want: `{"x":1,"traceparent":"` + ownParent + `","junctor/requestId":"r"}`, parent: clientParent},
		"observed, with two": {meta: meta(clientParent, ""),
			exchange: Exchange{RequestID: "r", Trace: tracing.NewContext(headerParent, "")}, observed: true,
			want: `{"x":1,"traceparent":"` + ownParent + `","junctor/requestId":"r"}`, parent: clientParent,
			link: headerParent},
		"off": {meta: meta(clientParent, `,"tracestate":"a=b","baggage":"c=d"`),
			exchange: Exchange{RequestID: "r", Named: true}, off: true, want: `{"x":1}`},
		"off, observed": {meta: meta(clientParent, ""), exchange: Exchange{RequestID: "r"}, observed: true,
			off: true, want: `{"x":1}`, parent: clientParent},
		"off, of the header": {meta: `"x":1`, exchange: Exchange{Trace: tracing.NewContext(headerParent, "")},
			off: true, want: `{"x":1}`},
		"only a member that is gone": {meta: `"traceparent":"bad"`, want: ``},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := simple("a")
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				d.change("a", func(s *Server) { s.Untraced = c.off })
				alice := d.visitor("alice", "one")
				defer alice.hangUp()
				alice.greet(t, "{}")
				s := newSpy()
				if c.observed {
					d.Observe(s)
				}
				m, err := mcp.Parse([]byte(
					`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","_meta":{` + c.meta + `}}}`,
				))
				if err != nil {
					t.Fatal(err)
				}
				alice.AcceptAs(c.exchange, m, func() {})
				synctest.Wait()
				if len(f.got) != 1 {
					t.Fatalf("the server got %d calls: %v", len(f.got), alice.drain())
				}
				if got := string(mcp.Member([]byte(<-f.got), "params", "_meta")); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if c.observed && (s.begun[0].Parent.Parent != c.parent || s.begun[0].Link.Parent != c.link ||
					s.begun[0].RequestID != c.exchange.RequestID) {
					t.Errorf("observed %+v", s.begun[0])
				}
			})
		})
	}
}

// TestSpansOfACall checks the parts of a call.
func TestSpansOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		f.Answer = func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodCallTool {
				return conversation.Result(m, `{"content":[]}`)
			}
			return ""
		}
		d := newFixture(f)
		defer d.end()
		alice := d.visitor("alice", "one")
		defer alice.hangUp()
		alice.greet(t, "{}")
		d.warm(t)
		s := newSpy()
		d.Observe(s)
		alice.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}`)
		synctest.Wait()
		alice.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__u"}}`)
		synctest.Wait()
		if got, want := strings.Join(s.spans, ", "), "policy: ok, limits: ok, ask tools/call t: ok"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestNoObserverCostsNothing checks that the stage in front allocates nothing without an
// observer.
func TestNoObserverCostsNothing(t *testing.T) {
	d := newFixture(simple("a"))
	defer d.end()
	answer := response{result: []byte(`{}`)}
	u := newUse(&pendingRequest{request: request{gw: d.Gateway, client: &modernClient{},
		generation: d.generations.current()}})
	ctx, params := t.Context(), []byte(`{"name":"t","arguments":{},"_meta":{"progressToken":1}}`)
	if n := testing.AllocsPerRun(1000, func() {
		_, observation := observe(ctx, u.pendingRequest)
		observed(u, observation, answer, nil)
		_ = readTrace(params, tracing.Context{})
		_ = withTrace(u, params, tracing.Context{})
		u.part("x").End(outcome.OK)
		d.count(Progress, "", outcome.OK)
		d.Refused("", outcome.Overloaded)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
