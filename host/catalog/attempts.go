package catalog

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// An attempt records the time of the first refresh of a server in this process, and
// whether any refresh has failed.
type attempt struct {
	first  time.Time
	failed bool
	err    error // of the last refresh that ended
	// unread has the lists that the last refresh could not read, in the order of kinds.
	unread [4]bool
}

// OnListFailed sets a function that is called when a list of a server cannot be read that could
// be read before, or was not tried. The function must not wait. OnListFailed must be called
// before anything else.
func (c *Catalog) OnListFailed(f func(server, method string, err error)) { c.listFailed = f }

// reportUnread reports the lists that could not be read, each once until it can be read again.
func (c *Catalog) reportUnread(server string, l *lists) {
	c.mu.Lock()
	a := c.attempts[server]
	was := a.unread
	for i, k := range kinds {
		a.unread[i] = k.of(l).Failed != nil
	}
	c.attempts[server] = a
	c.mu.Unlock()
	for i, k := range kinds {
		err := k.of(l).Failed
		if c.listFailed != nil && a.unread[i] && !was[i] && !errors.Is(err, context.Canceled) {
			c.listFailed(server, k.kind.Method, err)
		}
	}
}

// recordStart records that a refresh starts. The caller holds mu.
func (c *Catalog) recordStart(server string) {
	a := c.attempts[server]
	if a.first.IsZero() {
		a.first = time.Now()
	}
	c.attempts[server] = a
}

// recordEnd records the result of a refresh. The caller holds mu.
func (c *Catalog) recordEnd(server string, err error) {
	a := c.attempts[server]
	a.failed, a.err = a.failed || err != nil, err
	c.attempts[server] = a
}

// FailedByPrefix returns the server whose prefix begins an exposed name, and why its list of a
// kind could not be read. failed is nil if the list is known, or not tried yet.
func (c *Catalog) FailedByPrefix(exposed string, kind upstream.ListKind) (server string, failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.Prefix == "" || !strings.HasPrefix(exposed, s.Prefix+separator) {
			continue
		}
		if err := c.listError(s.Name, kind); err != nil {
			return s.Name, err
		}
	}
	return "", nil
}

// listError returns why a list of a server could not be read, or nil. The caller holds mu.
func (c *Catalog) listError(server string, kind upstream.ListKind) error {
	err := c.attempts[server].err
	if l := c.lists[server]; l != nil {
		for _, k := range kinds {
			if k.kind == kind {
				err = k.of(l).Failed
			}
		}
	}
	if err == errUnanswered || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
