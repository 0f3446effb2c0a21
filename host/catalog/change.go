package catalog

import (
	"slices"
	"time"
)

const (
	debounceFirst = 200 * time.Millisecond
	debounceMost  = 30 * time.Second
)

// A storm is a series of changes that a server announces. The first is looked
// at after a moment, because they come in bursts; as long as they keep coming
// the moments grow.
type storm struct {
	timer   *time.Timer
	pending bool // the timer runs
	pause   time.Duration
	last    time.Time // when it was looked at last
}

// Changed takes note that a server says one of its lists changed. It never
// waits.
func (c *Catalog) Changed(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.lists[server] == nil && c.asking[server] == nil {
		return // nobody has asked yet; whoever does gets the new list
	}
	st := c.storms[server]
	if st == nil {
		st = &storm{pause: debounceFirst}
		st.timer = time.AfterFunc(time.Hour, func() { c.look(server, st) })
		st.timer.Stop()
		c.storms[server] = st
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

// look refreshes a server's lists after a change.
func (c *Catalog) look(server string, st *storm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.pending, st.last = false, time.Now()
	st.pause = min(2*st.pause, debounceMost)
	for _, s := range c.servers {
		if s.Name != server || c.stopped {
			continue
		}
		if c.asking[s.Name] != nil {
			// What goes on may have asked before the change: look again.
			st.pending = true
			st.timer.Reset(st.pause)
			return
		}
		c.begin(s)
	}
}

// Connected takes note that a server was connected: lists that came from disk,
// or from the connection before, are compared with what it says now.
func (c *Catalog) Connected(server string) {
	i := slices.IndexFunc(c.servers, func(s *Server) bool { return s.Name == server })
	if i < 0 {
		return
	}
	over := c.servers[i].Upstream.Status().Connects
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lists[server]; l != nil && !(l.fresh && l.over == over) { // somebody may have been quicker than this word
		c.begin(c.servers[i])
	}
}
