package sessionstore

import (
	"bytes"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
)

// Options are how a store is made.
type Options struct {
	Max    int           // sessions at one time; 1000 when zero
	Each   int           // of these, those of one owner; no limit when zero
	Idle   time.Duration // a session that is not used ends after this; 5 minutes when zero
	Life   time.Duration // a session ends after this; a day when zero
	Events int           // kept of a session; 10 000 when zero
	Path   string        // of the SQLite file; empty for memory only
	Log    hclog.Logger  // none when nil
	Budget *limit.Memory // counts what is kept, which is at most half of it; nil: no count
	// Begin, when not nil, is called once for each session that comes to life,
	// new or restored, before anybody else sees it. What it returns is
	// Session.Client.
	Begin func(*Session) any
	// Ended, when not nil, is called once for each session that ends in this
	// process, without locks held, by whoever ended it.
	Ended func(*Session)
}

func (o *Options) setDefaults() {
	if o.Max <= 0 {
		o.Max = 1000
	}
	if o.Idle <= 0 {
		o.Idle = 5 * time.Minute
	}
	if o.Life <= 0 {
		o.Life = 24 * time.Hour
	}
	if o.Events <= 0 {
		o.Events = 10_000
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
}

// A Store has the sessions of one gateway. Its methods may be called
// concurrently.
type Store struct {
	o      Options
	limits *limits
	disk   *disk // nil when there is only memory
	stop   chan struct{}
	done   chan struct{} // of the janitor
	ended  chan struct{} // of Close

	mu     sync.Mutex
	closed bool             // guarded by mu
	slots  map[string]*slot // guarded by mu
}

// A slot is the place of a session, which may be asleep in the file. The
// store's mu guards it.
type slot struct {
	owner   string
	session *Session      // nil while it is asleep
	woken   chan struct{} // not nil while somebody makes the session; closed then

	// Of a session that is asleep.
	row        int64
	born, used time.Time
}

// Open makes a store. With a path it takes the sessions over that are in the
// file; a file that cannot be used is put aside and replaced by an empty one,
// but one that another process uses is an error.
func Open(o Options) (*Store, error) {
	o.setDefaults()
	s := &Store{
		o: o, limits: newLimits(o.Events, o.Max, o.Budget), slots: map[string]*slot{},
		stop: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{}),
	}
	if o.Path != "" {
		if err := s.openDisk(); err != nil {
			return nil, err
		}
	}
	go s.janitor()
	return s, nil
}

// New makes a session.
func (s *Store) New(owner string, state []byte) (*Session, error) {
	now := time.Now()
	x := s.session(newID(), owner)
	x.state, x.born, x.used = bytes.Clone(state), now, now
	if err := s.reserve(x); err != nil {
		return nil, err
	}
	x.disk.save()
	return s.wake(x)
}

// session is a session without a life yet.
func (s *Store) session(id, owner string) *Session {
	x := &Session{ID: id, Owner: owner, store: s, done: make(chan struct{})}
	x.disk = s.disk.follow(x)
	x.log = newLog(s.limits, x.disk)
	return x
}

// reserve finds room for a session.
func (s *Store) reserve(x *Session) error {
	for again := true; ; again = false {
		s.mu.Lock()
		enough := s.o.Each > 0 && s.of(x.Owner) >= s.o.Each
		switch {
		case s.closed:
			s.mu.Unlock()
			return ErrClosed
		case len(s.slots) < s.o.Max && !enough:
			s.slots[x.ID] = &slot{owner: x.Owner, woken: make(chan struct{})}
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		if !again {
			return &FullError{Max: s.o.Max, Owner: enough}
		}
		s.expire() // the janitor may not have come yet
	}
}

// wake gives a session to everybody who looks for it. Its slot is there, with
// nobody else making one.
func (s *Store) wake(x *Session) (*Session, error) {
	if s.o.Begin != nil {
		x.Client = s.o.Begin(x)
	}
	s.mu.Lock()
	slot, closed := s.slots[x.ID], s.closed
	if slot != nil {
		slot.session = x
		close(slot.woken)
		slot.woken = nil
	}
	s.mu.Unlock()
	if closed {
		x.leave()
		return nil, ErrClosed
	}
	return x, nil
}

// Find returns the session of an owner. The error is ErrUnknown whether it
// never was, has ended or is another owner's; with a file there are others.
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
				x.expire(time.Now())
				return nil, ErrUnknown
			}
			return x, nil
		case slot.woken != nil:
			woken := slot.woken
			s.mu.Unlock()
			<-woken
		default:
			slot.woken = make(chan struct{})
			s.mu.Unlock()
			return s.restore(id, slot)
		}
	}
}

// remove takes a session out of the store.
func (s *Store) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.slots, id)
}

// Len is how many sessions there are.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.slots)
}

// Of is how many of them are an owner's.
func (s *Store) Of(owner string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(owner)
}

// of is Of for who holds mu.
func (s *Store) of(owner string) (n int) {
	for _, slot := range s.slots {
		if slot.owner == owner {
			n++
		}
	}
	return n
}

// Kept returns the bytes of all event logs.
func (s *Store) Kept() int64 { return s.limits.held.Load() }

// Healthy says why the store cannot write its file, if it cannot.
func (s *Store) Healthy() error { return s.disk.healthy() }

// Close ends all sessions. Those of a file stay in it, with everything that
// was sent, and are found again when the store is opened the next time.
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
	for _, x := range s.awake() {
		x.leave()
	}
	return s.disk.close()
}

// awake lists the sessions that are in memory.
func (s *Store) awake() []*Session {
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
