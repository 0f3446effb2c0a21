package catalog

import (
	"context"
	"slices"
	"time"
)

// MaxInstructions bounds what one server tells models, in bytes.
const MaxInstructions = 64 << 10

// Said is what a server says of itself when it is connected, as it was last known.
type Said struct {
	Instructions string
	Extensions   []byte // an object of its capabilities; nil: none
	Modern       bool
}

// Said returns what each server with known lists said. Servers need not be running for it.
func (c *Catalog) Said() map[string]Said {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]Said{}
	for _, s := range c.servers {
		if l := c.lists[s.Name]; l != nil && (l.said.Instructions != "" || len(l.said.Extensions) > 0) {
			all[s.Name] = l.said
		}
	}
	return all
}

// Unread returns the servers of which no list of tools is known yet, sorted.
func (c *Catalog) Unread() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if l := c.lists[s.Name]; l == nil || l.empty() || l.lacks(toolKinds) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Pending reports whether a list of tools that is not known yet is being read.
func (c *Catalog) Pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.refreshing {
		if l := c.lists[name]; l == nil || l.empty() || l.lacks(toolKinds) {
			return true
		}
	}
	return false
}

// refreshDelay is the wait before lists from disk are compared with those of remote servers,
// so that the first requests of a client come first.
const refreshDelay = 500 * time.Millisecond

// RefreshRemote refreshes the lists of remote servers that come from disk, after a short wait
// and in the background. Servers that would have to be started are left alone.
func (c *Catalog) RefreshRemote() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	c.work.Go(func() {
		select {
		case <-time.After(refreshDelay):
		case <-c.ctx.Done():
			return
		}
		c.refreshRemote(c.ctx)
	})
}

func (c *Catalog) refreshRemote(ctx context.Context) {
	c.mu.Lock()
	var names []string
	for _, s := range c.servers {
		if l := c.lists[s.Name]; s.Remote && l != nil && !l.fresh {
			names = append(names, s.Name)
		}
	}
	c.mu.Unlock()
	slices.Sort(names)
	if len(names) > 0 {
		c.Refresh(ctx, names...)
	}
}
