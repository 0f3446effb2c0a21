package gateway

import (
	"context"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
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
	p := &pipeline{opts: Options{Log: hclog.NewNullLogger(), Usage: &usage.Counter{}}, audit: newRecord(&kept)}
	h := p.recoverPanic(p.record(p.count(func(context.Context, *use) (response, error) { panic("injected") })))
	u := newUse(&pendingRequest{request: request{method: "tools/call"}})
	u.item = policy.Item{Server: "a", Name: "t"}
	if _, err := h(t.Context(), u); !fault.Is(err, fault.Internal) {
		t.Errorf("the error is %v", err)
	}
	if got := p.opts.Usage.Of("a"); got.InFlight != 0 || got.Errors != 1 {
		t.Errorf("%d requests are in flight, %d failed", got.InFlight, got.Errors)
	}
	if all := kept.take(); len(all) != 1 || all[0].Outcome != audit.Panicked || all[0].Server != "a" || all[0].Item != "t" {
		t.Errorf("the recorded events are %+v", all)
	}
}
