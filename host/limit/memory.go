package limit

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// The reasons why a [Memory] refuses bytes.
var (
	// ErrFull means that all owners together hold the whole limit.
	ErrFull = errors.New("the messages in memory have reached half of max_memory")
	// ErrMemoryShare means that a tenant or a principal holds its share of the limit.
	ErrMemoryShare = errors.New("the messages of one client have reached its share of the memory limit")
)

// Small is the largest size in bytes of a message that may use the reserve of a
// [Memory]. Such messages pass while larger ones are refused.
const Small = 16 << 10

// reservePart is the divisor of the limit that gives the reserve for small
// messages.
const reservePart = 8

// A Memory limits the bytes of messages that the process holds at one time:
// request bodies, unwritten answers, queues and event logs. The limit holds in
// total and, after SetShares, for each tenant and each principal. Its methods may be
// called concurrently. A nil Memory has no limit. There is nothing to close. Holds must be
// released. Package host makes one for the messages of a process.
type Memory struct {
	most   atomic.Int64 // the limit in bytes
	used   atomic.Int64
	shared atomic.Bool // the bytes of owners are counted in by
	by     ledger
}

// NewMemory returns a Memory with a limit in bytes.
func NewMemory(most int64) *Memory {
	m := &Memory{by: newLedger()}
	m.most.Store(most)
	return m
}

// Resize sets the limit in bytes. Above a smaller limit nothing is added until
// enough is released.
func (m *Memory) Resize(most int64) {
	if m == nil {
		return
	}
	m.most.Store(most)
}

// SetShares sets the shares of the limit, in bytes. Bytes that are held then count for
// their owners only if there were shares before.
func (m *Memory) SetShares(s Shares) {
	if m == nil {
		return
	}
	m.by.setShares(s)
	m.shared.Store(s != Shares{})
}

// Uses returns what each principal holds in bytes, the largest use first. It is empty
// without shares.
func (m *Memory) Uses() []Use {
	if m == nil {
		return nil
	}
	return m.by.all()
}

// Most returns the limit in bytes, 0 for a nil Memory.
func (m *Memory) Most() int64 {
	if m == nil {
		return 0
	}
	return m.most.Load()
}

// Used returns the bytes that are held.
func (m *Memory) Used() int64 {
	if m == nil {
		return 0
	}
	return m.used.Load()
}

// Full reports whether the limit is reached.
func (m *Memory) Full() bool { return m != nil && m.used.Load() >= m.most.Load() }

// Half reports whether more than half of the limit is held. Slow clients get
// less time then.
func (m *Memory) Half() bool { return m != nil && m.used.Load() > m.most.Load()/2 }

// Count adds n bytes, which may be negative, without checking the limit. It is
// for bytes that have a bound of their own.
func (m *Memory) Count(n int) {
	if m != nil {
		m.used.Add(int64(n))
	}
}

// Reserve adds n bytes if they fit into the limit, and reports whether they do.
// Return the bytes with Count.
func (m *Memory) Reserve(n int) bool {
	if m == nil {
		return true
	}
	most := m.most.Load()
	if n <= Small {
		most += most / reservePart
	}
	if m.used.Add(int64(n)) > most {
		m.used.Add(int64(-n))
		return false
	}
	return true
}

// Hold reserves n bytes until the Hold is released. The error is ErrFull.
func (m *Memory) Hold(n int) (*Hold, error) {
	if m == nil {
		return nil, nil
	}
	if !m.Reserve(n) {
		return nil, ErrFull
	}
	h := &Hold{held: &held{memory: m, bytes: int64(n)}}
	// The cleanup returns the bytes of a Hold that was never released. Without
	// it such a mistake would cost memory until the process ends.
	runtime.AddCleanup(h, func(x *held) { x.release() }, h.held)
	return h, nil
}

// HoldFor is Hold for an owner, whose shares count the bytes. The error is ErrFull or
// ErrMemoryShare.
func (m *Memory) HoldFor(owner Owner, n int) (*Hold, error) {
	h, err := m.Hold(n)
	if err != nil {
		return nil, err
	}
	if err := h.Assign(owner); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// A Hold is a number of bytes of a [Memory]. Its methods may be called
// concurrently and on a nil Hold, which holds nothing. The owner of the bytes has it, and
// passes it on with them; the last one releases it.
type Hold struct{ held *held }

type held struct {
	memory *Memory

	mu    sync.Mutex
	bytes int64 // guarded by mu
	owner Owner // guarded by mu; whose shares count the bytes; zero: none
	over  bool  // guarded by mu
}

// Grow adds n bytes to the hold. The error is ErrFull or ErrMemoryShare. The hold
// keeps its previous size then.
func (h *Hold) Grow(n int) error {
	if h == nil {
		return nil
	}
	x := h.held
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return nil
	}
	if !x.memory.Reserve(n) {
		return ErrFull
	}
	if x.owner != (Owner{}) && x.memory.by.enter(x.owner, int64(n), x.bytes, Small) != nil {
		x.memory.used.Add(int64(-n))
		return ErrMemoryShare
	}
	x.bytes += int64(n)
	return nil
}

// Assign counts the bytes for the shares of an owner. A small message of an owner
// without others always fits. The error is ErrMemoryShare. The caller must release the
// hold then.
func (h *Hold) Assign(owner Owner) error {
	if h == nil || owner == (Owner{}) || !h.held.memory.shared.Load() {
		return nil
	}
	x := h.held
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.owner != (Owner{}) {
		return nil
	}
	if x.memory.by.enter(owner, x.bytes, 0, Small) != nil {
		return ErrMemoryShare
	}
	x.owner = owner
	return nil
}

// Release returns the bytes. Further calls have no effect.
func (h *Hold) Release() {
	if h != nil {
		h.held.release()
	}
}

func (x *held) release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	x.memory.used.Add(-x.bytes)
	if x.owner != (Owner{}) {
		x.memory.by.add(x.owner, -x.bytes)
	}
}
