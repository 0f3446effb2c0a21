package upstream

import (
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// strayGrace is how long the only request in flight still waits after an answer
// that cannot be attributed. A server may print one by mistake, and then answer.
const strayGrace = 5 * time.Second

// issued reports whether a request of this connection had the id.
func (c *conn) issued(id mcp.ID) bool {
	n, ok := id.Number()
	c.mu.Lock()
	defer c.mu.Unlock()
	return ok && n > 0 && n <= c.last
}

// only returns the request in flight, nil if there is none or another one.
func (c *conn) only() *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending)-len(c.listens) != 1 {
		return nil
	}
	for n, p := range c.pending {
		if !c.listens[n] {
			return p
		}
	}
	return nil
}

// doubt fails the only request in flight after strayGrace: the answer that could
// not be attributed must have been its own.
func (c *conn) doubt(err error) {
	if p := c.only(); p != nil && p.doubted.CompareAndSwap(false, true) {
		time.AfterFunc(strayGrace, func() { c.failOnly(p, err) })
	}
}

// failOnly fails a request, unless it was answered meanwhile.
func (c *conn) failOnly(p *pending, err error) {
	if p == nil {
		return
	}
	c.mu.Lock()
	waits := c.pending[p.id] == p
	if waits {
		delete(c.pending, p.id)
		p.over()
	}
	c.mu.Unlock()
	if waits {
		p.answer <- answer{err: err}
	}
}
