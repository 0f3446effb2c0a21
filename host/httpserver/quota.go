package httpserver

import (
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A quota is something that there are so many places in: for requests that are being
// answered, or for bytes. Where there are several principals, each gets half of the
// places at most: whoever takes all they can get leaves the others half.
type quota struct {
	atomic.Int64 // places that are taken
	most         int64
	full         *httpError // what is said when there is no place

	each   int64      // places of one principal; 0: no limit
	enough *httpError // what is said to one that has them

	mu sync.Mutex
	of map[string]int64 // guarded by mu; places by principal
}

// share makes the room one of several principals.
func (m *quota) share() { m.each, m.of = half(m.most), map[string]int64{} }

// half is what one principal gets of something.
func half(n int64) int64 { return (n + 1) / 2 }

// enter takes n places, or says why there are none.
func (m *quota) enter(p authn.Principal, n int64) *httpError {
	if m.Add(n) > m.most {
		m.Add(-n)
		return m.full
	}
	if m.each == 0 {
		return nil
	}
	key := p.Key()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[key]+n > m.each {
		m.Add(-n)
		return m.enough
	}
	m.of[key] += n
	return nil
}

// leave gives n places back.
func (m *quota) leave(p authn.Principal, n int64) {
	m.Add(-n)
	if m.each == 0 || n == 0 {
		return
	}
	key := p.Key()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[key] -= n; m.of[key] <= 0 {
		delete(m.of, key)
	}
}
