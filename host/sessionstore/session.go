package sessionstore

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// Why a session ends.
const (
	ReasonClosed   = "session_closed" // the client said so
	ReasonExpired  = "expired"        // it was not used
	ReasonMaxAge   = "max_age"        // it was too old, used or not
	ReasonShutdown = "shutdown"       // the gateway stops
)

// A Session is one client of a legacy revision. Its methods may be called
// concurrently.
type Session struct {
	ID    string
	Owner string // the key of the principal who opened it
	// Client is what Options.Begin returned. It is there before anybody else
	// has the session.
	Client any

	store *Store
	log   *Log
	disk  *follower // nil when there is only memory
	born  time.Time
	done  chan struct{}

	mu     sync.Mutex
	state  []byte    // guarded by mu
	holds  int       // guarded by mu
	used   time.Time // guarded by mu
	reason string    // guarded by mu; not empty when the session has ended
}

// newID is a UUID of version 4: nobody can guess it.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// Log is what was sent to the client.
func (x *Session) Log() *Log { return x.log }

// State is what SetState was last given, or New. Nobody changes it.
func (x *Session) State() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// SetState remembers what the gateway must know of the client after a restart.
// With a file it waits until that is written, or a short time, so no lock may
// be held.
func (x *Session) SetState(state []byte) {
	x.mu.Lock()
	x.state = bytes.Clone(state)
	x.mu.Unlock()
	x.disk.save()
}

// Hold keeps the session from being idle until it is released: a request is
// being answered, or a stream is open.
func (x *Session) Hold() (release func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.holds++
	return sync.OnceFunc(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.holds--
		x.used = time.Now()
	})
}

// touch takes note that the session is used, if it is not too late for that.
func (x *Session) touch() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	if x.reason != "" || x.due(now) != "" {
		return false
	}
	x.used = now
	return true
}

// due is the reason for which the session must end now, if there is one. The
// caller holds mu.
func (x *Session) due(now time.Time) string {
	used := x.used
	if x.holds > 0 {
		used = now
	}
	return x.store.due(now, x.born, used)
}

// End ends the session, once; a later reason is not heard. Who reads its log
// gets what is there and then io.EOF.
func (x *Session) End(reason string) {
	x.mu.Lock()
	if x.reason != "" || reason == "" {
		x.mu.Unlock()
		return
	}
	x.reason = reason
	x.mu.Unlock()
	x.finish(true)
	x.disk.remove()
}

// lastUsed is when the session was used last: now, while it is held.
func (x *Session) lastUsed(now time.Time) time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.holds > 0 {
		return now
	}
	return x.used
}

// expire ends the session if it must.
func (x *Session) expire(now time.Time) {
	x.mu.Lock()
	reason := x.due(now)
	if x.reason != "" || reason == "" {
		x.mu.Unlock()
		return
	}
	x.reason = reason
	x.mu.Unlock()
	x.finish(true)
	x.disk.remove()
}

// leave ends the session in this process only: the file keeps it.
func (x *Session) leave() {
	x.mu.Lock()
	ended := x.reason != ""
	if !ended {
		x.reason = ReasonShutdown
	}
	x.mu.Unlock()
	if !ended {
		x.finish(false)
		x.disk.touch()
	}
}

// finish does what follows the end of a session, which may live on in the
// file. Only who ended it calls it.
func (x *Session) finish(forGood bool) {
	x.store.remove(x.ID)
	x.log.close(forGood)
	close(x.done)
	if x.store.o.Ended != nil {
		x.store.o.Ended(x)
	}
}

// Done is closed when the session has ended.
func (x *Session) Done() <-chan struct{} { return x.done }

// Reason is why the session ended, and empty as long as it has not.
func (x *Session) Reason() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reason
}
