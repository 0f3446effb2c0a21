package outcome

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
)

func TestOf(t *testing.T) {
	var panicked error
	func() {
		defer fault.Recover(&panicked, hclog.NewNullLogger(), "a", "testing")
		panic("oh")
	}()
	for what, c := range map[string]struct {
		err  error
		want Outcome
	}{
		"a result":                   {nil, OK},
		"a panic":                    {panicked, Panicked},
		"a panic, of a server":       {fault.In("a", panicked), Panicked},
		"an internal error":          {fault.New(fault.Internal, "x"), Error},
		"a wrapped timeout":          {fmt.Errorf("x: %w", fault.New(fault.CallTimeout, "x")), Timeout},
		"a rate":                     {fault.New(fault.LimitRate, "x"), RateLimited},
		"the server's own rate":      {fault.New(fault.UpstreamLimited, "x"), Error},
		"the server's own refusal":   {fault.New(fault.UpstreamAuth, "x"), Error},
		"concurrency":                {fault.New(fault.LimitConcurrent, "x"), Overloaded},
		"a denied item":              {fault.New(fault.Denied, "x"), Denied},
		"a missing approval":         {fault.New(fault.ApprovalRequired, "x"), Denied},
		"a cancelled context":        {context.Canceled, Cancelled},
		"a deadline":                 {context.DeadlineExceeded, Timeout},
		"a timeout because of a ctx": {fault.Because(fault.CallTimeout, context.Canceled, "x"), Timeout},
		"another error":              {errors.New("x"), Error},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestEveryCodeHasAnOutcome classifies all codes, so that a new one is not an error by
// mistake: its number is part of this test.
func TestEveryCodeHasAnOutcome(t *testing.T) {
	count := map[Outcome]int{}
	for code := range fault.Codes {
		o := Of(fault.New(code, "x"))
		if !slices.Contains(All, o) || o == OK || o == Panicked || o == Unauthenticated {
			t.Errorf("%s: %q", code, o)
		}
		count[o]++
	}
	for o, want := range map[Outcome]int{Cancelled: 2, Timeout: 3, RateLimited: 1, Overloaded: 3, Denied: 4} {
		if count[o] != want {
			t.Errorf("%d codes are %s, want %d", count[o], o, want)
		}
	}
}
