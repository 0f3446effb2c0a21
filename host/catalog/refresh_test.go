package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func TestDrift(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now []string
		want        string
	}{
		{"the same", []string{`{"name":"a"}`, `{"name":"b"}`}, []string{`{"name":"b"}`, `{"name":"a"}`}, "[] [] []"},
		{"all of it", []string{`{"name":"a"}`, `{"name":"b"}`, `{"name":"z"}`},
			[]string{`{"name":"c"}`, `{"name":"b","description":"new"}`, `{"name":"a"}`, `{"name":"Y"}`},
			"[Y c] [z] [b]"},
		{"nothing before", nil, []string{`{"name":"a"}`}, "[a] [] []"},
		{"nothing now", []string{`{"name":"a"}`}, nil, "[] [a] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			added, removed, changed := drift(listing(c.before...).Items, listing(c.now...).Items)
			if got := fmt.Sprint(added, removed, changed); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	many := make([]string, 11)
	if got := shortenList(many); len(got) != 11 || got[10] != "…" {
		t.Errorf("%q", got)
	}
	if got := shortenList(many[:10]); len(got) != 10 {
		t.Errorf("%q", got)
	}
}

// TestPanic checks that a panic during a refresh fails only that refresh, and that all lists
// are kept.
func TestPanic(t *testing.T) {
	a, b := old(`{"name":"x","inputSchema":{"type":"object"}}`), old(`{"name":"y","inputSchema":{"type":"object"}}`)
	s := newFixture("", a, b)
	defer s.close()
	var log strings.Builder
	s.refresher.log = hclog.New(&hclog.LoggerOptions{Output: &log})
	if failed := s.Ensure(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	for s.connected.Load() < 2 {
		bubble.Sleep(time.Millisecond)
	}
	s.Servers()[0].Upstream = nil // causes a panic
	b.Set("tools/list", `{"name":"w","inputSchema":{"type":"object"}}`)
	for range 2 {
		failed := s.Refresh(t.Context())
		if len(failed) != 1 || !fault.Is(failed["a"], fault.Internal) ||
			strings.Contains(failed["a"].Error(), "nil pointer") {
			t.Fatal(failed)
		}
	}
	if got := toolsOf(s.Snapshot()); !strings.Contains(got, "a__x") || !strings.Contains(got, "b__w") {
		t.Error(got)
	}
	s.Stop()
	if !strings.Contains(log.String(), "nil pointer") || !strings.Contains(log.String(), "server=a") {
		t.Error("the panic was not logged")
	}
}
