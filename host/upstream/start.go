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
	// startGrace is the time for the process of a failed start to exit before it
	// is killed.
	startGrace = 10 * time.Second
	// installGrace is the same for a launcher, which removes its locks and partial
	// installation: npx takes nine seconds on a busy machine.
	installGrace = 30 * time.Second
)

// Raise sets the minimum priority of the next start, or of the one in the queue.
func (u *Upstream) Raise(priority Priority) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.raise(priority)
}

// raise implements Raise. The caller holds mu.
func (u *Upstream) raise(priority Priority) {
	if u.state == Ready || priority <= u.priority {
		return
	}
	u.priority = priority
	if u.place != nil {
		u.place.raise(priority)
	}
}

// An attempt connects an upstream once. One goroutine runs it (connect); there is one attempt
// at a time.
type attempt struct{ up *Upstream }

// connect waits for its turn, opens the link and performs the
// handshake. ctx is that of the upstream, with the span of the caller that began it. It runs on
// a goroutine of its own that Upstream.ready starts.
func (a *attempt) connect(ctx context.Context) {
	if err := a.prepare(ctx); err != nil {
		a.up.failed(err)
		return
	}
	p, err := a.awaitTurn()
	defer p.leave()
	if err != nil {
		return // Close has set the error
	}
	clock := a.beginStart(ctx)
	c, err := a.dial(clock)
	over := clock.stop()
	a.up.mu.Lock()
	a.up.place, a.up.clock, a.up.priority = nil, nil, 0
	a.up.mu.Unlock()
	p.leave()
	if err != nil {
		err = a.startError(clock, over, err)
		if c != nil {
			err = c.withOutput(err)
			a.endStart(c)
		}
		a.up.failed(a.withDiagnosis(err))
		return
	}
	a.connected(c)
}

// prepare calls Options.Prepare.
func (a *attempt) prepare(ctx context.Context) (err error) {
	if a.up.opts.Prepare == nil {
		return nil
	}
	defer fault.Recover(&err, a.up.opts.Log, a.up.opts.Name, "preparing to connect")
	return a.up.opts.Prepare(ctx)
}

// awaitTurn waits until the process of a failed start has exited, because it could hold a
// lock. It then waits for a place in the start queue.
func (a *attempt) awaitTurn() (*place, error) {
	a.up.mu.Lock()
	ending := a.up.ending
	a.up.mu.Unlock()
	if ending != nil {
		select {
		case <-ending:
		case <-a.up.ctx.Done():
		}
	}
	a.up.mu.Lock()
	p := a.up.opts.Starts.enter(a.up.priority, a.up.opts.Launcher != "")
	a.up.place = p
	a.up.mu.Unlock()
	return p, p.await(a.up.ctx)
}

// beginStart starts the clock of a start.
func (a *attempt) beginStart(ctx context.Context) *startClock {
	limit := a.up.opts.Start
	if a.up.opts.Launcher != "" {
		limit = max(limit, a.up.opts.Install)
	}
	clock := newStartClock(ctx, limit, a.up.opts.Install)
	a.up.mu.Lock()
	defer a.up.mu.Unlock()
	a.up.clock = clock
	return clock
}

// connected puts a ready connection into use.
func (a *attempt) connected(c *conn) {
	a.up.subs.resubscribe(c)
	a.up.mu.Lock()
	if a.up.closed {
		reason := a.up.closeReason()
		a.up.mu.Unlock()
		c.close(reason, a.up.opts.Shutdown)
		return
	}
	a.up.conn, a.up.err = c, nil
	a.up.connects++
	a.up.set(Ready)
	a.up.settleLocked()
	a.up.work.Go(func() { a.up.watch(c) })
	c.syncLevel()
	a.up.mu.Unlock()
	a.up.opts.Peer.Connected(a.up)
}

// dial opens a link and performs the handshake.
func (a *attempt) dial(clock *startClock) (c *conn, err error) {
	defer fault.Recover(&err, a.up.opts.Log, a.up.opts.Name, "connecting") // c is set, so that the caller closes it
	if c, err = a.open(clock); err != nil {
		return nil, err
	}
	h := &handshake{conn: c}
	again, err := h.run(clock)
	if !again {
		return c, err
	}
	// The server ended because of server/discover, so it is a legacy server.
	c.close("", 0)
	if c, err = a.open(clock); err != nil {
		return nil, err
	}
	return c, (&handshake{conn: c}).initialize(clock, nil)
}

// open opens a link.
func (a *attempt) open(clock *startClock) (*conn, error) {
	a.up.mu.Lock()
	a.up.retries.starts.add(time.Now())
	a.up.mu.Unlock()
	link, err := a.up.opts.Open(clock)
	if err != nil {
		return nil, err
	}
	c := newConn(a.up, link)
	c.started = clock.begun
	a.up.work.Go(func() { clock.observe(c) })
	return c, nil
}

// endStart closes the connection of a failed start in the background. Close and the
// next attempt wait for it. It does not wait.
func (a *attempt) endStart(c *conn) {
	grace, ended := startGrace, make(chan struct{})
	if a.up.opts.Launcher != "" {
		grace = installGrace
	}
	a.up.mu.Lock()
	a.up.ending = ended
	a.up.mu.Unlock()
	a.up.work.Go(func() {
		defer close(ended)
		c.close("", grace)
	})
}

// startError adds the phase and the setting to the error of a start that timed out.
func (a *attempt) startError(clock *startClock, over, err error) error {
	// A derived deadline may be reported slightly before the clock's own.
	late := errors.Is(over, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if !late || fault.Is(err, fault.UpstreamExited) || strings.HasPrefix(string(fault.As(err).Code), "plugin.") {
		return err
	}
	took := clock.allowed().Round(time.Millisecond)
	if f := a.delay(); f != nil {
		f.Code, f.Err = fault.UpstreamStartTimeout, err
		f.Message = fmt.Sprintf("the server did not get ready within %s: %s", took, f.Message)
		return f
	}
	f := &fault.Error{Code: fault.UpstreamStartTimeout, Err: err, Output: fault.As(err).Output,
		Message: fmt.Sprintf("the server did not get ready within %s: %s", took, fault.As(err).Message)}
	switch {
	case a.up.opts.Launcher != "":
		f.Hint = fmt.Sprintf(
			"raise timeouts { install } in its block, or run its command by hand once to see what %s waits for",
			a.up.opts.Launcher,
		)
	case took >= clock.total && took > clock.limit:
		f.Hint = "raise timeouts { install } in its block: it still printed lines on standard error"
	default:
		f.Hint = "check that it is an MCP server, and raise timeouts { start } in its block if it needs longer"
	}
	return f
}

// delay returns the result of Options.Delay.
func (a *attempt) delay() *fault.Error {
	if a.up.opts.Delay == nil {
		return nil
	}
	return a.up.opts.Delay()
}

// withDiagnosis adds the explanation of Options.Diagnose for the server's last output
// lines, if there is one.
func (a *attempt) withDiagnosis(err error) error {
	f := *fault.As(err)
	if a.up.opts.Diagnose == nil || len(f.Output) == 0 {
		return err
	}
	meaning, hint := a.up.opts.Diagnose(f.Output)
	if hint == "" {
		return err
	}
	f.Message, f.Hint = f.Message+"; "+meaning, hint
	return &f
}

// outputTime limits the wait for the output of a server.
const outputTime = time.Second

// withOutput adds to the error of a start that timed out what the server sent or printed
// instead of a response.
func (c *conn) withOutput(err error) error {
	if !fault.Is(err, fault.UpstreamStartTimeout) {
		return err
	}
	err = c.unmatched.explain(fault.As(err), 0)
	w, ok := c.link.(Diagnoser)
	if !ok {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), outputTime)
	defer cancel()
	stderr, junk := w.Output(ctx)
	f := *fault.As(err)
	if f.Output == nil {
		f.Output = stderr
	}
	if junk > 0 {
		texts := strayOf(c.up.opts.Program)
		f.Message, f.Hint = f.Message+"; "+texts.count(junk), texts.hint
	}
	return &f
}
