package buffer

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestBudget takes places until there is none, waits for one, and gives all back.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewBudget(programMemory + copies*(10<<20))
		take := func(n int64) func() {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			leave, err := r.Take(ctx, n)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			return leave
		}
		small, first, second := take(Large-1), take(6<<20), take(4<<20)
		if small == nil || first == nil || second == nil {
			t.Fatal("there is no place in an empty budget")
		}
		if take(1<<20) != nil {
			t.Error("a full budget has a place")
		}
		go func() { bubble.Sleep(time.Millisecond); first(); first() }()
		third := take(6 << 20)
		if third == nil {
			t.Fatal("a place that was given back is not used")
		}
		second()
		third()
		if whole := take(1 << 30); whole == nil || take(Large) != nil {
			t.Error("a message that is larger than the budget is not read alone")
		}
		if leave, err := NewBudget(math.MaxInt64).Take(t.Context(), 1<<40); err != nil || leave == nil {
			t.Error("without a limit there is no place for a message")
		}
	})
}
