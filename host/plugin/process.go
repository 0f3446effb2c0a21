package plugin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A State is where a plugin process is in its life:
//
//	stopped -> starting -> ready -> stopped         (idle, or asked to)
//	           starting -> backoff -> starting      (it did not start)
//	                       ready -> backoff         (it crashed)
//	                       backoff -> quarantined   (once too often)
//	                       quarantined -> starting  (after a while)
type State string

// The states.
const (
	Stopped     State = "stopped"
	Starting    State = "starting"
	Ready       State = "ready"
	Backoff     State = "backoff"
	Quarantined State = "quarantined"
)

// A proc is one plugin process as the supervisor thinks of it: the same one
// over all the restarts of the operating system's.
type proc struct {
	sup   *Supervisor
	spec  Spec
	group int // guarded by sup.mu; of isolated servers; 0: all the others

	mu       sync.Mutex
	state    State         // guarded by mu
	changed  chan struct{} // guarded by mu; closed and replaced when state changes
	link     *link         // guarded by mu; valid when ready
	open     int           // guarded by mu; connections
	idle     *time.Timer   // guarded by mu; runs while ready without connections
	retry    time.Time     // guarded by mu; when backoff or quarantine ends
	delays   *backoff.ExponentialBackOff
	crashes  []time.Time // guarded by mu
	owner    string      // guarded by mu; the server to which all crashes are charged; empty: none
	isolated time.Time   // guarded by mu; when servers were last isolated from it
	readied  time.Time   // guarded by mu; when it last got ready
	starts   int         // guarded by mu
	lastErr  error       // guarded by mu; why it is not ready
	stage    stage       // of a start
	stopping bool        // guarded by mu

	work sync.WaitGroup // starting and watching
}

func newProc(s *Supervisor, spec Spec) *proc {
	// Full jitter: anything between nothing and 100 ms, 200 ms, ... 30 s.
	delays := &backoff.ExponentialBackOff{
		InitialInterval: s.limits.backoffFirst / 2, MaxInterval: s.limits.backoffMost / 2, Multiplier: 2, RandomizationFactor: 1,
	}
	delays.Reset()
	return &proc{sup: s, spec: spec, state: Stopped, changed: make(chan struct{}), delays: delays}
}

// set changes the state. The caller holds mu.
func (p *proc) set(s State) {
	p.state = s
	close(p.changed)
	p.changed = make(chan struct{})
}

// get returns a link that is ready, starting the process when need be. It
// waits through a backoff as long as ctx allows. What it returned is given
// back with put.
func (p *proc) get(ctx context.Context) (*link, error) {
	waited := false // for a start, whose failure is then the answer
	for {
		p.mu.Lock()
		l, wait, changed, err := p.next(&waited)
		p.mu.Unlock()
		if l != nil || err != nil {
			return l, err
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

// next does what the state allows: it returns a link, an error, or how long
// to wait at most for the next look. The caller holds mu.
func (p *proc) next(waited *bool) (l *link, wait time.Duration, changed <-chan struct{}, err error) {
	now := time.Now()
	pause := p.retry.Sub(now)
	switch {
	case p.stopping:
		return nil, 0, nil, shuttingDown()
	case p.state == Ready && !p.link.usable():
		return nil, p.sup.limits.start, p.changed, nil // watch is about to notice
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

// permanent reports whether a start failed for a reason that another start
// will not cure.
func permanent(err error) bool {
	switch fault.As(err).Code {
	case fault.PluginNotFound, fault.PluginNotAllowed, fault.PluginChecksum, fault.PluginProtocol, fault.PluginDescribe:
		return true
	}
	return false
}

func (p *proc) notReady(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastErr != nil {
		return p.lastErr
	}
	return p.stage.late(p.spec.Name, ctx.Err())
}

// quarantined explains the quarantine. The caller holds mu.
func (p *proc) quarantined(now time.Time) error {
	last := fault.As(p.lastErr)
	// The text has the time of day: it is shown again later, when a duration
	// would no longer agree with RetryAfter.
	return &fault.Error{
		Code:   fault.PluginQuarantined,
		Plugin: p.spec.Name, Output: last.Output, Err: p.lastErr, RetryAfter: p.retry.Sub(now),
		Message: fmt.Sprintf("plugin %q crashed %d times within %s, last because %s", p.spec.Name, p.sup.limits.crashes, p.sup.limits.within, last.Message),
		Hint:    fmt.Sprintf("it is tried again at %s; junctor plugin logs %s shows what it said", p.retry.Format("15:04:05 MST"), p.spec.Name),
	}
}

// start starts the process once.
func (p *proc) start() {
	limit := p.sup.limits.start + p.sup.limits.describe
	if p.spec.Start > 0 {
		limit = min(limit, p.spec.Start)
	}
	ctx, cancel := context.WithTimeout(p.sup.ctx, limit)
	defer cancel()
	l, err := p.sup.begin(ctx, p.spec, &p.stage)

	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopping:
		p.set(Stopped)
		if l != nil { // stop did not see it
			p.work.Go(func() { l.stop(0) })
		}
	case err != nil:
		f := *fault.As(err)
		f.Plugin = p.spec.Name
		p.crashed(&f)
	default:
		p.link, p.lastErr, p.readied = l, nil, time.Now()
		p.set(Ready)
		p.startIdle()
		p.work.Go(func() { p.watch(l) })
	}
}

// crashed records a crash or a start that failed. The caller holds mu.
func (p *proc) crashed(err error) {
	now := time.Now()
	p.lastErr, p.link = err, nil
	if !permanent(err) {
		p.crashes = append(p.crashes, now)
	}
	p.age(now)
	if len(p.crashes) >= p.sup.limits.crashes {
		p.retry = p.crashes[0].Add(p.sup.limits.within)
		p.set(Quarantined)
		return
	}
	p.retry = now.Add(p.delays.NextBackOff())
	p.set(Backoff)
}

// age forgets crashes of long ago. The caller holds mu.
func (p *proc) age(now time.Time) {
	for len(p.crashes) > 0 && now.Sub(p.crashes[0]) >= p.sup.limits.within {
		p.crashes = p.crashes[1:]
	}
}

// watch looks after a process that runs, until it ends.
func (p *proc) watch(l *link) {
	calm := time.AfterFunc(p.sup.limits.calm, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.delays.Reset()
	})
	defer calm.Stop()
	l.healthy()
	<-l.cleaned
	p.sup.opts.orphans()

	if !p.has(l) {
		return // it was idle; another may run by now
	}
	charged, owner := p.sup.isolate(p, l) // while the state is still ready, so that callers wait
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
		p.crashed(l.gone())
	default: // the next start need not wait: the suspects are elsewhere
		p.link, p.lastErr, p.isolated = nil, l.gone(), time.Now()
		p.delays.Reset()
		p.set(Stopped)
	}
}

// has reports whether l is the process that runs.
func (p *proc) has(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link == l
}

// put gives back what get returned.
func (p *proc) put() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.startIdle()
}

// startIdle begins to count the time without connections. The caller holds mu.
func (p *proc) startIdle() {
	if p.open == 0 && p.state == Ready && p.idle == nil {
		p.idle = time.AfterFunc(p.sup.limits.idle, p.stopIfIdle)
	}
}

// stopIdle ends that count. The caller holds mu.
func (p *proc) stopIdle() {
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
}

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

// stop ends the process for good.
func (p *proc) stop(grace time.Duration) {
	p.mu.Lock()
	p.stopping = true
	p.stopIdle()
	l := p.link
	p.set(p.state) // wakes those who wait
	p.mu.Unlock()
	if l != nil {
		l.stop(grace)
	}
	p.work.Wait()
}

// status says how the process is.
func (p *proc) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Status{Name: p.spec.Name, Alone: p.spec.Alone, State: p.state, Connections: p.open, Starts: p.starts, Err: p.lastErr}
	if p.link != nil {
		st.PID = p.link.runner.proc.PID()
	}
	if p.state == Backoff || p.state == Quarantined {
		st.Retry = p.retry
	}
	return st
}
