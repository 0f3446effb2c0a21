package limit

import (
	"sync"
	"testing"
)

var (
	ann  = Owner{"acme", "ann"}
	bob  = Owner{"acme", "bob"}
	zoe  = Owner{"zoo", "zoe"}
	half = Shares{Tenant: 6, Principal: 4}
)

func TestQuotaLimitsTheTotal(t *testing.T) {
	q := NewQuota(3)
	for range 3 {
		if err := q.Acquire(ann, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Acquire(bob, 1); err != ErrQuota {
		t.Errorf("the fourth of 3 units: %v", err)
	}
	if q.Count(bob, 1) {
		t.Error("the fourth of 3 units was counted")
	}
	q.Release(ann, 1)
	if err := q.Acquire(bob, 1); err != nil || q.Used() != 3 {
		t.Errorf("after a release: %v, %d units in use", err, q.Used())
	}
}

// TestQuotaShares takes units step by step, of 10 with 6 for a tenant and 4 for a
// principal.
func TestQuotaShares(t *testing.T) {
	q := NewQuota(10)
	q.Resize(10, half)
	for i, step := range []struct {
		owner Owner
		n     int64
		want  error
	}{
		{ann, 5, ErrPrincipalShare},
		{ann, 4, nil},
		{ann, 1, ErrPrincipalShare},
		{bob, 3, ErrTenantShare},
		{bob, 2, nil},
		{zoe, 4, nil},
		{zoe, 1, ErrPrincipalShare},
		{bob, 1, ErrTenantShare},
		{Owner{"other", "ann"}, 1, ErrQuota},
		{ann, -1, nil}, // a release
		{bob, 1, nil},
		{Owner{"other", "ann"}, 1, ErrQuota},
	} {
		var err error
		if step.n < 0 {
			q.Release(step.owner, -step.n)
		} else {
			err = q.Acquire(step.owner, step.n)
		}
		if err != step.want {
			t.Errorf("step %d: %v", i, err)
		}
	}
	if uses := q.Uses(); len(uses) != 3 || uses[0] != (Use{zoe, 4}) ||
		uses[1] != (Use{ann, 3}) && uses[1] != (Use{bob, 3}) {
		t.Errorf("in use: %v", uses)
	}
}

// TestQuotaCountsAboveShares checks that sessions which were there before still count.
func TestQuotaCountsAboveShares(t *testing.T) {
	q := NewQuota(10)
	q.Resize(10, half)
	if !q.Count(ann, 8) {
		t.Fatal("8 of 10 units were not counted")
	}
	if err := q.Acquire(ann, 1); err != ErrTenantShare {
		t.Errorf("above both shares: %v", err)
	}
	q.Release(ann, 5)
	if err := q.Acquire(ann, 1); err != nil {
		t.Errorf("3 units are in use: %v", err)
	}
}

func TestQuotaForgetsOwnersWithoutUnits(t *testing.T) {
	q := NewQuota(10)
	q.Resize(10, half)
	for _, owner := range []Owner{ann, bob, zoe} {
		if err := q.Acquire(owner, 2); err != nil {
			t.Fatal(err)
		}
		q.Release(owner, 1)
		q.Release(owner, 0)
		q.Release(owner, 1)
	}
	if q.Used() != 0 || len(q.by.principals)+len(q.by.tenants) != 0 {
		t.Errorf("%d units in use by %v of %v", q.Used(), q.by.principals, q.by.tenants)
	}
}

func TestQuotaConcurrently(t *testing.T) {
	q := NewQuota(8)
	q.Resize(8, half)
	var work sync.WaitGroup
	for i := range 8 {
		owner := []Owner{ann, bob, zoe}[i%3]
		work.Go(func() {
			for range 2000 {
				if q.Acquire(owner, 2) == nil {
					if used := q.Used(); used < 2 {
						t.Errorf("%d units in use", used)
					}
					q.Release(owner, 2)
				}
			}
		})
	}
	work.Wait()
	if q.Used() != 0 || len(q.by.principals)+len(q.by.tenants) != 0 {
		t.Errorf("%d units in use by %v", q.Used(), q.by.principals)
	}
}

// TestQuotaResize changes the number of units and the shares while some are in use. Units
// that were taken without shares count for them.
func TestQuotaResize(t *testing.T) {
	q := NewQuota(2)
	if err := q.Acquire(ann, 2); err != nil {
		t.Fatal(err)
	}
	q.Resize(6, Shares{Principal: 3})
	if err := q.Acquire(ann, 2); err != ErrPrincipalShare {
		t.Errorf("4 units, of which a principal may use 3: %v", err)
	}
	if err := q.Acquire(ann, 1); err != nil {
		t.Errorf("3 units: %v", err)
	}
	q.Resize(2, Shares{})
	if err := q.Acquire(Owner{}, 1); err != ErrQuota {
		t.Errorf("3 of 2 units are in use: %v", err)
	}
	q.Release(ann, 2)
	if err := q.Acquire(ann, 1); err != nil {
		t.Errorf("one of 2 units is in use: %v", err)
	}
}

// TestRefusedRequestsLeaveTheTotalToOthers has clients whose share is used up ask again and
// again, while another client takes the only free unit and returns it.
func TestRefusedRequestsLeaveTheTotalToOthers(t *testing.T) {
	q := NewQuota(2)
	q.Resize(2, Shares{Principal: 1})
	if err := q.Acquire(ann, 1); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var flood sync.WaitGroup
	for range 4 {
		flood.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := q.Acquire(ann, 1); err != ErrPrincipalShare {
					t.Errorf("above the share: %v", err)
					return
				}
			}
		})
	}
	for i := range 100_000 {
		if err := q.Acquire(zoe, 1); err != nil {
			t.Errorf("call %d of another client: %v", i, err)
			break
		}
		q.Release(zoe, 1)
	}
	close(stop)
	flood.Wait()
}
