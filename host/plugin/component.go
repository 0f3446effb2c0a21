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

// A component is an authorizer or a vault in a plugin. Nothing runs until it is
// used. What the first use starts lasts as long as the plugin's process; the
// first use after that starts both again.
type component struct {
	sup    *Supervisor
	spec   Spec
	what   string // it is, for people: auth provider "acme"
	server string // it is for; empty: none
	grant  sdk.Host
	limit  time.Duration // for it to start
	fatal  bool          // a start that takes longer ends the process
	start  func(ctx context.Context, l *link, handle, capability string) error
	stop   func(ctx context.Context, l *link, handle string) error

	life context.Context // ends when it is closed
	end  context.CancelFunc
	work sync.WaitGroup // starts

	mu     sync.Mutex
	now    *started // guarded by mu
	closed bool     // guarded by mu
}

// started is a component in one process.
type started struct {
	link               *link
	handle, capability string
	done               chan struct{} // closed when it has started, or not
	err                error         // why not; written before done is closed
}

func (s *started) failed() bool { return closed(s.done) && s.err != nil }

// use calls f with the component in a process that runs, and keeps the process
// from being idle meanwhile. Its error is a fault, or the caller's own doing.
func (c *component) use(ctx context.Context, f func(ctx context.Context, l *link, handle string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	err := c.attempt(ctx, f)
	switch {
	case err == nil:
		return nil
	case c.life.Err() != nil:
		return c.gone()
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err() // the caller gave up, whatever became of it
	case timedOut(ctx, err):
		return context.DeadlineExceeded
	}
	return c.of(err)
}

// timedOut reports whether err says that the time of ctx has passed. The plugin
// may be the first to notice.
func timedOut(ctx context.Context, err error) bool {
	deadline, ok := ctx.Deadline()
	over := ok && time.Until(deadline) < 50*time.Millisecond
	return over && (sdk.CodeOf(err) == sdk.Deadline || errors.Is(err, context.DeadlineExceeded) && fault.As(err).Code == fault.Internal)
}

func (c *component) attempt(ctx context.Context, f func(ctx context.Context, l *link, handle string) error) error {
	u := &user{server: c.server}
	p, l, err := c.sup.acquire(ctx, c.spec, u)
	if err != nil {
		return err
	}
	defer release(p, l, u)
	handle, err := c.in(ctx, l)
	if err == nil {
		err = f(ctx, l, handle)
	}
	return l.explain(err)
}

// in returns the handle of the component in a process, starting it when need
// be: once for all who wait.
func (c *component) in(ctx context.Context, l *link) (handle string, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return "", c.gone()
	}
	s := c.now
	if s == nil || s.link != l || s.failed() {
		s = &started{
			link: l, handle: fmt.Sprintf("%s#%d", c.what, instances.Add(1)), capability: rand.Text(), done: make(chan struct{}),
		}
		if old := c.now; old != nil && old.link != l && closed(old.done) && old.err == nil {
			c.work.Go(func() { c.leave(old) }) // its server has moved to another process
		}
		c.now = s
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

// begin starts the component in a process. Nobody's context but its own ends
// that, because many may wait for it.
func (c *component) begin(s *started) {
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
		c.giveUp(s, late)
	}
	s.link.revoke(s.capability)
}

// giveUp ends a start that nobody waits for any more, and may succeed all the
// same.
func (c *component) giveUp(s *started, late bool) {
	if late {
		f := fault.New(fault.PluginUnresponsive, "%s did not get ready within %s", c.what, c.limit)
		s.err = f
		if c.fatal {
			s.link.condemn(f)
			return
		}
	}
	c.leave(s)
}

// leave makes the plugin forget the component.
func (c *component) leave(s *started) {
	ctx, cancel := context.WithTimeout(context.Background(), c.sup.limits.hangUp)
	defer cancel()
	defer context.AfterFunc(c.sup.ctx, cancel)()
	if !s.link.usable() {
		return
	}
	if err := c.stop(ctx, s.link, s.handle); err != nil && s.link.usable() {
		s.link.log.Warn("the plugin did not stop a component", "component", c.what, "error", s.link.conceal.hide(err.Error()))
	}
}

// Close ends it for good: who uses it is told so, and the plugin forgets it. It
// returns soon, whatever the plugin does.
func (c *component) Close() {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	s := c.now
	c.mu.Unlock()
	c.end()
	c.work.Wait()
	if s == nil || !first {
		return
	}
	if s.err == nil {
		c.leave(s)
	}
	s.link.revoke(s.capability)
}

func (c *component) gone() error {
	return fault.New(fault.UpstreamStopped, "%s is no longer used", c.what)
}

// of adds to a fault whose it is.
func (c *component) of(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Plugin != "" {
		return err
	}
	told := *f
	told.Plugin = c.spec.Name
	return &told
}
