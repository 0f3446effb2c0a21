package jwks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	freshTime   = 5 * time.Minute  // age at which the keys are read before they are used
	earlyPart   = 5                // a refresh begins that part of freshTime earlier, and no request waits for it
	staleTime   = 24 * time.Hour   // age at which they are no longer used
	cooldown    = 10 * time.Second // between two refreshes
	maxWaiters  = 200              // requests that wait for a refresh; anybody can send a token with an unknown key
	staleWait   = 2 * time.Second  // for old keys to be read again before they are used
	failureTime = 30 * time.Second // after a failed refresh, in which requests use old keys at once
	fileRefresh = time.Second      // freshTime and cooldown of a file
)

var (
	// ErrUnknownKey means that no key fits the token.
	ErrUnknownKey = errors.New("no key of the issuer fits the token")
	// ErrUnavailable means that the keys could not be read, and that those which are known
	// are too old.
	ErrUnavailable = errors.New("the keys of the issuer cannot be read")
)

// A Set holds the keys of one source. Its methods may be called concurrently. The Pool makes
// and closes it. A refresh has a goroutine, which is counted in work.
type Set struct {
	source   Source
	log      hclog.Logger
	fresh    time.Duration
	cooldown time.Duration

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup
	current atomic.Pointer[known]
	waiters atomic.Int32 // requests that wait for a refresh

	mu      sync.Mutex
	running chan struct{} // guarded by mu; closed when the refresh ends; nil: none is running
	tried   time.Time     // guarded by mu; the end of the latest refresh
	failure error         // guarded by mu; of the latest refresh
	closed  bool          // guarded by mu
}

// known is the result of one refresh. It is immutable.
type known struct {
	keys []Key
	at   time.Time
}

func newSet(s Source, log hclog.Logger) *Set {
	set := &Set{source: s, log: log, fresh: freshTime, cooldown: cooldown}
	if s.File != "" {
		set.fresh, set.cooldown = fileRefresh, fileRefresh
	}
	set.ctx, set.cancel = context.WithCancel(context.Background())
	return set
}

// Find returns the key with an ID that suits accepts. An empty ID finds the only key of
// a set with one key. Find reads the keys if none are known, if they are not fresh, or if
// none fits and the latest refresh was not a moment ago. Old keys are used for a day while
// they cannot be read again. The error is ErrUnknownKey, ErrUnavailable with the reason, or
// that of ctx. It may wait for a refresh, on the goroutine of the caller.
func (s *Set) Find(ctx context.Context, id string, suits func(Key) bool) (Key, error) {
	now := s.usable()
	switch {
	case now == nil:
		if err := s.refresh(ctx); err != nil {
			return Key{}, err
		}
		if now = s.usable(); now == nil {
			return Key{}, s.unavailable()
		}
	case s.stale(now):
		// A withdrawn key must not be accepted only because no request came before.
		soon, cancel := context.WithTimeout(ctx, staleWait)
		_ = s.refresh(soon)
		cancel()
		if now = s.usable(); now == nil {
			return Key{}, s.unavailable()
		}
	}
	if k, ok := now.find(id, suits); ok {
		return k, nil
	}
	if err := s.refresh(ctx); err != nil {
		return Key{}, err
	}
	if now = s.usable(); now == nil {
		return Key{}, s.unavailable()
	}
	if k, ok := now.find(id, suits); ok {
		return k, nil
	}
	return Key{}, ErrUnknownKey
}

// A State identifies the keys that are known at one moment.
type State struct{ keys *known }

// Valid reports whether a key that Find returned is still a key of the issuer, and
// returns the state that this is true for. Valid returns at once for the state of an
// earlier call; the zero State is none.
func (s *Set) Valid(k Key, seen State) (State, bool) {
	now := s.usable()
	if now == nil || s.stale(now) {
		return State{}, false
	}
	return State{now}, now == seen.keys || slices.ContainsFunc(now.keys, k.equal)
}

// Prepare begins to read the keys, so that the first request need not wait. For a file
// it waits for the end, and returns the reason if the file cannot be used.
func (s *Set) Prepare() error {
	done := s.begin()
	if s.source.File == "" {
		return nil
	}
	if done != nil {
		<-done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// find returns the key that fits. Two keys may have one ID while they have different
// types.
func (n *known) find(id string, suits func(Key) bool) (Key, bool) {
	if id == "" && len(n.keys) > 1 {
		return Key{}, false
	}
	for _, k := range n.keys {
		if (id == "" || k.ID == id) && suits(k) {
			return k, true
		}
	}
	return Key{}, false
}

// stale reports whether the keys must be read before they are used, if that is possible in
// a short time. While an issuer is down, requests try it all the time and do not wait.
func (s *Set) stale(now *known) bool {
	if time.Since(now.at) <= s.fresh {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure == nil || time.Since(s.tried) > failureTime
}

// usable returns the keys unless they are too old. It begins a refresh shortly before they
// are not fresh any more.
func (s *Set) usable() *known {
	now := s.current.Load()
	if now == nil {
		return nil
	}
	age := time.Since(now.at)
	if age > s.fresh-s.fresh/earlyPart {
		s.begin()
	}
	if age > staleTime {
		return nil
	}
	return now
}

// refresh reads the keys, unless that was tried a moment ago, and waits for the end. It
// joins a refresh that is running. The error is that of ctx, or ErrUnavailable if too
// many requests wait.
func (s *Set) refresh(ctx context.Context) error {
	done := s.begin()
	if done == nil {
		return nil
	}
	if s.waiters.Add(1) > maxWaiters {
		s.waiters.Add(-1)
		return fmt.Errorf("%w: too many requests wait for them", ErrUnavailable)
	}
	defer s.waiters.Add(-1)
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts a refresh unless one is running. It returns the end of the refresh, or
// nil if the latest one was a moment ago. It does not wait.
func (s *Set) begin() (done <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.running != nil:
		return s.running
	case s.closed || !s.tried.IsZero() && time.Since(s.tried) < s.cooldown:
		return nil
	}
	ended := make(chan struct{})
	s.running = ended
	s.work.Go(func() {
		keys, err := s.source.fetch(s.ctx)
		s.end(keys, err)
		close(ended)
	})
	return ended
}

func (s *Set) end(keys []Key, err error) {
	if err == nil || errors.Is(err, errNoKeys) { // no keys are an answer, too
		s.current.Store(&known{keys: keys, at: time.Now()})
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.Warn("reading the keys of an issuer failed", "source", s.source.String(), "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.failure, s.tried = nil, err, time.Now()
}

func (s *Set) unavailable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		return ErrUnavailable
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, s.failure)
}

// close ends a refresh and waits for it.
func (s *Set) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
}

// String returns the place of the keys, for messages.
func (s Source) String() string {
	switch {
	case s.File != "":
		return s.File
	case s.URL != "":
		return s.URL
	}
	return s.Issuer
}
