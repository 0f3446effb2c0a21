package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	// startGrace is how long the process of a start that failed has to end before
	// it is killed.
	startGrace = 10 * time.Second
	// installGrace is the same for a launcher, which has to remove its locks and
	// what it has installed so far: npx takes nine seconds on a busy machine.
	installGrace = 30 * time.Second
)

// A StartStatus is how a start goes on. The zero value is that of no start.
type StartStatus struct {
	Queued   bool          // it waits for its place, or for the process before to end
	Launcher string        // that may install the server; empty: none
	Taken    time.Duration // since it got its place
	Allowed  time.Duration // as things are now
	Line     string        // the last one on standard error; empty: none so far
}

// startStatus says how the start goes on. The caller holds mu.
func (u *Upstream) startStatus() StartStatus {
	if u.clock == nil {
		return StartStatus{Queued: true, Launcher: u.opts.Launcher}
	}
	return StartStatus{
		Launcher: u.opts.Launcher, Taken: time.Since(u.clock.begun), Allowed: u.clock.allowed(), Line: u.clock.lastLine(),
	}
}

// Raise gives the next start, or the one that waits for its place, a priority at
// least as high as that.
func (u *Upstream) Raise(priority Priority) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.raise(priority)
}

// raise is Raise. The caller holds mu.
func (u *Upstream) raise(priority Priority) {
	if u.state == Ready || priority <= u.priority {
		return
	}
	u.priority = priority
	if u.place != nil {
		u.place.raise(priority)
	}
}

// connect makes one attempt: it waits for its turn, opens the connection and
// shakes hands.
func (u *Upstream) connect() {
	p, err := u.turn()
	defer p.leave()
	if err != nil {
		return // Close has said why
	}
	clock := u.beginStart()
	c, err := u.dial(clock)
	over := clock.stop()
	u.mu.Lock()
	u.place, u.clock, u.priority = nil, nil, 0
	u.mu.Unlock()
	p.leave()
	if err != nil {
		err = u.startError(clock, over, err)
		if c != nil {
			err = c.testify(err)
			u.endStart(c)
		}
		u.failed(u.diagnosed(err))
		return
	}
	u.connected(c)
}

// turn waits until the process of a start that failed has ended, which could
// hold a lock, and for a place in the start queue.
func (u *Upstream) turn() (*place, error) {
	u.mu.Lock()
	ending := u.ending
	u.mu.Unlock()
	if ending != nil {
		select {
		case <-ending:
		case <-u.ctx.Done():
		}
	}
	u.mu.Lock()
	p := u.opts.Starts.enter(u.priority, u.opts.Launcher != "")
	u.place = p
	u.mu.Unlock()
	return p, p.await(u.ctx)
}

// beginStart begins to count the time of a start.
func (u *Upstream) beginStart() *startClock {
	limit := u.opts.Start
	if u.opts.Launcher != "" {
		limit = max(limit, u.opts.Install)
	}
	clock := newStartClock(u.ctx, limit, u.opts.Install)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clock = clock
	return clock
}

// connected takes a connection that is ready into use.
func (u *Upstream) connected(c *conn) {
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

// dial opens a channel and shakes hands.
func (u *Upstream) dial(clock *startClock) (c *conn, err error) {
	defer u.saved("connecting", &err) // with the connection, so that it is closed
	if c, err = u.open(clock); err != nil {
		return nil, err
	}
	again, err := c.handshake(clock)
	if !again {
		return c, err
	}
	// The server ended over the question which era it is of: an old one.
	c.close("", 0)
	if c, err = u.open(clock); err != nil {
		return nil, err
	}
	return c, c.initialize(clock, nil)
}

// open opens a channel.
func (u *Upstream) open(clock *startClock) (*conn, error) {
	u.started()
	link, err := u.opts.Open(clock)
	if err != nil {
		return nil, err
	}
	c := newConn(u, link)
	c.started = clock.begun
	u.work.Go(func() { clock.observe(c) })
	return c, nil
}

// endStart ends the process of a start that failed, or that Close interrupts, in
// the background. Close waits for it, and so does the next attempt.
func (u *Upstream) endStart(c *conn) {
	grace, ended := startGrace, make(chan struct{})
	if u.opts.Launcher != "" {
		grace = installGrace
	}
	u.mu.Lock()
	u.ending = ended
	u.mu.Unlock()
	u.work.Go(func() {
		defer close(ended)
		c.close("", grace)
	})
}

// startError names the phase and the setting when time was up.
func (u *Upstream) startError(clock *startClock, over, err error) error {
	// What inherits the deadline may report it a moment earlier than the clock.
	late := errors.Is(over, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if !late || fault.Is(err, fault.UpstreamExited) || strings.HasPrefix(string(fault.As(err).Code), "plugin.") {
		return err
	}
	took := clock.allowed().Round(time.Millisecond)
	f := &fault.Error{Code: fault.UpstreamStartTimeout, Err: err, Output: fault.As(err).Output,
		Message: fmt.Sprintf("the server did not get ready within %s: %s", took, fault.As(err).Message)}
	switch {
	case u.opts.Launcher != "":
		f.Hint = fmt.Sprintf("raise timeouts { install } in its block, or run its command by hand once to see what %s waits for", u.opts.Launcher)
	case took >= clock.most && took > clock.limit:
		f.Hint = "raise timeouts { install } in its block: it still printed lines on standard error"
	default:
		f.Hint = "raise timeouts { start } in its block"
	}
	return f
}

// diagnosed adds what the server's last lines mean, where that is known.
func (u *Upstream) diagnosed(err error) error {
	f := *fault.As(err)
	if u.opts.Diagnose == nil || len(f.Output) == 0 {
		return err
	}
	meaning, hint := u.opts.Diagnose(f.Output)
	if hint == "" {
		return err
	}
	f.Message, f.Hint = f.Message+"; "+meaning, hint
	return &f
}

// testifyTime bounds asking what a server said that did not get ready.
const testifyTime = time.Second

// testify adds to the error of a server that did not get ready, but runs, what
// it printed meanwhile.
func (c *conn) testify(err error) error {
	w, ok := c.link.(Diagnoser)
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
