package limit

import (
	"sync"
	"testing"
)

func sharedQuota(max int64) *Quota {
	q := NewQuota(max)
	q.Resize(max, true)
	return q
}

func TestQuotaLimitsTheTotal(t *testing.T) {
	q := NewQuota(3)
	for range 3 {
		if err := q.Acquire("ann", 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Acquire("bob", 1); err != ErrQuota {
		t.Errorf("the fourth of 3 units: %v", err)
	}
	q.Release("ann", 1)
	if err := q.Acquire("bob", 1); err != nil || q.Used() != 3 {
		t.Errorf("after a release: %v, %d units in use", err, q.Used())
	}
	if q.Each() != 0 {
		t.Errorf("limit per key without Share: %d", q.Each())
	}
}

func TestQuotaLimitsEachKeyToHalf(t *testing.T) {
	for _, c := range []struct{ max, each int64 }{{1, 1}, {2, 1}, {3, 2}, {4, 2}, {500, 250}} {
		q := sharedQuota(c.max)
		if err := q.Acquire("ann", c.each); err != nil {
			t.Errorf("%d of %d units: %v", c.each, c.max, err)
		}
		if want := q.Acquire("ann", 1); c.each < c.max && want != ErrQuotaShare || c.each == c.max && want != ErrQuota {
			t.Errorf("one more than %d of %d units: %v", c.each, c.max, want)
		}
		if err := q.Acquire("bob", c.max-c.each); err != nil {
			t.Errorf("the other half of %d units: %v", c.max, err)
		}
		if q.Each() != c.each || q.Used() != c.max {
			t.Errorf("limit per key %d, want %d; %d of %d units in use", q.Each(), c.each, q.Used(), c.max)
		}
	}
}

func TestQuotaForgetsKeysWithoutUnits(t *testing.T) {
	q := sharedQuota(10)
	for _, key := range []string{"ann", "bob"} {
		if err := q.Acquire(key, 2); err != nil {
			t.Fatal(err)
		}
		q.Release(key, 1)
		q.Release(key, 0)
		q.Release(key, 1)
	}
	if q.Used() != 0 || len(q.of) != 0 {
		t.Errorf("%d units in use, keys %v", q.Used(), q.of)
	}
}

func TestQuotaCountsUnitsOfAnotherCounter(t *testing.T) {
	q := sharedQuota(4)
	if err := q.AcquireBeside("ann", 1, 4, 0); err != ErrQuota {
		t.Errorf("4 of 4 units used elsewhere: %v", err)
	}
	if err := q.AcquireBeside("ann", 1, 2, 2); err != ErrQuotaShare {
		t.Errorf("the key uses its half elsewhere: %v", err)
	}
	if err := q.AcquireBeside("ann", 1, 3, 1); err != nil || q.Used() != 1 {
		t.Errorf("one unit is left: %v, %d units in use", err, q.Used())
	}
}

func TestQuotaConcurrently(t *testing.T) {
	q := sharedQuota(8)
	var work sync.WaitGroup
	for i := range 8 {
		key := string(rune('a' + i%3))
		work.Go(func() {
			for range 2000 {
				if q.Acquire(key, 2) == nil {
					if used := q.Used(); used < 2 {
						t.Errorf("%d units in use", used)
					}
					q.Release(key, 2)
				}
			}
		})
	}
	work.Wait()
	if q.Used() != 0 || len(q.of) != 0 {
		t.Errorf("%d units in use, keys %v", q.Used(), q.of)
	}
}

// TestQuotaResize changes the number of units while some are in use.
func TestQuotaResize(t *testing.T) {
	q := NewQuota(1)
	if err := q.Acquire("", 1); err != nil {
		t.Fatal(err)
	}
	q.Resize(4, true)
	if err := q.Acquire("ann", 2); err != nil {
		t.Errorf("two of 4 units: %v", err)
	}
	if err := q.Acquire("ann", 1); err != ErrQuotaShare {
		t.Errorf("more than half of 4 units: %v", err)
	}
	q.Resize(2, false)
	if err := q.Acquire("", 1); err != ErrQuota {
		t.Errorf("3 of 2 units are in use: %v", err)
	}
	q.Release("ann", 2)
	if err := q.Acquire("", 1); err != nil {
		t.Errorf("one of 2 units is in use: %v", err)
	}
	q.Release("", 2)
	if q.Used() != 0 || len(q.of) != 0 {
		t.Errorf("%d units in use, keys %v", q.Used(), q.of)
	}
}
