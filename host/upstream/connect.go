package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Connect returns when the upstream is ready, connecting when need be. Many
// callers share one attempt, which goes on when a caller gives up.
func (u *Upstream) Connect(ctx context.Context) error {
	_, err := u.get(ctx)
	if err == nil {
		u.put()
	}
	return err
}

// get returns a connection that is ready and stays until put, unless the server
// ends it.
func (u *Upstream) get(ctx context.Context) (*conn, error) {
	u.mu.Lock()
	u.users++
	u.idle.stop()
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

// connect makes one attempt.
func (u *Upstream) connect() {
	ctx, cancel := context.WithTimeout(u.ctx, u.opts.Start)
	defer cancel()
	c, err := u.dial(ctx)
	if err != nil {
		err = startError(ctx, err, u.opts.Start)
		if c != nil {
			err = c.testify(err)
			c.close("", 0)
		}
		u.failed(err)
		return
	}
	u.resubscribe(c)
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		c.close("junctor is shutting down", u.opts.Shutdown)
		return
	}
	u.conn, u.err = c, nil
	u.connects++
	u.set(Ready)
	u.rest()
	u.work.Go(func() { u.watch(c) })
	c.tellLevel()
	u.mu.Unlock()
	u.opts.Peer.Connected(u)
}

// startError names the phase and the setting when time was up.
func startError(ctx context.Context, err error, d time.Duration) error {
	// What inherits the deadline may report it a moment earlier than ctx.
	late := errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if !late || fault.Is(err, fault.UpstreamExited) {
		return err
	}
	f := &fault.Error{Code: fault.UpstreamStartTimeout, Err: err,
		Message: fmt.Sprintf("the server did not get ready within %s: %s", d, fault.As(err).Message),
		Hint:    "raise timeouts { start } in its block; the first start of a server that is downloaded takes longest"}
	f.Output = fault.As(err).Output
	return f
}

// testifyTime bounds asking what a server said that did not get ready.
const testifyTime = time.Second

// testify adds to the error of a server that did not get ready, but runs, what
// it printed meanwhile.
func (c *conn) testify(err error) error {
	w, ok := c.link.(Witness)
	if !ok || !fault.Is(err, fault.UpstreamStartTimeout) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), testifyTime)
	defer cancel()
	stderr, junk := w.Said(ctx)
	f := *fault.As(err)
	if f.Output == nil {
		f.Output = stderr
	}
	if junk > 0 {
		f.Message += fmt.Sprintf("; %d lines on its standard output were not messages", junk)
		f.Hint = "check that the command is an MCP server, and that it logs to standard error only"
	}
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
	u.retry = time.Now().Add(u.delays.NextBackOff())
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
		// A connection that lasted is worth another attempt at once, and one
		// that was good for something very soon.
		lasted := time.Since(c.since) > retryMost
		if lasted || c.useful.Load() {
			u.delays.Reset()
		}
		u.retry = time.Time{}
		if !lasted {
			u.retry = time.Now().Add(soonAgain(u.delays.NextBackOff()))
		}
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

// soonAgain shortens the wait after a connection that at least there was, but not
// after many that were good for nothing: each has cost a start, or a handshake and
// the lists.
func soonAgain(d time.Duration) time.Duration {
	if d > retryMost*2/3 {
		return d
	}
	return d / 10
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
		if err := u.Connect(u.ctx); err == nil {
			return
		}
	}
}

// dial opens a channel and shakes hands.
func (u *Upstream) dial(ctx context.Context) (c *conn, err error) {
	defer u.saved("connecting", &err) // with the connection, so that it is closed
	link, err := u.opts.Open(ctx)
	if err != nil {
		return nil, err
	}
	c = newConn(u, link)
	again, err := c.handshake(ctx)
	if !again {
		return c, err
	}
	// The server ended over the question which era it is of: an old one.
	c.close("", 0)
	if link, err = u.opts.Open(ctx); err != nil {
		return nil, err
	}
	c = newConn(u, link)
	return c, c.initialize(ctx, nil)
}

func gaveUp(ctx context.Context, doing string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Because(fault.CallTimeout, ctx.Err(), "%s took too long", doing)
	}
	return fault.Because(fault.CallCanceled, ctx.Err(), "%s was given up", doing)
}
