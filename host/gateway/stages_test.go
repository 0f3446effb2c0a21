package gateway

import (
	"context"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/usage"
)

// recorded is a recorder that keeps the events.
type recorded struct {
	mu     sync.Mutex
	events []audit.Event // guarded by mu; of requests
	notes  []audit.Event // guarded by mu
	refuse error
}

func (o *recorded) Begin() (bool, error) { return true, o.refuse }

func (o *recorded) End(e *audit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, *e)
}

func (o *recorded) Note(e *audit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notes = append(o.notes, *e)
}

// take returns the events of requests so far and forgets them.
func (o *recorded) take() []audit.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.events
	o.events = nil
	return all
}

func TestPanicEndsRequestInAuditAndStatus(t *testing.T) {
	var kept recorded
	counter := &usage.Counter{}
	g := New(Options{Log: hclog.NewNullLogger(), Usage: counter, Audit: &kept})
	n := &Generation{Policy: policy.New(map[string]policy.Server{"a": {}}, policy.Rules{})}
	item := policy.Item{Server: "a", Kind: policy.Prompt, Name: "t"}
	r := request{gw: g, generation: n, client: &modernClient{}, method: mcp.MethodGetPrompt, principal: authn.Local(),
		route: route{
			resolve: func(_ context.Context, u *use) error { u.item = item; return nil },
			serve:   func(context.Context, *use) (response, error) { panic("injected") },
		}}
	if _, err := g.serve(t.Context(), newUse(&pendingRequest{request: r})); !fault.Is(err, fault.Internal) {
		t.Errorf("the error is %v", err)
	}
	if got := counter.Of("a"); got.InFlight != 0 || got.Errors != 1 {
		t.Errorf("%d requests are in flight, %d failed", got.InFlight, got.Errors)
	}
	if all := kept.take(); len(all) != 1 || all[0].Outcome != audit.Panicked || all[0].Server != "a" ||
		all[0].Item != "t" {
		t.Errorf("the recorded events are %+v", all)
	}
}
