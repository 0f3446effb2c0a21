package plugin

import "time"

// isolatedRecently reports whether servers were isolated from the process
// within the time in which crashes count.
func (p *proc) isolatedRecently() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.isolated.IsZero() && time.Since(p.isolated) < p.sup.limits.within
}

// charge records a crash of another process that was the doing of the server
// for which this one is.
func (p *proc) charge(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping && p.link == nil && p.state != Starting {
		p.crashed(err)
	}
}

// ran returns how long the process has run, 0 when it does not run.
func (p *proc) ran() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != Ready || !p.link.usable() {
		return 0
	}
	return time.Since(p.readied)
}

// rests reports whether the process neither runs nor is being started.
func (p *proc) rests() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link == nil && p.state != Starting && p.open == 0
}

// renew forgets the crashes of servers that the process is no longer for.
func (p *proc) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes, p.isolated, p.lastErr, p.retry, p.owner = nil, time.Time{}, nil, time.Time{}, ""
	p.delays.Reset()
	p.set(Stopped)
}

// chargedTo returns the server to which all recent crashes are charged, empty
// when there are none or there is no such server.
func (p *proc) chargedTo() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.age(time.Now())
	if len(p.crashes) == 0 {
		return ""
	}
	return p.owner
}

// pardon forgets the crashes, where the server that they are charged to cannot
// get a process of its own.
func (p *proc) pardon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes, p.owner, p.retry = nil, "", time.Time{}
	if p.state == Quarantined {
		p.set(Stopped)
	}
}
