package plugin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// A component is an authorizer or a vault in a plugin's process. It starts on first
// use and ends with the process. The next use after that starts both again. Methods may be
// called concurrently. An Authorizer or a Vault is one; the caller of Supervisor.Authorizer or
// Vault calls Close.
type component struct {
	sup    *Supervisor
	spec   Spec
	what   string // description for messages: auth provider "acme"
	server string // the server it belongs to, or ""
	grant  sdk.Host
	limit  time.Duration // timeout of its start
	fatal  bool          // a start that times out ends the process
	start  func(ctx context.Context, l *link, handle, capability string) error
	stop   func(ctx context.Context, l *link, handle string) error

	life context.Context // canceled by Close
	end  context.CancelFunc
	work sync.WaitGroup // running starts

	mu      sync.Mutex
	current *componentStart // guarded by mu
	closed  bool            // guarded by mu
}

// A componentStart is the start of a component in one process. It does not change, but for err
// and the end of done.
type componentStart struct {
	link               *link
	handle, capability string
	done               chan struct{} // closed when the start has succeeded or failed
	err                error         // the error of the start; valid after done is closed
}

func (s *componentStart) failed() bool { return closed(s.done) && s.err != nil }

// use calls f with the component in a running process. The process does not become
// idle meanwhile. use returns a fault, or the error of the caller's context. It blocks on the
// goroutine of the caller.
func (c *component) use(ctx context.Context, f func(ctx context.Context, l *link, handle string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	err := c.attempt(ctx, f)
	switch {
	case err == nil:
		return nil
	case c.life.Err() != nil:
		return c.closedError()
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err() // the caller gave up
	case timedOut(ctx, err):
		return context.DeadlineExceeded
	}
	return c.withPlugin(err)
}

// timedOut reports whether err is a timeout because the deadline of ctx has passed.
// The plugin may detect the deadline slightly earlier.
func timedOut(ctx context.Context, err error) bool {
	deadline, ok := ctx.Deadline()
	over := ok && time.Until(deadline) < 50*time.Millisecond
	return over && (sdk.CodeOf(err) == sdk.Deadline ||
		errors.Is(err, context.DeadlineExceeded) && fault.As(err).Code == fault.Internal)
}

func (c *component) attempt(ctx context.Context, f func(ctx context.Context, l *link, handle string) error) error {
	u := &processUser{server: c.server}
	p, l, err := c.sup.acquire(ctx, c.spec, u)
	if err != nil {
		return err
	}
	defer release(p, l, u)
	handle, err := c.handleIn(ctx, l)
	if err == nil {
		err = f(ctx, l, handle)
	}
	return l.explain(err)
}

// handleIn returns the handle of the component in a process. It starts the component if
// necessary; concurrent callers share one start.
func (c *component) handleIn(ctx context.Context, l *link) (handle string, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return "", c.closedError()
	}
	s := c.current
	if s == nil || s.link != l || s.failed() {
		s = &componentStart{
			link: l, handle: fmt.Sprintf("%s#%d", c.what, instances.Add(1)), capability: rand.Text(),
			done: make(chan struct{}),
		}
		if old := c.current; old != nil && old.link != l && closed(old.done) && old.err == nil {
			c.work.Go(func() { c.stopIn(old) }) // the server has moved to another process
		}
		c.current = s
		c.work.Go(func() { c.begin(s) })
	}
	c.mu.Unlock()
	select {
	case <-s.done:
		return s.handle, s.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// begin starts the component in a process. Callers share the start, so it uses the
// component's context and not a caller's. It runs on a goroutine of its own.
func (c *component) begin(s *componentStart) {
	defer close(s.done)
	ctx, cancel := context.WithTimeout(c.life, c.limit)
	defer cancel()
	defer context.AfterFunc(c.sup.ctx, cancel)()
	s.link.grant(s.capability, c.grant)
	if s.err = c.start(ctx, s.link, s.handle, s.capability); s.err == nil {
		return
	}
	late := errors.Is(ctx.Err(), context.DeadlineExceeded) || timedOut(ctx, s.err)
	if late || ctx.Err() != nil {
		c.abandonStart(s, late)
	}
	s.link.revoke(s.capability)
}

// abandonStart handles a start that failed or timed out. The plugin may still complete
// it, so the component is stopped. It runs on the goroutine of begin.
func (c *component) abandonStart(s *componentStart, late bool) {
	if late {
		f := fault.New(fault.PluginUnresponsive, "%s was not ready within %s", c.what, c.limit)
		s.err = f
		if c.fatal {
			s.link.killWith(f)
			return
		}
	}
	c.stopIn(s)
}

// stopIn stops the component in a process. It runs on goroutines of the component and of Close;
// it may wait for the plugin.
func (c *component) stopIn(s *componentStart) {
	ctx, cancel := context.WithTimeout(context.Background(), c.sup.limits.closeStream)
	defer cancel()
	defer context.AfterFunc(c.sup.ctx, cancel)()
	if !s.link.usable() {
		return
	}
	if err := c.stop(ctx, s.link, s.handle); err != nil && s.link.usable() {
		s.link.log.Warn("the plugin did not stop a component",
			"component", c.what, "error", s.link.conceal.hide(err.Error()))
	}
}

// Close stops the component for good. Calls in progress fail. Close does not wait
// for an unresponsive plugin.
func (c *component) Close() {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	s := c.current
	c.mu.Unlock()
	c.end()
	c.work.Wait()
	if s == nil || !first {
		return
	}
	if s.err == nil {
		c.stopIn(s)
	}
	s.link.revoke(s.capability)
}

func (c *component) closedError() error {
	return fault.New(fault.UpstreamStopped, "%s is closed", c.what)
}

// withPlugin adds the plugin's name to a fault.
func (c *component) withPlugin(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Plugin != "" {
		return err
	}
	told := *f
	told.Plugin = c.spec.Name
	return &told
}
