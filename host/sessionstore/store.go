package sessionstore

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
)

// Limits are the limits of a store that may change while it is open.
type Limits struct {
	Max    int           // sessions at one time; 0: 1000
	Shares limit.Shares  // of Max
	Idle   time.Duration // time without use after which a session ends; 0: 5 minutes
	Life   time.Duration // maximum age of a session; 0: 24 hours
	Events int           // kept per session; 0: 10000
}

// Options configure a store. They do not change after Open. The functions may be called
// concurrently; Begin must not look for its session in the store.
type Options struct {
	Limits              // those at the start; see Store.SetLimits
	Path   string       // directory of the files; empty: memory only
	Log    hclog.Logger // nil: no log
	// Quota counts the sessions, and others that the caller keeps elsewhere. The store sets
	// its size. Nil: only those of the store count.
	Quota *limit.Quota
	// Owner returns who has a session, from Session.Owner; nil: it counts in total only.
	Owner  func(owner string) limit.Owner
	Budget *limit.Memory // counts the bytes of all logs, which take half of it at most; nil: no count
	// Begin, when not nil, is called once for each session that is created or
	// restored, before the session is published. Its result becomes
	// Session.Client.
	Begin func(*Session) any
	// Ended, when not nil, is called once for each session that ends in this
	// process, without locks held.
	Ended func(*Session)
}

func (l *Limits) setDefaults() {
	if l.Max <= 0 {
		l.Max = 1000
	}
	if l.Idle <= 0 {
		l.Idle = 5 * time.Minute
	}
	if l.Life <= 0 {
		l.Life = 24 * time.Hour
	}
	if l.Events <= 0 {
		l.Events = 10_000
	}
}

// A Store holds the sessions of one gateway. Its methods may be called
// concurrently. Its opener calls Close, which may be called more than once.
type Store struct {
	o        Options
	current  atomic.Pointer[Limits]
	limits   *limits
	disk     *disk         // nil for memory only
	relimits chan struct{} // holds a token after SetLimits
	stop     chan struct{}
	done     chan struct{} // closed when the janitor has ended
	ended    chan struct{} // closed when Close has returned

	mu     sync.Mutex
	closed bool             // guarded by mu
	slots  map[string]*slot // guarded by mu
}

// A slot is the entry of a session, which may be only in the file. The store's
// mu guards it.
type slot struct {
	owner   string
	session *Session      // nil while it is only in the file
	loading chan struct{} // not nil while a goroutine loads the session, then closed

	// Set for a session that is only in the file.
	file       string // name of the file
	born, used time.Time
}

// Open returns a store. With a path it takes over the sessions in the directory,
// and renames files that it cannot use. A directory that is in use by another
// process is an error.
func Open(o Options) (*Store, error) {
	o.Limits.setDefaults()
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Quota == nil {
		o.Quota = limit.NewQuota(0)
	}
	if o.Owner == nil {
		o.Owner = func(string) limit.Owner { return limit.Owner{} }
	}
	o.Quota.Resize(int64(o.Max), o.Shares)
	s := &Store{
		o: o, limits: newLimits(o.Events, o.Max, o.Budget), slots: map[string]*slot{}, relimits: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{}),
	}
	s.current.Store(&o.Limits)
	if o.Path != "" {
		if err := s.openDisk(); err != nil {
			return nil, err
		}
	}
	go s.janitor()
	return s, nil
}

// SetLimits changes the limits, and adapts the bounds of the logs to the limit of
// Options.Budget. Sessions that exceed the new limits end when they are due; sessions
// above a smaller Max stay.
func (s *Store) SetLimits(l Limits) {
	l.setDefaults()
	s.current.Store(&l)
	s.o.Quota.Resize(int64(l.Max), l.Shares)
	s.limits.set(l.Events, l.Max)
	select {
	case s.relimits <- struct{}{}:
	default:
	}
}

// New creates a session for an owner. The error is ErrClosed or that of the quota.
func (s *Store) New(owner string, state []byte) (*Session, error) {
	now := time.Now()
	x := s.newSession(newID(), owner)
	x.state, x.born, x.used = bytes.Clone(state), now, now
	if err := s.reserve(x); err != nil {
		return nil, err
	}
	x.disk.save()
	return s.publish(x)
}

// newSession returns a session that is not published yet.
func (s *Store) newSession(id, owner string) *Session {
	x := &Session{ID: id, Owner: owner, store: s, done: make(chan struct{})}
	x.disk = s.disk.newState(x, fileName(id))
	x.log = newLog(s.limits, x.disk)
	return x
}

// reserve adds a slot for a session. The error is ErrClosed or that of the quota.
func (s *Store) reserve(x *Session) error {
	owner := s.o.Owner(x.Owner)
	err := s.o.Quota.Acquire(owner, 1)
	if err != nil {
		s.expire() // the janitor may be late
		err = s.o.Quota.Acquire(owner, 1)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.o.Quota.Release(owner, 1)
		return ErrClosed
	}
	s.slots[x.ID] = &slot{owner: x.Owner, loading: make(chan struct{})}
	return nil
}

// publish makes a session available to Find. The caller has set slot.loading.
func (s *Store) publish(x *Session) (*Session, error) {
	if s.o.Begin != nil {
		x.Client = s.o.Begin(x)
	}
	s.mu.Lock()
	slot, closed := s.slots[x.ID], s.closed
	if slot != nil {
		slot.session = x
		close(slot.loading)
		slot.loading = nil
	}
	s.mu.Unlock()
	if closed {
		x.unload()
		return nil, ErrClosed
	}
	return x, nil
}

// Find returns the session of an owner. The error is ErrUnknown whether the
// session never existed, has ended or belongs to another owner. It can also be
// ErrClosed or an error of the file. It may block while another goroutine loads the session
// from its file.
func (s *Store) Find(id, owner string) (*Session, error) {
	for {
		s.mu.Lock()
		slot := s.slots[id]
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, ErrClosed
		case slot == nil || slot.owner != owner:
			s.mu.Unlock()
			return nil, ErrUnknown
		case slot.session != nil:
			x := slot.session
			s.mu.Unlock()
			if !x.touch() {
				x.endIfDue(time.Now())
				return nil, ErrUnknown
			}
			return x, nil
		case slot.loading != nil:
			woken := slot.loading
			s.mu.Unlock()
			<-woken
		default:
			slot.loading = make(chan struct{})
			s.mu.Unlock()
			return s.restore(id, slot)
		}
	}
}

// due returns the reason why a session that is not held must end, or an empty
// string.
func (s *Store) due(now, born, used time.Time) string {
	l := s.current.Load()
	switch {
	case now.Sub(born) >= l.Life:
		return ReasonMaxAge
	case now.Sub(used) >= l.Idle:
		return ReasonExpired
	}
	return ""
}

// slack returns by how much a session's time of last use in the file may lag
// behind.
func (s *Store) slack() time.Duration { return s.current.Load().Idle / 4 }

// remove removes a session from the store.
func (s *Store) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(id)
}

// drop is remove for callers that hold mu.
func (s *Store) drop(id string) {
	if slot := s.slots[id]; slot != nil {
		delete(s.slots, id)
		s.o.Quota.Release(s.o.Owner(slot.owner), 1)
	}
}

// Len returns the number of sessions.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.slots)
}

// Kept returns the bytes of all event logs.
func (s *Store) Kept() int64 { return s.limits.held.Load() }

// Healthy returns nil, or the reason why the store cannot write its file.
func (s *Store) Healthy() error { return s.disk.healthy() }

// Close ends all sessions. With a file they and their events stay in it until
// the store is opened again. The error is that of the file.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		<-s.ended
		return nil
	}
	defer close(s.ended)
	close(s.stop)
	<-s.done
	for _, x := range s.loaded() {
		x.unload()
	}
	return s.disk.close()
}

// Unloaded returns the number of sessions that are only in the file: their clients have sent
// nothing since the process started.
func (s *Store) Unloaded() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range s.slots {
		if slot.session == nil {
			n++
		}
	}
	return n
}

// loaded returns the sessions in memory.
func (s *Store) loaded() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Session, 0, len(s.slots))
	for _, slot := range s.slots {
		if slot.session != nil {
			list = append(list, slot.session)
		}
	}
	return list
}

var (
	// ErrUnknown means that the session never existed, has ended, or belongs to
	// another owner. Callers cannot tell these cases apart.
	ErrUnknown = errors.New("unknown session")
	// ErrClosed means that the store was closed.
	ErrClosed = errors.New("the session store is closed")
)
