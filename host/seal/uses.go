package seal

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Uses remember which tokens were used until these expire. The methods may be called
// concurrently.
type Uses interface {
	// Add remembers the use of a token. The error is ErrUsed if it was used before.
	Add(ctx context.Context, id ID, expires time.Time) error
	// Remove forgets the use of a token.
	Remove(ctx context.Context, id ID) error
	Close() error
}

const (
	// maxRemembered bounds the uses in memory.
	maxRemembered = 100_000
	// pruneEvery is the shortest time between two searches for expired uses.
	pruneEvery = time.Minute
)

// errFull is the error of a use for which there is no room. It has to be refused, because it
// could not be told from a second one later.
var errFull = errors.New("too many tokens were used within their time")

// Memory remembers uses as long as the process lasts. There is nothing to close.
type Memory struct {
	mu     sync.Mutex
	used   map[ID]time.Time // guarded by mu; with the expiry
	pruned time.Time        // guarded by mu
}

// NewMemory returns a Memory without uses.
func NewMemory() *Memory { return &Memory{used: map[ID]time.Time{}} }

// Add implements [Uses].
func (m *Memory) Add(_ context.Context, id ID, expires time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.pruned) >= pruneEvery {
		m.pruned = now
		for other, expired := range m.used {
			if now.After(expired) {
				delete(m.used, other)
			}
		}
	}
	if _, again := m.used[id]; again {
		return ErrUsed
	}
	if len(m.used) >= maxRemembered {
		return errFull
	}
	m.used[id] = expires
	return nil
}

// Remove implements [Uses].
func (m *Memory) Remove(_ context.Context, id ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.used, id)
	return nil
}

// Close implements [Uses].
func (m *Memory) Close() error { return nil }
