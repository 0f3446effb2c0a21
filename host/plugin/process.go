package plugin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// A State is the state of a plugin process:
//
//	stopped -> starting -> ready -> stopped         (idle or stopped)
//	           starting -> backoff -> starting      (the start failed)
//	                       ready -> backoff         (the process crashed)
//	                       backoff -> quarantined   (too many crashes)
//	                       quarantined -> starting  (after the quarantine)
type State string

// The states.
const (
	Stopped     State = "stopped"
	Starting    State = "starting"
	Ready       State = "ready"
	Backoff     State = "backoff"
	Quarantined State = "quarantined"
)

// A proc is one plugin process across all its restarts. The Supervisor makes it and stops it at
// its own end. Its methods may be called concurrently.
type proc struct {
	sup   *Supervisor
	spec  Spec
	group int // guarded by sup.mu; group of isolated servers; 0 is the shared process

	mu       sync.Mutex
	state    State         // guarded by mu
	changed  chan struct{} // guarded by mu; closed and replaced when state changes
	link     *link         // guarded by mu; valid when ready
	open     int           // guarded by mu; number of users
	idle     *time.Timer   // guarded by mu; runs while ready and unused
	retry    time.Time     // guarded by mu; end of the backoff or quarantine
	delays   *backoff.ExponentialBackOff
	crashes  []time.Time // guarded by mu
	owner    string      // guarded by mu; the server that caused all crashes, or ""
	isolated time.Time   // guarded by mu; last isolation of servers from it
	readied  time.Time   // guarded by mu; last transition to ready
	starts   int         // guarded by mu
	lastErr  error       // guarded by mu; why the process is not ready
	step     startStep   // stage of the current start
	stopping bool        // guarded by mu

	work sync.WaitGroup // goroutines that start and watch
}

func newProc(s *Supervisor, spec Spec) *proc {
	// Full jitter: a random wait below 100 ms, 200 ms, ... up to 30 s.
	delays := &backoff.ExponentialBackOff{
		InitialInterval: s.limits.backoffFirst / 2, MaxInterval: s.limits.backoffMax / 2, Multiplier: 2,
		RandomizationFactor: 1,
	}
	delays.Reset()
	return &proc{sup: s, spec: spec, state: Stopped, changed: make(chan struct{}), delays: delays}
}

// set changes the state and wakes the waiting goroutines. The caller holds mu.
func (p *proc) set(s State) {
	p.state = s
	close(p.changed)
	p.changed = make(chan struct{})
}

// get returns a ready link and starts the process if necessary. It waits through a
// backoff until ctx ends. The caller calls put afterwards. A wait is part of the span of
// ctx.
func (p *proc) get(ctx context.Context) (_ *link, err error) {
	waited := false // true after waiting for a start, whose failure is then returned
	span := tracing.Untraced
	defer func() { span.End(outcome.Of(err)) }()
	for {
		p.mu.Lock()
		l, wait, changed, err := p.next(&waited)
		p.mu.Unlock()
		if l != nil || err != nil {
			return l, err
		}
		if span == tracing.Untraced {
			span = tracing.From(ctx).Start("start plugin")
			span.Set("junctor.plugin", p.spec.Name)
		}
		t := time.NewTimer(wait)
		select {
		case <-changed:
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, p.notReady(ctx)
		}
		t.Stop()
	}
}

// next acts on the current state. It returns a link, an error, or the maximum wait
// until the next call. The caller holds mu.
func (p *proc) next(waited *bool) (l *link, wait time.Duration, changed <-chan struct{}, err error) {
	now := time.Now()
	pause := p.retry.Sub(now)
	switch {
	case p.stopping:
		return nil, 0, nil, shuttingDown()
	case p.state == Ready && !p.link.usable():
		return nil, p.sup.limits.start, p.changed, nil // watch is about to change the state
	case p.state == Ready:
		p.open++
		p.stopIdle()
		return p.link, 0, nil, nil
	case p.state == Quarantined && pause > 0:
		return nil, 0, nil, p.quarantined(now)
	case p.state == Backoff && (*waited || pause > 0 && permanent(p.lastErr)):
		return nil, 0, nil, p.lastErr
	case p.state == Backoff && pause > 0:
		return nil, pause, p.changed, nil
	case p.state != Starting:
		p.set(Starting)
		p.starts++
		p.work.Go(p.start)
	}
	*waited = true
	return nil, p.sup.limits.start + p.sup.limits.describe, p.changed, nil
}

// permanent reports whether another start would fail for the same reason.
func permanent(err error) bool {
	switch fault.As(err).Code {
	case fault.PluginNotFound, fault.PluginNotAllowed, fault.PluginChecksum, fault.PluginProtocol, fault.PluginDescribe:
		return true
	}
	return false
}

// notReady returns the error of a caller whose context ended while it waited.
func (p *proc) notReady(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastErr != nil {
		return p.lastErr
	}
	return p.step.timeoutFault(p.spec.Name, ctx.Err())
}

// quarantined returns the fault for the quarantine. The caller holds mu.
func (p *proc) quarantined(now time.Time) error {
	last := fault.As(p.lastErr)
	// The text contains the time of day. It may be shown later, when a duration would
	// contradict RetryAfter.
	return &fault.Error{
		Code:   fault.PluginQuarantined,
		Plugin: p.spec.Name, Output: last.Output, Err: p.lastErr, RetryAfter: p.retry.Sub(now),
		Message: fmt.Sprintf("plugin %q crashed %d times within %s, most recently because %s",
			p.spec.Name, p.sup.limits.crashes, p.sup.limits.crashWindow, last.Message),
		Hint: fmt.Sprintf("the next attempt is possible at %s; run `junctor plugin logs %s`",
			p.retry.Format("15:04:05 MST"), p.spec.Name),
	}
}

// start makes one attempt to start the process. It runs on a goroutine of its own.
func (p *proc) start() {
	limit := p.sup.limits.start + p.sup.limits.describe
	if p.spec.Start > 0 {
		limit = min(limit, p.spec.Start)
	}
	ctx, cancel := context.WithTimeout(p.sup.ctx, limit)
	defer cancel()
	l, err := p.sup.begin(ctx, p.spec, &p.step)

	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopping:
		p.set(Stopped)
		if l != nil { // stop ran before the link existed
			p.work.Go(func() { l.stop(0) })
		}
	case err != nil:
		if p.sup.ctx.Err() != nil { // Stop has begun, and has not reached this process yet
			err = shuttingDown()
		}
		f := *fault.As(err)
		f.Plugin = p.spec.Name
		p.crashed(&f)
	default:
		p.link, p.lastErr, p.readied = l, nil, time.Now()
		p.set(Ready)
		p.sup.changed(&p.spec, Ready, nil)
		p.startIdle()
		p.work.Go(func() { p.watch(l) })
	}
}

// crashed records a crash or a failed start. The caller holds mu.
func (p *proc) crashed(err error) {
	now := time.Now()
	p.lastErr, p.link = err, nil
	if !permanent(err) {
		p.crashes = append(p.crashes, now)
	}
	p.dropOldCrashes(now)
	if len(p.crashes) >= p.sup.limits.crashes {
		p.retry = p.crashes[0].Add(p.sup.limits.crashWindow)
		p.set(Quarantined)
		p.sup.changed(&p.spec, Quarantined, err)
		return
	}
	p.retry = now.Add(p.delays.NextBackOff())
	p.set(Backoff)
	p.sup.changed(&p.spec, Backoff, err)
}

// dropOldCrashes removes crashes older than the crash window. The caller holds mu.
func (p *proc) dropOldCrashes(now time.Time) {
	for len(p.crashes) > 0 && now.Sub(p.crashes[0]) >= p.sup.limits.crashWindow {
		p.crashes = p.crashes[1:]
	}
}

// watch monitors a running process until it ends. It runs on a goroutine of its own for each
// link.
func (p *proc) watch(l *link) {
	calm := time.AfterFunc(p.sup.limits.stableAfter, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.delays.Reset()
	})
	defer calm.Stop()
	l.watchHealth()
	<-l.cleaned
	p.sup.opts.orphans()

	if !p.has(l) {
		return // stopped as idle; another process may be running
	}
	charged, owner := p.sup.isolate(p, l) // the state is still ready, so callers wait
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopIdle()
	switch {
	case p.stopping:
		p.link = nil
		p.set(Stopped)
	case charged:
		if len(p.crashes) == 0 || p.owner == owner {
			p.owner = owner
		} else {
			p.owner = ""
		}
		p.crashed(l.exitError())
	default: // no backoff: the suspects now use other processes
		p.link, p.lastErr, p.isolated = nil, l.exitError(), time.Now()
		p.delays.Reset()
		p.set(Stopped)
		p.sup.changed(&p.spec, Backoff, p.lastErr)
	}
}

// has reports whether l is the current link.
func (p *proc) has(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link == l
}

// put ends the use of a link that get returned.
func (p *proc) put() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.startIdle()
}

// startIdle starts the idle timer if the process is unused. A process whose program was replaced
// stops soon. The caller holds mu.
func (p *proc) startIdle() {
	if p.open > 0 || p.state != Ready || p.idle != nil {
		return
	}
	wait := p.sup.limits.idle
	if p.sup.programs.replaced(p.spec.Path, p.link.binary) {
		wait = min(wait, replacedIdle)
	}
	p.idle = time.AfterFunc(wait, p.stopIfIdle)
}

// replacedIdle is how long a process may be unused after its program was replaced.
const replacedIdle = time.Second

// stopIdle stops the idle timer. The caller holds mu.
func (p *proc) stopIdle() {
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
}

// stopIfIdle stops the process unless it is in use again.
func (p *proc) stopIfIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open > 0 || p.state != Ready || p.stopping {
		return
	}
	l := p.link
	p.link, p.idle = nil, nil
	p.set(Stopped)
	p.work.Go(func() { l.stop(time.Second) })
}

// stop stops the process permanently. It blocks until the goroutines of the process have ended.
func (p *proc) stop(grace time.Duration) {
	p.mu.Lock()
	p.stopping = true
	p.stopIdle()
	l := p.link
	p.set(p.state) // wakes the waiting goroutines
	p.mu.Unlock()
	if l != nil {
		l.stop(grace)
	}
	p.work.Wait()
}

// status returns the status of the process.
func (p *proc) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Status{Name: p.spec.Name, Alone: p.spec.Alone, State: p.state, Connections: p.open, Starts: p.starts,
		Err: p.lastErr}
	if p.link != nil {
		st.PID, st.Version = p.link.runner.proc.PID(), p.link.pluginVersion
	}
	if p.state == Backoff || p.state == Quarantined {
		st.Retry = p.retry
	}
	return st
}
