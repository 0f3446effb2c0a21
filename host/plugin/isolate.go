package plugin

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A processUser is a server that uses a plugin process through a connection or an auth
// provider. Its methods may be called concurrently. It is made for one use of a process, from
// acquire to release.
type processUser struct {
	server string // empty for a secret store
	// unanswered returns the number of unanswered requests; nil counts as one request.
	unanswered atomic.Pointer[func() int]
	// busy keeps the result of inFlight after the connection has ended.
	busy atomic.Bool
}

// inFlight reports whether the server has an unanswered request.
func (u *processUser) inFlight() bool {
	unanswered := u.unanswered.Load()
	return unanswered == nil || u.busy.Load() || (*unanswered)() > 0
}

// remember stores the result of inFlight.
func (u *processUser) remember() { u.busy.Store(u.inFlight()) }

// join adds a user of the process.
func (l *link) join(u *processUser) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == nil {
		l.users = map[*processUser]struct{}{}
	}
	l.users[u] = struct{}{}
}

// leave removes a user. It keeps the users of a process that has ended, because isolate
// needs them.
func (l *link) leave(u *processUser) {
	if !l.usable() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.users, u)
}

// blame records the server that is the reason for ending the process.
func (l *link) blame(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.endReason == nil && !closed(l.exited()) {
		l.culprit = server
	}
}

// usersAtEnd returns the servers that used the process when it ended, those with an
// unanswered request, and the server that is known to be the cause.
func (l *link) usersAtEnd() (all, busy []string, culprit string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	flags := map[string]bool{}
	for u := range l.users {
		if u.server != "" {
			flags[u.server] = flags[u.server] || u.inFlight()
		}
	}
	all = slices.Sorted(maps.Keys(flags))
	for _, server := range all {
		if flags[server] {
			busy = append(busy, server)
		}
	}
	return all, busy, l.culprit
}

// An isolation is the placement of a server that may have crashed a shared process. The mu of
// the Supervisor guards the map that has it; it does not change.
type isolation struct {
	group int // group of the process; 0 is the shared process
	// trial is how long the group's process must run without a crash before the
	// server may return. It doubles with each isolation.
	trial time.Duration
}

// groupKey returns the key of a group's process in Supervisor.processes.
func (s Spec) groupKey(group int) string {
	if group == 0 {
		return s.key()
	}
	return s.key() + "\x00" + strconv.Itoa(group)
}

// processFor returns the process in which a server uses a plugin: the shared process,
// or that of the server's group. A server returns to the shared process after its
// trial. A new server never joins a process whose crashes belong to another server.
func (s *Supervisor) processFor(spec Spec, server string) (*proc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	group := 0
	if i := s.isolated[spec.key()][server]; i != nil && i.group > 0 {
		group = i.group
		if p := s.processes[spec.groupKey(group)]; p != nil && p.uptime() >= i.trial {
			i.group, group = 0, 0
			s.opts.Log.Info("a server returns to the shared process of its plugin",
				"plugin", spec.Name, "server", server)
		}
	}
	p, err := s.processIn(spec, group)
	if err != nil || server == "" {
		return p, err
	}
	if owner := p.crashOwner(); owner != "" && owner != server {
		s.detach(p, owner)
	}
	return s.processIn(spec, group)
}

// detach makes a shared process the exclusive process of owner, which caused all its
// crashes. The other servers get a new process. The caller holds mu.
func (s *Supervisor) detach(p *proc, owner string) {
	free := s.freeGroups(p.spec)
	if len(free) == 0 {
		p.forgiveCrashes()
		return
	}
	delete(s.processes, p.spec.groupKey(p.group))
	s.processes[p.spec.groupKey(free[0])] = p
	p.group = free[0]
	s.assign(p.spec, owner, free[0])
}

// assign moves a server to another group. The caller holds mu.
func (s *Supervisor) assign(spec Spec, server string, group int) {
	key := spec.key()
	if s.isolated[key] == nil {
		s.isolated[key] = map[string]*isolation{}
	}
	i := s.isolated[key][server]
	if i == nil {
		i = &isolation{trial: s.limits.trial / 2}
		s.isolated[key][server] = i
	}
	i.group, i.trial = group, min(2*i.trial, s.limits.trialMax)
}

// acquire returns the process for a user, and its link. It starts the process if
// necessary. The caller passes both to release. It blocks until the process is ready or ctx
// ends.
func (s *Supervisor) acquire(ctx context.Context, spec Spec, u *processUser) (*proc, *link, error) {
	for {
		p, err := s.processFor(spec, u.server)
		if err != nil {
			return nil, nil, err
		}
		l, err := p.get(ctx)
		if err != nil {
			return nil, nil, err
		}
		l.join(u)
		// The server may have been isolated while the process was starting.
		if now, err := s.processFor(spec, u.server); err == nil && now == p {
			return p, l, nil
		}
		release(p, l, u)
	}
}

func release(p *proc, l *link, u *processUser) {
	l.leave(u)
	p.put()
}

// isolate determines which servers may have crashed a process and gives each of them
// its own process. charged is true if the crash counts against p itself: at most one
// server used it, or no more processes are allowed. owner is then that server.
//
// The suspects are the known cause, or else the servers with unanswered requests, or
// else all servers. If the shared process crashes again, all its servers are suspects,
// because a server can choose a moment when another one is busy. The goroutine that watches the
// process calls it, without a lock.
func (s *Supervisor) isolate(p *proc, l *link) (charged bool, owner string) {
	all, suspects, culprit := l.usersAtEnd()
	again := p.isolatedRecently()
	switch {
	case p.spec.Alone != "" || len(all) == 0:
		return true, ""
	case len(all) == 1:
		return true, all[0]
	case slices.Contains(all, culprit):
		suspects = []string{culprit}
	case len(suspects) == 0 || again:
		suspects = all
	}
	moved := s.regroup(p.spec, suspects, len(suspects) == len(all))
	if len(moved) == 0 {
		return true, ""
	}
	s.opts.Log.Warn("servers that may have crashed their plugin's process get another one",
		"plugin", p.spec.Name, "servers", strings.Join(suspects, ", "), "processes", len(moved))
	if culprit != "" {
		moved[0].chargeCrash(l.exitError())
	}
	return false, ""
}

// regroup distributes servers over free groups, one server per group if there are
// enough. Otherwise groups are shared, and half of the free groups stay reserved for
// later crashes. If all servers of a process are moved (all) and groups are scarce,
// some servers stay. regroup returns the processes of the groups.
func (s *Supervisor) regroup(spec Spec, servers []string, all bool) []*proc {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.freeGroups(spec)
	bins, most := len(servers), len(free)
	if len(servers) > most {
		most = (most + 1) / 2
		bins = most
		if all {
			bins++ // the last share stays in its process
		}
	}
	if most == 0 || s.stopped {
		return nil
	}
	var procs []*proc
	for n, server := range servers {
		bin := n % bins
		if bin >= most {
			continue
		}
		s.assign(spec, server, free[bin])
		if n >= most {
			continue
		}
		if p, err := s.processIn(spec, free[bin]); err == nil {
			p.resetCrashes()
			procs = append(procs, p)
		}
	}
	return procs
}

// freeGroups returns the groups without servers whose process is inactive. The caller
// holds mu.
func (s *Supervisor) freeGroups(spec Spec) (free []int) {
	for group := 1; group <= s.limits.groups; group++ {
		p := s.processes[spec.groupKey(group)]
		if len(s.grouped(spec, group)) == 0 && (p == nil || p.inactive()) {
			free = append(free, group)
		}
	}
	return free
}

// grouped returns the servers of a group. The caller holds mu.
func (s *Supervisor) grouped(spec Spec, group int) (servers []string) {
	for server, i := range s.isolated[spec.key()] {
		if i.group == group {
			servers = append(servers, server)
		}
	}
	slices.Sort(servers)
	return servers
}

// isolatedRecently reports whether servers were isolated from the process within the
// crash window.
func (p *proc) isolatedRecently() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.isolated.IsZero() && time.Since(p.isolated) < p.sup.limits.crashWindow
}

// chargeCrash records the crash of a shared process that this process's server caused.
func (p *proc) chargeCrash(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping && p.link == nil && p.state != Starting {
		p.crashed(err)
	}
}

// uptime returns how long the process has been ready, or 0 if it is not.
func (p *proc) uptime() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != Ready || !p.link.usable() {
		return 0
	}
	return time.Since(p.readied)
}

// inactive reports whether the process is neither used, running nor starting.
func (p *proc) inactive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link == nil && p.state != Starting && p.open == 0
}

// resetCrashes removes the crash history of the process's previous servers.
func (p *proc) resetCrashes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes, p.isolated, p.lastErr, p.retry, p.owner = nil, time.Time{}, nil, time.Time{}, ""
	p.delays.Reset()
	p.set(Stopped)
}

// crashOwner returns the server that caused all recent crashes, or "" if there is no
// such server.
func (p *proc) crashOwner() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropOldCrashes(time.Now())
	if len(p.crashes) == 0 {
		return ""
	}
	return p.owner
}

// endWait ends the backoff or quarantine of a process, so that the next call starts it. Its
// crashes count on: one that crashes again at once is quarantined at once.
func (p *proc) endWait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != Backoff && p.state != Quarantined {
		return
	}
	p.retry = time.Time{}
	p.delays.Reset()
	p.set(Stopped)
}

// EndWait ends the backoff or quarantine of the process in which a server uses a plugin. It
// does nothing if the crashes of the process belong to another server. An operator who has
// mended the cause asks for it.
func EndWait(s *Supervisor, spec Spec, server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	group := 0
	if i := s.isolated[spec.key()][server]; i != nil {
		group = i.group
	}
	p := s.processes[spec.groupKey(group)]
	if p == nil {
		return
	}
	if owner := p.crashOwner(); owner == "" || owner == server {
		p.endWait()
	}
}

// forgiveCrashes removes the crashes of a server that cannot get its own process.
func (p *proc) forgiveCrashes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes, p.owner, p.retry = nil, "", time.Time{}
	if p.state == Quarantined {
		p.set(Stopped)
	}
}
