package catalog

import (
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	debounceFirst = 200 * time.Millisecond
	debounceMax   = 30 * time.Second
)

// A changeBurst is a series of list_changed notifications from one server. Changes come in
// bursts, so the refresh after the first one is delayed. The delay grows while changes
// continue.
type changeBurst struct {
	timer   *time.Timer
	pending bool // the timer is running
	pause   time.Duration
	last    time.Time // the last refresh
}

// Changed records a list_changed notification of a server. It does not block.
func (c *Catalog) Changed(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.lists[server] == nil && c.refreshing[server] == nil {
		return // the first refresh will get the new list
	}
	st := c.bursts[server]
	if st == nil {
		st = &changeBurst{pause: debounceFirst}
		st.timer = time.AfterFunc(time.Hour, func() { c.refreshAfterChange(server, st) })
		st.timer.Stop()
		c.bursts[server] = st
	}
	if st.pending {
		return
	}
	st.pending = true
	if quiet := time.Since(st.last); quiet > 2*st.pause {
		st.pause = debounceFirst
	}
	st.timer.Reset(st.pause)
}

// refreshAfterChange refreshes a server's lists after a notification.
func (c *Catalog) refreshAfterChange(server string, st *changeBurst) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.pending, st.last = false, time.Now()
	st.pause = min(2*st.pause, debounceMax)
	s := c.server(server)
	switch {
	case s == nil || c.stopped:
	case c.refreshing[server] != nil:
		// The running refresh may have started before the change, so repeat it.
		st.pending = true
		st.timer.Reset(st.pause)
	default:
		c.begin(s)
	}
}

// Connected records that an upstream has connected. It refreshes lists from disk or from
// an earlier connection. It ignores an upstream that is not of a server of the catalog.
func (c *Catalog) Connected(u *upstream.Upstream) {
	over := u.Status().Connects
	c.mu.Lock()
	defer c.mu.Unlock()
	s, l := c.server(u.Name()), c.lists[u.Name()]
	if s == nil || s.Upstream != u || l == nil || l.fresh && l.connection == over { // a refresh over this connection may be done
		return
	}
	c.begin(s)
}
