package sessionstore

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// Reasons why a session ends.
const (
	ReasonClosed   = "session_closed" // the client ended it
	ReasonExpired  = "expired"        // it was idle for too long
	ReasonMaxAge   = "max_age"        // it reached its maximum age
	ReasonShutdown = "shutdown"       // the gateway stops
)

// A Session is one client of a legacy revision. Its methods may be called
// concurrently. The fields above mu do not change once it is published.
type Session struct {
	ID    string
	Owner string // key of the principal that opened it
	// Client is the result of Options.Begin. It is set before the session is
	// published.
	Client any

	store *Store
	log   *Log
	disk  *diskState // nil for a store without a file
	born  time.Time
	done  chan struct{}

	mu     sync.Mutex
	state  []byte    // guarded by mu
	holds  int       // guarded by mu
	used   time.Time // guarded by mu
	reason string    // guarded by mu; empty until the session ends
}

// newID returns a random UUID of version 4, which cannot be guessed.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// Log returns the event log of the session.
func (s *Session) Log() *Log { return s.log }

// State returns the state that SetState or New was given last. It must not be
// modified.
func (s *Session) State() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// SetState stores what the gateway must know about the client after a restart.
// With a file it waits until the state is written, or for diskTimeout. The
// caller must hold no lock.
func (s *Session) SetState(state []byte) {
	s.mu.Lock()
	s.state = bytes.Clone(state)
	s.mu.Unlock()
	s.disk.save()
}

// Hold keeps the session from becoming idle until release is called, once. It is for
// a request in progress or an open stream.
func (s *Session) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds++
	return s.release
}

func (s *Session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds--
	s.used = time.Now()
}

// touch marks the session as used now. It reports false if the session has
// ended or must end.
func (s *Session) touch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.reason != "" || s.due(now) != "" {
		return false
	}
	s.used = now
	return true
}

// due returns the reason why the session must end now, or an empty string. The
// caller holds mu.
func (s *Session) due(now time.Time) string {
	used := s.used
	if s.holds > 0 {
		used = now
	}
	return s.store.due(now, s.born, used)
}

// End ends the session for a reason. Later calls have no effect. Readers of its
// log get the remaining events and then io.EOF.
func (s *Session) End(reason string) {
	s.mu.Lock()
	if s.reason != "" || reason == "" {
		s.mu.Unlock()
		return
	}
	s.reason = reason
	s.mu.Unlock()
	s.finish(true)
	s.disk.remove()
}

// lastUsed returns the time of the last use, which is now for a held session.
func (s *Session) lastUsed(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds > 0 {
		return now
	}
	return s.used
}

// endIfDue ends the session if it is due.
func (s *Session) endIfDue(now time.Time) {
	s.mu.Lock()
	reason := s.due(now)
	if s.reason != "" || reason == "" {
		s.mu.Unlock()
		return
	}
	s.reason = reason
	s.mu.Unlock()
	s.finish(true)
	s.disk.remove()
}

// unload ends the session in this process only. The file keeps it.
func (s *Session) unload() {
	s.mu.Lock()
	ended := s.reason != ""
	if !ended {
		s.reason = ReasonShutdown
	}
	s.mu.Unlock()
	if !ended {
		s.finish(false)
		s.disk.enqueue()
	}
}

// finish releases what belongs to an ended session. With forGood false the file
// keeps the session. Only the caller that set reason may call it, once. It is called without a
// lock.
func (s *Session) finish(forGood bool) {
	s.store.remove(s.ID)
	s.log.close(forGood)
	close(s.done)
	if s.store.o.Ended != nil {
		s.store.o.Ended(s)
	}
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Reason returns why the session ended, or an empty string while it lives.
func (s *Session) Reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}
