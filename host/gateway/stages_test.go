package gateway

import (
	"context"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/usage"
)

// outcomes is a recorder that keeps the outcomes of requests.
type outcomes []audit.Outcome

func (o *outcomes) Begin(context.Context, audit.Event) (end func(audit.Outcome)) {
	return func(got audit.Outcome) { *o = append(*o, got) }
}

func TestPanicEndsRequestInAuditAndStatus(t *testing.T) {
	var recorded outcomes
	p := &pipeline{opts: Options{Log: hclog.NewNullLogger(), Audit: &recorded, Usage: &usage.Counter{}}}
	h := p.recoverPanic(p.record(p.count(func(context.Context, *request) (response, error) { panic("injected") })))
	if _, err := h(t.Context(), &request{method: "tools/call", item: policy.Item{Server: "a", Name: "t"}}); !fault.Is(err, fault.Internal) {
		t.Errorf("the error is %v", err)
	}
	if got := p.opts.Usage.Of("a"); got.InFlight != 0 || got.Errors != 1 {
		t.Errorf("%d requests are in flight, %d failed", got.InFlight, got.Errors)
	}
	if len(recorded) != 1 || !fault.Is(recorded[0].Err, fault.Internal) || recorded[0].Item.Server != "a" {
		t.Errorf("the recorded outcomes are %v", recorded)
	}
}
