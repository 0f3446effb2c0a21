package upstream

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// levelTime limits the wait for a legacy server to set its log level. Calls wait
// for it.
const levelTime = 5 * time.Second

// SetLevel sets the minimum severity of log messages from a legacy server. Modern
// servers receive the level with each request. SetLevel does not block, but later
// calls wait until the server has answered. The gateway calls it, also with locks of its own
// held.
func (u *Upstream) SetLevel(level string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.level = level
	if u.conn != nil {
		u.conn.syncLevel()
	}
}

// syncLevel sends the level to the server if it has changed. It returns a channel that
// is closed when the server has answered, or nil. The caller holds the upstream's mu.
func (c *conn) syncLevel() <-chan struct{} {
	u := c.up
	switch {
	case u.level == c.level:
		return c.levelSet
	case u.closed || c.revision.Modern() || !capable(c.capabilities, "logging"):
		return nil
	}
	told := make(chan struct{})
	c.level, c.levelSet = u.level, told
	p := c.ask(mcp.MethodSetLevel, "level", u.level)
	c.spawn("setting the log level", func() {
		defer u.settle()
		defer close(told)
		ctx, cancel := context.WithTimeout(c.ctx, levelTime)
		defer cancel()
		switch reply, err := c.wait(ctx, p); {
		case err != nil:
			u.opts.Log.Debug("setting the log level failed", "server", u.opts.Name, "error", err)
		case reply.Error != nil:
			u.opts.Log.Debug("the server refused the log level", "server", u.opts.Name, "answer", string(reply.Error))
		}
	})
	return told
}

// awaitLevel waits until the server has the current log level. The goroutine of a call blocks
// in it for at most levelTime.
func (c *conn) awaitLevel(ctx context.Context) {
	c.up.mu.Lock()
	told := c.syncLevel()
	c.up.mu.Unlock()
	if told == nil {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}
