package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

const (
	// MaxKept limits the calls that wait, were approved or were denied, of all clients.
	MaxKept = 1000
	// MaxWaitingPerPrincipal limits the calls of one principal that wait.
	MaxWaitingPerPrincipal = 50

	maxKept = 64 << 10 // bytes of arguments of a call that may wait
)

// A Store holds the calls that wait, and those that were approved or denied. Its methods
// may be called concurrently. Its maker calls Close. observe is set before the first use.
type Store struct {
	mu      sync.Mutex
	byKey   map[Key]*Pending // guarded by mu
	changed chan struct{}    // guarded by mu; closed at the next answer
	share   int              // guarded by mu; of one tenant in MaxKept
	observe func(Pending)    // nil: see Observe
	disk    *disk            // guarded by mu; nil: see Keep
	closed  bool             // guarded by mu
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{byKey: map[Key]*Pending{}, changed: make(chan struct{}), share: MaxKept}
}

// SetShare sets how many of the MaxKept calls one tenant may have; 0: all of them. Calls
// above a smaller share are kept. A nil Store has none.
func (s *Store) SetShare(tenant int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share = MaxKept
	if tenant > 0 {
		s.share = int(min(tenant, MaxKept))
	}
}

// Observe sets a function that is called for each call that begins to wait, and when it is
// approved or denied, or expires or is revoked. The function must neither wait nor call the store. Observe must be
// called before anything else.
func (s *Store) Observe(f func(Pending)) { s.observe = f }

// tell calls the function of Observe. The caller holds mu.
func (s *Store) tell(p *Pending) {
	if s.observe != nil {
		s.observe(*p)
	}
}

// tellAs tells of an entry that is gone. The caller holds mu.
func (s *Store) tellAs(p *Pending, state State) {
	gone := *p
	gone.State = state
	s.tell(&gone)
}

// expire removes the entries that are too old, when one is due.
func (s *Store) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.forget()
	}
}

// Revoke takes back an approval that was not used up. Operators and the approvers of the rule
// may. Calls that were made stay made; the next one needs an approval again.
func (s *Store) Revoke(id string, who Person, rules *policy.Policy) (*Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	p := s.find(id)
	switch {
	case p == nil:
		return nil, fault.New(fault.ApprovalUnknown, "nothing was approved under %q", id).
			WithHint("junctor approvals lists what was")
	case p.State != Approved:
		return nil, fault.New(fault.ApprovalUnknown, "%q is %s, and not approved", id, p.State).
			WithHint("a call that waits is denied with junctor approvals deny %s", id)
	}
	if err := p.mayRevoke(who, rules); err != nil {
		return nil, err
	}
	delete(s.byKey, p.Call.Key())
	s.keep(p.Call.Key(), nil)
	gone := *p
	gone.State, gone.By, gone.Given = Revoked, who.Name, nil
	s.tell(&gone)
	return &gone, nil
}

// Use implements [Gate].
func (s *Store) Use(c *Call) (ok bool, err error) {
	s.mu.Lock()
	s.renew(c)
	s.forget()
	ok, err = s.use(s.byKey[c.Key()], c)
	s.mu.Unlock()
	if ok && c.Terms.Covers == policy.CoversCall {
		s.flush()
	}
	return ok, err
}

// renew gives the entry of a call the times of the rule in effect: a reload may have made them
// shorter since it was added or answered. The caller holds mu.
func (s *Store) renew(c *Call) {
	k := c.Key()
	p := s.byKey[k]
	if p == nil || c.Terms.Valid >= p.Call.Terms.Valid {
		return
	}
	from := p.Since
	if n := len(p.Given); n > 0 && p.State != Waiting {
		from = p.Given[n-1].At
	}
	shorter := *p.Call // the entry's call is read without the lock
	shorter.Terms.Valid = c.Terms.Valid
	p.Call = &shorter
	if ends := from.Add(c.Terms.Valid); ends.Before(p.Expires) {
		p.Expires = ends
	}
	s.keep(k, p)
}

// flush waits until the disk has what was changed. It blocks; the caller must not hold mu.
func (s *Store) flush() {
	s.mu.Lock()
	d := s.disk
	s.mu.Unlock()
	d.flush()
}

// use uses an entry, which may be nil. The caller holds mu.
func (s *Store) use(p *Pending, c *Call) (ok bool, err error) {
	switch {
	case p == nil:
	case p.State == Approved && !p.stillApart(c):
		delete(s.byKey, c.Key())
		s.keep(c.Key(), nil)
	case p.State == Approved:
		c.found(p)
		if c.Terms.Covers == policy.CoversCall {
			p.State = Used
			s.keep(c.Key(), p)
		}
		return true, nil
	case p.State == Denied:
		c.found(p)
		return false, fault.In(c.Item.Server, fault.New(fault.ApprovalDenied, "%s %q was not approved%s",
			c.Item.Kind, c.Item.Name, because(p)).
			WithHint("do not send it again; ask the person who denied it"))
	}
	return false, nil
}

// Confirm implements [Gate]. Of identical calls that wait, the last one goes on and the
// others end: a client that has given one up and sends it again wants it once.
func (s *Store) Confirm(ctx context.Context, c *Call) error {
	deadline := time.Now().Add(c.Terms.Wait)
	turn, told := 0, ""
	for {
		p, changed, err := s.look(c, &turn)
		if err == nil && p == nil {
			s.flush()
		}
		if err != nil || p == nil {
			return err
		}
		wait := time.Until(deadline)
		if wait <= 0 {
			return requiredError(p)
		}
		if c.Waits != nil && told != p.ID {
			told = p.ID
			c.Waits(p.ID)
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fault.Because(fault.CallCanceled, ctx.Err(),
				"the call was given up while it waited for the approval %s", p.ID).
				WithHint("send the same request again; what was approved stays approved")
		}
		timer.Stop()
	}
}

// look uses an approval, or returns the entry that waits. Both results are nil for a call
// that may proceed. turn is 0 for a call that begins to wait; look sets it to the number of
// the call among identical ones.
func (s *Store) look(c *Call, turn *int) (_ *Pending, changed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renew(c)
	s.forget()
	k := c.Key()
	p := s.byKey[k]
	if p != nil && *turn > 0 && *turn < p.Times && c.Terms.Covers == policy.CoversCall {
		return nil, nil, fault.In(c.Item.Server, fault.New(fault.CallCanceled,
			"the same call was sent again while this one waited for an approval, and waits in its place").
			WithHint("nothing was called; the answer goes to the later request"))
	}
	if ok, err := s.use(p, c); ok || err != nil {
		return nil, nil, err
	}
	if p == nil || p.State == Used {
		if p, err = s.add(k, c); err != nil {
			return nil, nil, err
		}
		s.tell(p)
	}
	c.found(p)
	if *turn == 0 || p.Times == 0 {
		p.Times++
		*turn = p.Times
		s.keep(k, p)
		if p.Times > 1 {
			s.announce() // to the calls before
		}
	}
	return p, s.changed, nil
}

// add adds a call that waits. The caller holds mu.
func (s *Store) add(k Key, c *Call) (*Pending, error) {
	if err := s.makeRoom(c); err != nil {
		return nil, fault.In(c.Item.Server, err)
	}
	if len(c.Arguments)+len(c.Others) > maxKept {
		return nil, fault.In(c.Item.Server, fault.New(fault.ApprovalDenied,
			"the arguments have more than %d KiB, which no person can judge", maxKept>>10))
	}
	kept := *c
	kept.Waits, kept.Finds = nil, nil
	kept.Arguments, kept.Others = slices.Clone(c.Arguments), slices.Clone(c.Others)
	now := time.Now()
	p := &Pending{ID: s.newID(), Call: &kept, Since: now, Expires: now.Add(c.Terms.Valid), State: Waiting}
	s.byKey[k] = p
	time.AfterFunc(c.Terms.Valid+time.Millisecond, s.expire)
	return p, nil
}

// makeRoom returns nil if the limits allow one more entry. It removes an entry of a call
// that was made, of the tenant or of all, if that makes the room. The caller holds mu.
func (s *Store) makeRoom(c *Call) *fault.Error {
	tenant := c.Principal.Tenant
	waiting, ofTenant := 0, 0
	for _, p := range s.byKey {
		if p.Call.Principal.Tenant == tenant {
			ofTenant++
		}
		if p.State == Waiting && p.Call.Principal.Same(c.Principal) {
			waiting++
		}
	}
	const reached = "approval limit reached: "
	switch {
	case waiting >= MaxWaitingPerPrincipal:
		return fault.New(fault.GatewayOverloaded, reached+"%d calls of this client wait, which is its share of %d",
			waiting, MaxKept).
			WithHint("wait until some are answered")
	case ofTenant >= s.share && s.share < MaxKept &&
		!s.forgetUsed(func(p *Pending) bool { return p.Call.Principal.Tenant == tenant }):
		return fault.New(fault.GatewayOverloaded,
			reached+"%d calls of this tenant wait or were answered, which is its share of %d", ofTenant, MaxKept).
			WithHint("wait until some are answered or expire")
	case len(s.byKey) >= MaxKept && !s.forgetUsed(func(*Pending) bool { return true }):
		return fault.New(fault.GatewayOverloaded, reached+"%d calls of all clients wait or were answered", MaxKept).
			WithHint("wait until some are answered or expire")
	}
	return nil
}

// letters of ids: none that looks like another one.
const letters = "abcdefghjkmnpqrstuvwxyz"

// newID returns an id that no entry has. The caller holds mu.
func (s *Store) newID() string {
	for {
		b := make([]byte, 6)
		_, _ = rand.Read(b) // never fails
		for i := range b {
			b[i] = letters[int(b[i])%len(letters)]
		}
		if s.find(string(b)) == nil {
			return string(b)
		}
	}
}

// find returns the entry with an id, or nil. The caller holds mu.
func (s *Store) find(id string) *Pending {
	for _, p := range s.byKey {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// forget removes the entries that are too old. The caller holds mu.
func (s *Store) forget() {
	now := time.Now()
	for k, p := range s.byKey {
		if now.After(p.Expires) {
			delete(s.byKey, k)
			s.keep(k, nil)
			if p.State == Waiting {
				s.tellAs(p, Expired)
			}
		}
	}
}

// forgetUsed removes the oldest entry of a call that was made, of those that match. It
// reports whether there was one. The caller holds mu.
func (s *Store) forgetUsed(match func(*Pending) bool) bool {
	var oldest *Pending
	var at Key
	for k, p := range s.byKey {
		if p.State == Used && match(p) && (oldest == nil || p.Since.Before(oldest.Since)) {
			oldest, at = p, k
		}
	}
	if oldest == nil {
		return false
	}
	delete(s.byKey, at)
	s.keep(at, nil)
	return true
}

// Approve implements [Gate]. An approval for one call is not kept: the call goes on.
func (s *Store) Approve(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := c.Key()
	p := s.byKey[k]
	if p == nil {
		var err error
		if p, err = s.add(k, c); err != nil {
			return
		}
	}
	c.found(p)
	p.By, p.State, p.Expires = "the client", Approved, time.Now().Add(c.Terms.Valid)
	if c.Terms.Covers == policy.CoversCall {
		p.State = Used
	}
	s.announce()
	s.tell(p)
	s.keep(k, p)
}

// announce wakes the calls that wait. The caller holds mu.
func (s *Store) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Waiting returns the number of calls that wait. A nil Store has none.
func (s *Store) Waiting() (n int) {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	for _, p := range s.byKey {
		if p.State == Waiting {
			n++
		}
	}
	return n
}

// All returns the entries, those that wait first, and of them the oldest first.
func (s *Store) All() []Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	var all []Pending
	for _, p := range s.byKey {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Pending) int {
		rank := func(p Pending) int { return map[State]int{Waiting: 0, Approved: 1, Denied: 2, Used: 3}[p.State] }
		return cmp.Or(rank(a)-rank(b), a.Since.Compare(b.Since))
	})
	return all
}

// A required is the cause of the error of a call that waits.
type required struct{ id string }

func (r *required) Error() string { return "the approval " + r.id + " waits" }

// WaitingID returns the id of the approval that a call waits for, or "" for other errors.
func WaitingID(err error) string {
	if r, ok := errors.AsType[*required](err); ok {
		return r.id
	}
	return ""
}

// requiredError returns the error of a call that waits.
func requiredError(p *Pending) error {
	valid := p.Call.Terms.Valid
	f := fault.New(fault.ApprovalRequired, "%s %q needs an approval, which waits under the id %s",
		p.Call.Item.Kind, p.Call.Item.Name, p.ID).
		WithHint("ask the operator of the gateway to approve it in the console or with `junctor approvals approve`; then send the same request again within %s",
			short(valid))
	if needs := p.Call.Terms.Needs(); needs != "" {
		f = f.WithHint("it needs %s; send the same request again within %s", needs, short(valid))
	}
	f.Err = &required{p.ID}
	return fault.In(p.Call.Item.Server, f)
}

func short(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", int(d/time.Minute))
	}
	return d.String()
}

func errNowhere() error {
	return fault.New(fault.ApprovalRequired, "this needs an approval, and a single command does not wait for one").
		WithHint("call the tool through junctor serve; junctor approvals then shows the call")
}
