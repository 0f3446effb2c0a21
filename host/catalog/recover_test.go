package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestPanic: a mistake of ours over the lists of one server costs that refresh,
// and neither the lists there were nor those of others.
func TestPanic(t *testing.T) {
	a, b := old(`{"name":"x","inputSchema":{"type":"object"}}`), old(`{"name":"y","inputSchema":{"type":"object"}}`)
	s := newShop("", a, b)
	defer s.close()
	var log strings.Builder
	s.log = hclog.New(&hclog.LoggerOptions{Output: &log})
	if failed := s.Ensure(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	for s.connected.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	s.Servers()[0].Upstream = nil // which nobody does
	b.Set("tools/list", `{"name":"w","inputSchema":{"type":"object"}}`)
	for range 2 {
		failed := s.Refresh(t.Context())
		if len(failed) != 1 || !fault.Is(failed["a"], fault.Internal) || strings.Contains(failed["a"].Error(), "nil pointer") {
			t.Fatal(failed)
		}
	}
	if got := toolsOf(s.Snapshot()); !strings.Contains(got, "a__x") || !strings.Contains(got, "b__w") {
		t.Error(got)
	}
	s.Stop()
	if !strings.Contains(log.String(), "nil pointer") || !strings.Contains(log.String(), "server=a") {
		t.Error("the log says nothing")
	}
}
