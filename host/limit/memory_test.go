package limit

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

const mib = 1 << 20

func hold(t *testing.T, m *Memory, n int) *Hold {
	t.Helper()
	h, err := m.Hold(n)
	if err != nil {
		t.Fatalf("%d bytes with %d of %d held: %v", n, m.Used(), m.Most(), err)
	}
	return h
}

func TestMemoryRefusesAboveTheLimit(t *testing.T) {
	m := NewMemory(32 * mib)
	a := hold(t, m, 16*mib)
	b := hold(t, m, 16*mib)
	if _, err := m.Hold(Small + 1); err != ErrFull {
		t.Errorf("a large message above the limit: %v", err)
	}
	if err := a.Grow(Small + 1); err != ErrFull {
		t.Errorf("growing above the limit: %v", err)
	}
	a.Release()
	a.Release()
	if m.Used() != 16*mib {
		t.Errorf("after two releases of one hold %d bytes are held", m.Used())
	}
	hold(t, m, 16*mib).Release()
	b.Release()
	if m.Used() != 0 {
		t.Errorf("%d bytes are held", m.Used())
	}
}

func TestMemoryKeepsAReserveForSmallMessages(t *testing.T) {
	m := NewMemory(32 * mib)
	defer hold(t, m, 32*mib).Release()
	var small []*Hold
	for {
		h, err := m.Hold(Small)
		if err != nil {
			break
		}
		small = append(small, h)
	}
	if got := len(small) * Small; got != 4*mib {
		t.Errorf("%d bytes of small messages fit", got)
	}
	for _, h := range small {
		h.Release()
	}
}

func TestMemoryShare(t *testing.T) {
	m := NewMemory(32 * mib)
	m.SetShares(Shares{Principal: m.Most() / 2})
	mine := hold(t, m, 10*mib)
	if err := mine.Assign(ann); err != nil {
		t.Fatal(err)
	}
	more := hold(t, m, 7*mib)
	if err := more.Assign(ann); err != ErrMemoryShare {
		t.Errorf("17 MiB of a share of 16 MiB: %v", err)
	}
	if err := more.Assign(bob); err != nil {
		t.Errorf("7 MiB of another principal: %v", err)
	}
	if err := mine.Grow(7 * mib); err != ErrMemoryShare || m.Used() != 17*mib {
		t.Errorf("growing above the share: %v, %d bytes", err, m.Used())
	}
	if err := mine.Grow(5 * mib); err != nil {
		t.Error(err)
	}
	mine.Release()
	more.Release()
	if len(m.by.principals) != 0 || m.Used() != 0 {
		t.Errorf("after all releases: shares %v, %d bytes", m.by.principals, m.Used())
	}
}

// TestMemoryShareOfATenant checks that the principals of a tenant share its part, that a
// small message of a tenant without others passes, and that shares can be taken back.
func TestMemoryShareOfATenant(t *testing.T) {
	m := NewMemory(32 * mib)
	m.SetShares(Shares{Tenant: 10 * mib})
	mine, err := m.HoldFor(ann, 6*mib)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.HoldFor(bob, 5*mib); err != ErrMemoryShare {
		t.Errorf("11 of 10 MiB of the tenant: %v", err)
	}
	other, err := m.HoldFor(zoe, 10*mib)
	if err != nil {
		t.Errorf("10 MiB of another tenant: %v", err)
	}
	m.SetShares(Shares{Tenant: 1})
	if _, err := m.HoldFor(bob, Small); err != ErrMemoryShare {
		t.Errorf("a small message of a tenant above its share: %v", err)
	}
	mine.Release()
	small, err := m.HoldFor(bob, Small)
	if err != nil {
		t.Errorf("a small message of a tenant without others: %v", err)
	}
	m.SetShares(Shares{})
	free, err := m.HoldFor(bob, 20*mib)
	if err != nil {
		t.Errorf("without shares: %v", err)
	}
	for _, h := range []*Hold{other, small, free} {
		h.Release()
	}
	if len(m.by.principals)+len(m.by.tenants) != 0 || m.Used() != 0 {
		t.Errorf("after all releases: %v, %v, %d bytes", m.by.principals, m.by.tenants, m.Used())
	}
}

func TestMemoryCountsBytesWithABoundOfTheirOwn(t *testing.T) {
	m := NewMemory(mib)
	m.Count(2 * mib)
	if !m.Full() || !m.Half() {
		t.Error("2 of 1 MiB do not count as full")
	}
	if _, err := m.Hold(1); err != ErrFull {
		t.Errorf("a hold above the limit: %v", err)
	}
	m.Count(-2 * mib)
	if m.Full() || m.Half() {
		t.Error("an empty Memory counts as full")
	}
}

// TestForgottenHoldIsReturned checks that a hold that was never released
// returns its bytes when it is garbage collected.
func TestForgottenHoldIsReturned(t *testing.T) {
	m := NewMemory(mib)
	hold(t, m, 1000)
	eventually.NoError(t, func() error {
		if n := m.Used(); n > 0 {
			runtime.GC()
			return fmt.Errorf("%d bytes are held", n)
		}
		return nil
	})
}

// TestMemoryResize changes the limit while bytes are held.
func TestMemoryResize(t *testing.T) {
	m := NewMemory(16 * mib)
	m.SetShares(Shares{Principal: m.Most() / 2})
	mine := hold(t, m, 8*mib)
	if err := mine.Assign(ann); err != nil {
		t.Fatal(err)
	}
	m.Resize(32 * mib)
	m.SetShares(Shares{Principal: 16 * mib})
	if err := mine.Grow(8 * mib); err != nil || m.Most() != 32*mib {
		t.Errorf("16 of a share of 16 MiB: %v", err)
	}
	m.Resize(8 * mib)
	if _, err := m.Hold(mib); err != ErrFull || !m.Full() {
		t.Errorf("17 of 8 MiB: %v", err)
	}
	mine.Release()
	hold(t, m, 8*mib).Release()
}

func TestNilMemory(t *testing.T) {
	var m *Memory
	m.SetShares(Shares{Principal: m.Most() / 2})
	m.Resize(1)
	m.Count(1)
	h, err := m.Hold(1 << 40)
	if err != nil || h.Grow(1) != nil || h.Assign(ann) != nil || m.Full() || m.Half() || m.Used()+m.Most() != 0 {
		t.Error("a nil Memory refuses")
	}
	h.Release()
}

func TestMemoryConcurrently(t *testing.T) {
	m := NewMemory(mib)
	m.SetShares(Shares{Principal: m.Most() / 2})
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for range 2000 {
				h, err := m.Hold(100_000)
				if err != nil {
					continue
				}
				_ = h.Assign([]Owner{ann, bob, zoe}[i%3])
				_ = h.Grow(50_000)
				h.Release()
			}
		})
	}
	work.Wait()
	if m.Used() != 0 || len(m.by.principals) != 0 {
		t.Errorf("%d bytes, %v", m.Used(), m.by.principals)
	}
}

func TestHoldForReleasesRefusedBytes(t *testing.T) {
	m := NewMemory(8 << 20)
	m.SetShares(Shares{Principal: m.Most() / 2})
	first, err := m.HoldFor(ann, 3<<20)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := m.HoldFor(ann, 2<<20); h != nil || err != ErrMemoryShare || m.Used() != 3<<20 {
		t.Errorf("above the share: %v, %v; %d bytes are held", h, err, m.Used())
	}
	if h, err := m.HoldFor(bob, 6<<20); h != nil || err != ErrFull {
		t.Errorf("above the limit: %v, %v", h, err)
	}
	first.Release()
	if m.Used() != 0 {
		t.Errorf("%d bytes are held", m.Used())
	}
}
