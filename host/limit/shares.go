package limit

import (
	"cmp"
	"errors"
	"slices"
	"sync"
)

// DefaultConnections is the number of connections to one server that clients do not share.
const DefaultConnections = 1000

// Shares limit what one tenant and one principal use of something at one time. Zero is
// no limit.
type Shares struct{ Tenant, Principal int64 }

// An Owner is who uses something: a principal of a tenant. The zero Owner counts in
// total only.
type Owner struct {
	Tenant string
	Key    string // of the principal, unique among all tenants
}

// The errors above a share.
var (
	ErrTenantShare    = errors.New("the tenant has reached its share of a limit")
	ErrPrincipalShare = errors.New("the client has reached its share of a limit")
)

// IsShare reports whether an error says that a share is used up.
func IsShare(err error) bool {
	return errors.Is(err, ErrTenantShare) || errors.Is(err, ErrPrincipalShare)
}

// A Use is what one owner uses of something.
type Use struct {
	Owner
	Units int64
}

// A ledger counts what each tenant and each principal uses. It is part of a Quota or a Memory,
// and may be used concurrently.
type ledger struct {
	mu         sync.Mutex
	shares     Shares           // guarded by mu
	tenants    map[string]int64 // guarded by mu; units
	principals map[Owner]int64  // guarded by mu; units
}

func newLedger() ledger {
	return ledger{tenants: map[string]int64{}, principals: map[Owner]int64{}}
}

func (l *ledger) setShares(s Shares) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shares = s
}

// enter counts n more units of an owner. The error is ErrTenantShare or
// ErrPrincipalShare, and nothing is counted then. A user of mine units that grows to
// small at most is never refused if the owner has no others.
func (l *ledger) enter(o Owner, n, mine, small int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused := func(has, share int64) bool {
		return share > 0 && has+n > share && (has > mine || mine+n > small)
	}
	switch {
	case refused(l.tenants[o.Tenant], l.shares.Tenant):
		return ErrTenantShare
	case refused(l.principals[o], l.shares.Principal):
		return ErrPrincipalShare
	}
	l.count(o, n)
	return nil
}

// add counts n more units of an owner, whatever its shares are. n may be negative.
func (l *ledger) add(o Owner, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(o, n)
}

// count is add for callers that hold mu.
func (l *ledger) count(o Owner, n int64) {
	if l.tenants[o.Tenant] += n; l.tenants[o.Tenant] <= 0 {
		delete(l.tenants, o.Tenant)
	}
	if l.principals[o] += n; l.principals[o] <= 0 {
		delete(l.principals, o)
	}
}

// all returns what each principal uses, the largest use first.
func (l *ledger) all() []Use {
	l.mu.Lock()
	list := make([]Use, 0, len(l.principals))
	for o, n := range l.principals {
		list = append(list, Use{o, n})
	}
	l.mu.Unlock()
	slices.SortFunc(list,
		func(a, b Use) int { return cmp.Or(cmp.Compare(b.Units, a.Units), cmp.Compare(a.Key, b.Key)) })
	return list
}
