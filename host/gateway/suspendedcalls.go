package gateway

import (
	"errors"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/seal"
)

const (
	suspendTime = AskTime
	// MaxSuspended limits the suspended calls of all clients.
	MaxSuspended = 1000
	// MaxSuspendedPerPrincipal limits those of one principal.
	MaxSuspendedPerPrincipal = 100
)

// suspendedCalls holds the calls that are suspended while their clients answer questions. A call that its
// client does not continue within suspendTime is abandoned. The Gateway has one. Its methods may be called
// concurrently. It owns a call from add until take; the request that takes the call owns it then.
type suspendedCalls struct {
	quota *limit.Quota
	work  sync.WaitGroup // calls that are being abandoned

	mu      sync.Mutex
	calls   map[seal.ID]*suspension // guarded by mu
	refused bool                    // guarded by mu; see refuse
}

// A suspension is a suspended call with its timer. It does not change once it is in calls.
type suspension struct {
	call  *suspendedCall
	owner limit.Owner
	timer *time.Timer
}

func newSuspendedCalls() *suspendedCalls {
	s := &suspendedCalls{quota: limit.NewQuota(MaxSuspended), calls: map[seal.ID]*suspension{}}
	s.setShares(limit.Shares{Principal: MaxSuspendedPerPrincipal})
	return s
}

// setShares sets the shares of tenants and principals.
func (s *suspendedCalls) setShares(shares limit.Shares) { s.quota.Resize(MaxSuspended, shares) }

// add keeps a call until its client comes back with the state. u is the use of the request that
// ends with the question.
func (s *suspendedCalls) add(c *suspendedCall, u *use) (state string, err error) {
	p := &suspension{call: c, owner: u.principal.Owner()}
	id := seal.NewID()
	if state, err = u.sealCall(id); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused {
		return "", errStopping
	}
	if err := s.quota.Acquire(p.owner, 1); err != nil {
		return "", faultError(suspendedError(err), u.modern())
	}
	c.setRequest(nil)
	s.calls[id] = p
	p.timer = time.AfterFunc(suspendTime, func() { s.expire(id) })
	return state, nil
}

// suspendedError returns the error of a call that cannot be suspended, from that of the quota.
func suspendedError(err error) *fault.Error {
	const full = "suspended call limit reached: "
	switch {
	case errors.Is(err, limit.ErrPrincipalShare):
		return fault.New(fault.GatewayOverloaded, full+"%d calls wait for this client", MaxSuspendedPerPrincipal)
	case errors.Is(err, limit.ErrTenantShare):
		return fault.New(fault.GatewayOverloaded, full+"the tenant's share of %d calls wait for its clients",
			MaxSuspended)
	}
	return fault.New(fault.GatewayOverloaded, full+"%d calls wait for their clients", MaxSuspended)
}

// expire abandons a call that its client has not continued.
func (s *suspendedCalls) expire(id seal.ID) {
	s.mu.Lock()
	defer s.mu.Unlock() // after work.Go, because stop waits for work once it has held mu
	if c := s.takeLocked(id); c != nil {
		s.work.Go(func() { c.abandon(fault.New(fault.CallTimeout, "the client did not come back with an answer")) })
	}
}

// take removes and returns the suspended call with the id of a state; nil when there is none.
func (s *suspendedCalls) take(id seal.ID) *suspendedCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeLocked(id)
}

// takeLocked is take for callers that hold mu.
func (s *suspendedCalls) takeLocked(id seal.ID) *suspendedCall {
	p := s.calls[id]
	if p == nil {
		return nil
	}
	delete(s.calls, id)
	s.quota.Release(p.owner, 1)
	p.timer.Stop()
	return p.call
}

// count returns the number of suspended calls.
func (s *suspendedCalls) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// refuse makes add fail from now on.
func (s *suspendedCalls) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = true
}

// stop abandons all calls and waits for their ends. refuse must have been called.
func (s *suspendedCalls) stop() {
	s.mu.Lock()
	var all []*suspendedCall
	for id := range s.calls {
		all = append(all, s.takeLocked(id))
	}
	s.mu.Unlock()
	for _, c := range all {
		c.abandon(errStopping)
	}
	s.work.Wait()
}
