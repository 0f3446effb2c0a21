package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// Connect waits until the upstream is ready and connects it if necessary.
// Concurrent callers share one attempt, which continues if a caller gives up. This file has the
// waits of callers for a connection; the attempt itself is in start.go.
func (u *Upstream) Connect(ctx context.Context) error { return u.connectFor(ctx, ForList) }

func (u *Upstream) connectFor(ctx context.Context, priority Priority) error {
	_, err := u.get(ctx, priority)
	if err == nil {
		u.put()
	}
	return err
}

// get returns a ready connection. It stays open until put is called, unless it
// fails. It blocks until the upstream is ready or cannot be.
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

// put releases a connection that get returned.
func (u *Upstream) put() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
	u.settleLocked()
}

// ready waits for a connection. It starts an attempt if none is running. The wait is part
// of the span of ctx.
func (u *Upstream) ready(ctx context.Context) (_ *conn, err error) {
	waited, span := false, tracing.Untraced
	defer func() { span.End(outcome.Of(err)) }()
	for {
		u.mu.Lock()
		changed, soon := u.changed, time.Until(u.retries.next)
		var due <-chan time.Time
		switch {
		case u.closed:
			err := u.err
			u.mu.Unlock()
			return nil, err
		case u.state == Ready && u.conn.table.alive():
			c := u.conn
			u.mu.Unlock()
			return c, nil
		case u.state == Ready: // the connection just ended; wait for watch to record it
		case u.state == Failed && (waited || soon > retrySoon):
			err, stamp := u.err, u.retries.stamp
			if !waited {
				err = u.retries.explain(err)
			}
			u.mu.Unlock()
			if !waited && stamp != u.opts.credentials() {
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
			ctx, span = startSpan(ctx, u.opts.Name)
			connecting := tracing.Copy(u.ctx, ctx)
			u.work.Go(func() { (&attempt{u}).connect(connecting) })
			waited, changed = true, u.changed
		}
		u.mu.Unlock()
		if span == tracing.Untraced {
			ctx, span = startSpan(ctx, u.opts.Name)
		}
		select {
		case <-changed:
		case <-due:
		case <-ctx.Done():
			return nil, contextError(ctx, "waiting for the server to get ready")
		}
	}
}

// startSpan begins the part of a span in which a server starts.
func startSpan(ctx context.Context, server string) (context.Context, tracing.Span) {
	span := tracing.From(ctx).Start("start server")
	if span == tracing.Untraced {
		return ctx, span
	}
	span.Set("junctor.server", server)
	return tracing.With(ctx, span), span
}

// failed records a failed attempt.
func (u *Upstream) failed(err error) {
	stamp := u.opts.credentials()
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return
	}
	u.err = err
	// A plugin in quarantine says when the next attempt is possible.
	u.retries.after(max(u.retries.delays.NextBackOff(), fault.As(err).RetryAfter))
	u.conn, u.retries.stamp = nil, stamp
	u.set(Failed)
	u.mu.Unlock()
	u.opts.Peer.Disconnected(u, err)
}

// watch waits for the end of a connection and records it. It runs on a goroutine of its own for
// each connection.
func (u *Upstream) watch(c *conn) {
	<-c.done
	stamp := u.opts.credentials()
	u.mu.Lock()
	mine := u.conn == c
	again := false
	if mine {
		u.conn, u.err, u.retries.stamp = nil, c.err, stamp
		u.idle.stop()
		u.retries.ended(c)
		again = len(u.subs.byTopic) > 0 && !u.closed
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

// reconnect retries while there are subscriptions. Subscribers make no calls that
// would reconnect the server. It runs on a goroutine of its own.
func (u *Upstream) reconnect() {
	for {
		u.mu.Lock()
		needed, wait := len(u.subs.byTopic) > 0 && !u.closed, time.Until(u.retries.next)
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

// contextError returns the fault for the end of ctx: its cause, if that is a fault, or
// else a timeout or a cancellation.
func contextError(ctx context.Context, doing string) error {
	if f, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
		return f
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &fault.Error{Code: fault.CallTimeout, Message: doing + " took too long", Err: ctx.Err()}
	}
	return &fault.Error{Code: fault.CallCanceled, Message: doing + " was cancelled", Err: ctx.Err()}
}

// credentials returns a stamp that changes with the server's credentials.
func (o *Options) credentials() string {
	if o.Changed == nil {
		return ""
	}
	return o.Changed()
}

// Retry allows the next call to connect at once, regardless of earlier failures. Use
// it when the cause of the failures is gone, such as after a login.
func (u *Upstream) Retry() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retries.reset()
}
