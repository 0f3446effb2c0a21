package upstream

import "time"

// Idle configures when an unused connection is closed. The zero value keeps it open.
type Idle struct {
	Adaptive bool
	After    time.Duration
}

// Idle times in adaptive mode: frequently used servers stay connected longer.
const (
	idleCold = time.Minute     // fewer than 5 calls in the last hour
	idleWarm = 3 * time.Minute // 5 to 20 calls
	idleHot  = 5 * time.Minute
)

// An idleClock closes a connection after its idle time. The mu of the Upstream guards it.
type idleClock struct {
	rule  Idle
	timer *time.Timer
	calls []time.Time // in the last hour, at most 100
}

// used records a call.
func (i *idleClock) used(now time.Time) {
	if !i.rule.Adaptive {
		return
	}
	i.calls = append(i.calls, now)
	for len(i.calls) > 0 && now.Sub(i.calls[0]) > time.Hour || len(i.calls) > 100 {
		i.calls = i.calls[1:]
	}
}

// start starts the timer unless it is running.
func (i *idleClock) start(f func()) {
	if d := i.after(); d > 0 && i.timer == nil {
		i.timer = time.AfterFunc(d, f)
	}
}

func (i *idleClock) stop() {
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}

func (i *idleClock) after() time.Duration {
	switch n := len(i.calls); {
	case !i.rule.Adaptive:
		return i.rule.After
	case n > 20:
		return idleHot
	case n >= 5:
		return idleWarm
	default:
		return idleCold
	}
}

// busy reports whether the connection is in use. The caller holds mu.
func (u *Upstream) busy() bool {
	return u.users > 0 || u.conn.table.inFlight() > 0 || u.conn.requests.Load() > 0
}

// Busy reports whether a call or a list uses the connection, or waits for it.
func (u *Upstream) Busy() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.users > 0 || u.conn != nil && u.busy()
}

// settleLocked drops an outdated connection, or starts the idle timer of another one.
// It does nothing if the connection is busy. The caller holds mu.
func (u *Upstream) settleLocked() {
	switch {
	case u.closed || u.state != Ready || u.busy():
	case u.outdated:
		u.drop()
	case len(u.subs.byTopic) == 0:
		u.idle.start(u.closeIdle)
	}
}

// settle is like settleLocked, but acquires mu.
func (u *Upstream) settle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settleLocked()
}

// closeIdle closes the connection unless it is in use again.
func (u *Upstream) closeIdle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.idle.stop()
	if u.closed || u.state != Ready || u.busy() || len(u.subs.byTopic) > 0 {
		return
	}
	u.opts.Log.Debug("closing an idle connection", "server", u.opts.Name)
	u.stop("idle")
}

// stop closes the connection in the background. The caller holds mu.
func (u *Upstream) stop(reason string) {
	c := u.conn
	u.stopWith(func() { c.close(reason, u.opts.Shutdown) })
}

// stopWith is stop with a function that closes the connection. The caller holds mu.
func (u *Upstream) stopWith(closing func()) {
	u.retries.starts.forget(u.conn.started)
	u.conn = nil
	u.idle.stop()
	u.set(Stopped)
	u.work.Go(closing)
}

// Drop closes the connection, so that the next call opens a new one. Use it when the
// client capabilities for the server change. A connection in use, or being made, is
// dropped when it becomes idle.
func (u *Upstream) Drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.outdated = u.state == Starting || u.state == Ready
	u.settleLocked()
}

// Restart closes the connection, also if it is in use, and lets the next call connect at
// once, regardless of earlier failures. Calls in progress fail. It does not wait for the
// end of the server's process; a start that is being made goes on.
func (u *Upstream) Restart() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state == Ready {
		ended := make(chan struct{})
		c, before := u.conn, u.ending
		u.ending = ended
		u.stopWith(func() {
			defer close(ended)
			c.close("an operator restarts the server", u.opts.Shutdown)
			if before != nil {
				<-before
			}
		})
		if len(u.subs.byTopic) > 0 {
			u.work.Go(u.reconnect)
		}
	}
	u.retries.reset()
}

// drop closes an unused connection. The caller holds mu.
func (u *Upstream) drop() {
	u.outdated = false
	u.stop("reconnecting")
	if len(u.subs.byTopic) > 0 {
		u.work.Go(u.reconnect)
	}
}
