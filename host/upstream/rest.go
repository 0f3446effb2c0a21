package upstream

// busy reports whether the connection is in use or wanted. The caller holds mu.
func (u *Upstream) busy() bool {
	return u.users > 0 || u.conn.inFlight() > 0 || u.conn.requests.Load() > 0
}

// rest does what there is to do when nothing is going on: it begins to count
// idle time. The caller holds mu.
func (u *Upstream) rest() {
	switch {
	case u.closed || u.state != Ready || u.busy():
	case u.outdated:
		u.drop()
	case len(u.subs) == 0:
		u.idle.start(u.idleOver)
	}
}

// settle is rest after something that is not a call.
func (u *Upstream) settle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rest()
}

// idleOver closes the connection, unless something has begun meanwhile.
func (u *Upstream) idleOver() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.idle.stop()
	if u.closed || u.state != Ready || u.busy() || len(u.subs) > 0 {
		return
	}
	u.opts.Log.Debug("closing an idle connection", "server", u.opts.Name)
	u.stop("idle")
}

// stop closes the connection. The caller holds mu.
func (u *Upstream) stop(reason string) {
	c := u.conn
	u.conn = nil
	u.starts.forget(c.started)
	u.idle.stop()
	u.set(Stopped)
	u.work.Go(func() { c.close(reason, u.opts.Shutdown) })
}

// Drop closes the connection so that the next call opens a new one, as when
// what should be offered to the server has changed. One that is in use, or being
// made, is dropped when it is no longer.
func (u *Upstream) Drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.outdated = u.state == Starting || u.state == Ready
	u.rest()
}

// drop closes a connection that nobody uses. The caller holds mu.
func (u *Upstream) drop() {
	u.outdated = false
	u.stop("reconnecting")
	if len(u.subs) > 0 {
		u.work.Go(u.reconnect)
	}
}
