package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
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

// A StartStatus describes a running start. The zero value means that there is none.
type StartStatus struct {
	Queued   bool          // waiting in the start queue, or for the previous process to exit
	Launcher string        // the program that may install the server, or ""
	Taken    time.Duration // time since the start left the queue
	Allowed  time.Duration // current timeout of the start
	Line     string        // last line on standard error, or ""
}

// startStatus returns the status of the start. The caller holds mu.
func (u *Upstream) startStatus() StartStatus {
	if u.clock == nil {
		return StartStatus{Queued: true, Launcher: u.opts.Launcher}
	}
	return StartStatus{
		Launcher: u.opts.Launcher, Taken: time.Since(u.clock.begun), Allowed: u.clock.allowed(), Line: u.clock.lastLine(),
	}
}

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

// connect makes one attempt: it waits for its turn, opens the link and performs the
// handshake. ctx is that of the upstream, with the span of the caller that began it.
func (u *Upstream) connect(ctx context.Context) {
	if err := u.prepare(ctx); err != nil {
		u.failed(err)
		return
	}
	p, err := u.awaitTurn()
	defer p.leave()
	if err != nil {
		return // Close has set u.err
	}
	clock := u.beginStart(ctx)
	c, err := u.dial(clock)
	over := clock.stop()
	u.mu.Lock()
	u.place, u.clock, u.priority = nil, nil, 0
	u.mu.Unlock()
	p.leave()
	if err != nil {
		err = u.startError(clock, over, err)
		if c != nil {
			err = c.withOutput(err)
			u.endStart(c)
		}
		u.failed(u.withDiagnosis(err))
		return
	}
	u.connected(c)
}

// prepare calls Options.Prepare.
func (u *Upstream) prepare(ctx context.Context) (err error) {
	if u.opts.Prepare == nil {
		return nil
	}
	defer fault.Recover(&err, u.opts.Log, u.opts.Name, "preparing to connect")
	return u.opts.Prepare(ctx)
}

// awaitTurn waits until the process of a failed start has exited, because it could hold a
// lock. It then waits for a place in the start queue.
func (u *Upstream) awaitTurn() (*place, error) {
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

// beginStart starts the clock of a start.
func (u *Upstream) beginStart(ctx context.Context) *startClock {
	limit := u.opts.Start
	if u.opts.Launcher != "" {
		limit = max(limit, u.opts.Install)
	}
	clock := newStartClock(ctx, limit, u.opts.Install)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clock = clock
	return clock
}

// connected puts a ready connection into use.
func (u *Upstream) connected(c *conn) {
	u.resubscribe(c)
	u.mu.Lock()
	if u.closed {
		reason := u.closeReason()
		u.mu.Unlock()
		c.close(reason, u.opts.Shutdown)
		return
	}
	u.conn, u.err = c, nil
	u.connects++
	u.set(Ready)
	u.settleLocked()
	u.work.Go(func() { u.watch(c) })
	c.syncLevel()
	u.mu.Unlock()
	u.opts.Peer.Connected(u)
}

// dial opens a link and performs the handshake.
func (u *Upstream) dial(clock *startClock) (c *conn, err error) {
	defer fault.Recover(&err, u.opts.Log, u.opts.Name, "connecting") // c is set, so that the caller closes it
	if c, err = u.open(clock); err != nil {
		return nil, err
	}
	h := &handshake{conn: c}
	again, err := h.run(clock)
	if !again {
		return c, err
	}
	// The server ended because of server/discover, so it is a legacy server.
	c.close("", 0)
	if c, err = u.open(clock); err != nil {
		return nil, err
	}
	return c, (&handshake{conn: c}).initialize(clock, nil)
}

// open opens a link.
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

// endStart closes the connection of a failed start in the background. Close and the
// next attempt wait for it.
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

// startError adds the phase and the setting to the error of a start that timed out.
func (u *Upstream) startError(clock *startClock, over, err error) error {
	// A derived deadline may be reported slightly before the clock's own.
	late := errors.Is(over, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if !late || fault.Is(err, fault.UpstreamExited) || strings.HasPrefix(string(fault.As(err).Code), "plugin.") {
		return err
	}
	took := clock.allowed().Round(time.Millisecond)
	if f := u.delay(); f != nil {
		f.Code, f.Err = fault.UpstreamStartTimeout, err
		f.Message = fmt.Sprintf("the server did not get ready within %s: %s", took, f.Message)
		return f
	}
	f := &fault.Error{Code: fault.UpstreamStartTimeout, Err: err, Output: fault.As(err).Output,
		Message: fmt.Sprintf("the server did not get ready within %s: %s", took, fault.As(err).Message)}
	switch {
	case u.opts.Launcher != "":
		f.Hint = fmt.Sprintf("raise timeouts { install } in its block, or run its command by hand once to see what %s waits for", u.opts.Launcher)
	case took >= clock.total && took > clock.limit:
		f.Hint = "raise timeouts { install } in its block: it still printed lines on standard error"
	default:
		f.Hint = "check that it is an MCP server, and raise timeouts { start } in its block if it needs longer"
	}
	return f
}

// delay returns the result of Options.Delay.
func (u *Upstream) delay() *fault.Error {
	if u.opts.Delay == nil {
		return nil
	}
	return u.opts.Delay()
}

// withDiagnosis adds the explanation of Options.Diagnose for the server's last output
// lines, if there is one.
func (u *Upstream) withDiagnosis(err error) error {
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

// Limits for a server that ends soon after each start: at most maxStarts starts per
// minute, even if it answered calls. The count resets after it runs for a minute.
const (
	maxStarts    = 10
	startsWindow = time.Minute
	// startsPerAttempt is the maximum number of starts in one attempt. A legacy server
	// may end because of server/discover and need a second start.
	startsPerAttempt = 2
	steadyTime       = time.Minute
	startsJitter     = time.Second // maximum jitter
)

// starts holds the times of the server's starts, oldest first, without the ones that
// Junctor ended itself. The upstream's mu guards it.
type starts struct{ at []time.Time }

// add records a start.
func (s *starts) add(now time.Time) {
	s.at = append(s.at, now)
	s.at = s.at[max(0, len(s.at)-maxStarts):]
}

// forget removes the starts since begun, because Junctor ended the server itself.
func (s *starts) forget(begun time.Time) {
	s.at = slices.DeleteFunc(s.at, func(at time.Time) bool { return !at.Before(begun) })
}

// next returns the earliest time of the next attempt, or zero for now.
func (s *starts) next() time.Time {
	const full = maxStarts - startsPerAttempt + 1 // starts within a minute that block another attempt
	if len(s.at) < full {
		return time.Time{}
	}
	next := s.at[len(s.at)-full].Add(startsWindow)
	if !next.After(time.Now()) {
		return time.Time{}
	}
	return next.Add(rand.N(startsJitter))
}

// started records a start of the server.
func (u *Upstream) started() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.starts.add(time.Now())
}

// retryAfter schedules the next attempt after wait at the earliest. The caller holds
// mu.
func (u *Upstream) retryAfter(wait time.Duration) {
	u.retry = time.Now().Add(wait)
	if next := u.starts.next(); next.After(u.retry) {
		u.retry = next
	}
}

// connectionEnded schedules the next attempt after a connection has ended. The caller
// holds mu.
func (u *Upstream) connectionEnded(c *conn) {
	useful := c.useful.Load()
	if time.Since(c.since) >= steadyTime {
		u.starts = starts{}
		u.delays.Reset()
		u.retry = time.Time{}
		return
	}
	if useful {
		u.delays.Reset()
		if fault.Is(c.err, fault.UpstreamSession) {
			u.starts.forget(c.started) // a lost session of a remote server needs no new process
		}
	}
	u.retryAfter(shortenWait(u.delays.NextBackOff()))
}

// shortenWait shortens the wait after a successful connection. It keeps long waits:
// they follow many connections that ended before they answered a client.
func shortenWait(d time.Duration) time.Duration {
	if d > retryMax*2/3 {
		return d
	}
	return d / 10
}
