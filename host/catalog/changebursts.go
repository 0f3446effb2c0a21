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
// continue. The mu of refreshes guards it.
type changeBurst struct {
	timer   *time.Timer
	pending bool // the timer is running
	pause   time.Duration
	last    time.Time // the last refresh
}

// changed records a list_changed notification of a server. It does not block. The goroutine
// that reads the connection calls it.
func (r *refreshes) changed(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || r.publisher.now().lists[server] == nil && r.running[server] == nil {
		return // the first refresh will get the new list
	}
	st := r.bursts[server]
	if st == nil {
		st = &changeBurst{pause: debounceFirst}
		st.timer = time.AfterFunc(time.Hour, func() { r.refreshAfterChange(server, st) })
		st.timer.Stop()
		r.bursts[server] = st
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

// refreshAfterChange refreshes a server's lists after a notification. It is the function of the
// timer; it does not wait for the server.
func (r *refreshes) refreshAfterChange(server string, st *changeBurst) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.pending, st.last = false, time.Now()
	st.pause = min(2*st.pause, debounceMax)
	s := r.publisher.now().server(server)
	switch {
	case s == nil || r.stopped:
	case r.running[server] != nil:
		// The running refresh may have started before the change, so repeat it.
		st.pending = true
		st.timer.Reset(st.pause)
	default:
		r.begin(s)
	}
}

// connected records that an upstream has connected. It refreshes lists from disk or from
// an earlier connection. It ignores an upstream that is not of a server of the catalog.
func (r *refreshes) connected(u *upstream.Upstream) {
	over := u.Status().Connects
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.publisher.now()
	s, l := now.server(u.Name()), now.lists[u.Name()]
	if s == nil || s.Upstream != u || l == nil || l.fresh && l.connection == over {
		return // a refresh over this connection may be done
	}
	r.begin(s)
}
