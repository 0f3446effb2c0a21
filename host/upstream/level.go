package upstream

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// levelTime bounds how long an old server may take to set its log level, for
// which calls wait.
const levelTime = 5 * time.Second

// SetLevel says how severe the log messages of an old server must be; a modern
// one is told with every request. It does not wait: calls made from now on do,
// until the server has been told.
func (u *Upstream) SetLevel(level string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.level = level
	if u.conn != nil {
		u.conn.tellLevel()
	}
}

// tellLevel tells the server the level unless it knows. The caller holds the
// upstream's mu. What it returns is nil, or closed when the server has answered.
func (c *conn) tellLevel() <-chan struct{} {
	u := c.up
	switch {
	case u.level == c.level:
		return c.told
	case u.closed || c.revision.Modern() || !capable(c.capabilities, "logging"):
		return nil
	}
	told := make(chan struct{})
	c.level, c.told = u.level, told
	p := c.ask(mcp.MethodSetLevel, "level", u.level)
	c.goes("setting the log level", func() {
		defer u.settle()
		defer close(told)
		ctx, cancel := context.WithTimeout(c.ctx, levelTime)
		defer cancel()
		a, err := c.wait(ctx, p)
		if err != nil || a.rpcError != nil {
			u.opts.Log.Debug("setting the log level", "server", u.opts.Name, "error", err, "answer", string(a.rpcError))
		}
	})
	return told
}

// levelled waits until the server knows the log level.
func (c *conn) levelled(ctx context.Context) {
	c.up.mu.Lock()
	told := c.tellLevel()
	c.up.mu.Unlock()
	if told == nil {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}
