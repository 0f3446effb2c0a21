package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Connect returns when the upstream is ready, connecting when need be. Many
// callers share one attempt, which goes on when a caller gives up.
func (u *Upstream) Connect(ctx context.Context) error { return u.connectFor(ctx, ForList) }

func (u *Upstream) connectFor(ctx context.Context, priority Priority) error {
	_, err := u.get(ctx, priority)
	if err == nil {
		u.put()
	}
	return err
}

// get returns a connection that is ready and stays until put, unless the server
// ends it.
func (u *Upstream) get(ctx context.Context, priority Priority) (*conn, error) {
	u.mu.Lock()
	u.users++
	u.idle.stop()
	u.raise(priority)
	u.mu.Unlock()
	c, err := u.ready(ctx)
	if err != nil {
		u.put()
		return nil, fault.In(u.opts.Name, err)
	}
	return c, nil
}

// put gives back what get returned.
func (u *Upstream) put() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
	u.rest()
}

// ready waits until there is a connection.
func (u *Upstream) ready(ctx context.Context) (*conn, error) {
	waited := false
	for {
		u.mu.Lock()
		changed, soon := u.changed, time.Until(u.retry)
		var due <-chan time.Time
		switch {
		case u.closed:
			err := u.err
			u.mu.Unlock()
			return nil, err
		case u.state == Ready && u.conn.alive():
			c := u.conn
			u.mu.Unlock()
			return c, nil
		case u.state == Ready: // it has just ended, which watch records
		case u.state == Failed && (waited || soon > retrySoon):
			err, stamp := u.err, u.stamp
			if !waited {
				err = u.later(err)
			}
			u.mu.Unlock()
			if !waited && stamp != u.credentials() {
				u.Retry()
				continue
			}
			return nil, err
		case u.state == Failed && soon > 0:
			due = time.After(soon)
		case u.state == Starting:
			waited = true
		default:
			u.outdated = false
			u.set(Starting)
			u.work.Go(u.connect)
			waited, changed = true, u.changed
		}
		u.mu.Unlock()
		select {
		case <-changed:
		case <-due:
		case <-ctx.Done():
			return nil, gaveUp(ctx, "waiting for the server to get ready")
		}
	}
}

// later adds to the last failure when the next attempt comes. The caller holds
// mu.
func (u *Upstream) later(err error) error {
	f := *fault.As(err)
	f.RetryAfter = time.Until(u.retry).Round(time.Millisecond)
	return &f
}

// failed records an attempt that failed.
func (u *Upstream) failed(err error) {
	stamp := u.credentials()
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return
	}
	u.err = err
	// A fault that says when to try again, as of a plugin in quarantine, is right.
	u.retryAfter(max(u.delays.NextBackOff(), fault.As(err).RetryAfter))
	u.conn, u.stamp = nil, stamp
	u.set(Failed)
	u.mu.Unlock()
	u.opts.Peer.Disconnected(u, err)
}

// watch waits for the end of a connection and records it.
func (u *Upstream) watch(c *conn) {
	<-c.done
	stamp := u.credentials()
	u.mu.Lock()
	mine := u.conn == c
	again := false
	if mine {
		u.conn, u.err, u.stamp = nil, c.err, stamp
		u.idle.stop()
		u.connectionEnded(c)
		again = len(u.subs) > 0 && !u.closed
		u.set(Failed)
	}
	u.mu.Unlock()
	if mine {
		u.opts.Peer.Disconnected(u, c.err)
	}
	if again {
		u.work.Go(u.reconnect)
	}
}

// reconnect keeps trying as long as somebody is subscribed to something: a
// subscriber cannot know that it should ask.
func (u *Upstream) reconnect() {
	for {
		u.mu.Lock()
		needed, wait := len(u.subs) > 0 && !u.closed, time.Until(u.retry)
		u.mu.Unlock()
		if !needed {
			return
		}
		select {
		case <-time.After(max(wait, 0)):
		case <-u.ctx.Done():
			return
		}
		if err := u.connectFor(u.ctx, ForUpkeep); err == nil {
			return
		}
	}
}

func gaveUp(ctx context.Context, doing string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Because(fault.CallTimeout, ctx.Err(), "%s took too long", doing)
	}
	return fault.Because(fault.CallCanceled, ctx.Err(), "%s was given up", doing)
}
