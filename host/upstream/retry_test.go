package upstream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestOtherCredentials checks that new credentials allow a new attempt at once, and that
// unchanged credentials do not, even if the failed attempt changed them.
func TestOtherCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts, stamp, writes := 0, "a", false
		o := usual(newRecorder(), nil)
		o.Open = func(context.Context) (Link, error) {
			if attempts++; writes {
				stamp += "."
			}
			return nil, fault.New(fault.UpstreamAuth, "refused")
		}
		o.Changed = func() string { return stamp }
		u := New(o)
		defer u.Close()
		for _, c := range []struct {
			change string
			writes bool
			want   int
		}{{"", false, 1}, {"b", false, 2}, {"c", true, 3}, {"", true, 3}, {"d", false, 4}, {"", false, 4}} {
			if writes = c.writes; c.change != "" {
				stamp = c.change
			}
			for range 3 {
				if err := u.Connect(t.Context()); !fault.Is(err, fault.UpstreamAuth) {
					t.Fatal(err)
				}
			}
			if attempts != c.want {
				t.Errorf("%+v: %d attempts", c, attempts)
			}
			bubble.Sleep(10 * time.Millisecond)
		}
	})
}
