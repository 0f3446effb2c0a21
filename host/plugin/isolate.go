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

// A user is a server that uses a plugin process, through a connection or an
// auth provider.
type user struct {
	server string // empty: no server, as for a secret store
	// waits returns how many requests wait for an answer; nil: at least one.
	waits atomic.Pointer[func() int]
	// busy is the last answer of waits, once the connection has ended and waits
	// no longer knows.
	busy atomic.Bool
}

// inFlight reports whether a request of the server waits for an answer.
func (u *user) inFlight() bool {
	waits := u.waits.Load()
	return waits == nil || u.busy.Load() || (*waits)() > 0
}

// remember keeps the answer of inFlight.
func (u *user) remember() { u.busy.Store(u.inFlight()) }

// join records that a user uses the process.
func (l *link) join(u *user) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == nil {
		l.users = map[*user]struct{}{}
	}
	l.users[u] = struct{}{}
}

// part removes a user. The users of a process that has ended stay, because
// isolate asks who they were.
func (l *link) part(u *user) {
	if !l.usable() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.users, u)
}

// blame records which server made the host end the process.
func (l *link) blame(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.verdict == nil && !closed(l.exited()) {
		l.culprit = server
	}
}

// present returns the servers that used the process when it ended, those of
// them with a request in flight, and the server that is known to be the reason.
func (l *link) present() (all, busy []string, culprit string) {
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

// An isolation is where a server runs that may have ended the process which it
// shared with other servers.
type isolation struct {
	group int // of the process; 0: the server is back in the shared one
	// trial is how long the process of the group must run without a crash
	// before the server may return. It doubles each time.
	trial time.Duration
}

// groupKey names the process of a group of servers in Supervisor.processes.
func (s Spec) groupKey(group int) string {
	if group == 0 {
		return s.key()
	}
	return s.key() + "\x00" + strconv.Itoa(group)
}

// processFor returns the process in which a server uses a plugin: the shared
// one, or that of its group. A server whose trial is over returns to the shared
// process. A server that is new to the shared process does not get one whose
// crashes are another server's.
func (s *Supervisor) processFor(spec Spec, server string) (*proc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	group := 0
	if i := s.isolated[spec.key()][server]; i != nil && i.group > 0 {
		group = i.group
		if p := s.processes[spec.groupKey(group)]; p != nil && p.ran() >= i.trial {
			i.group, group = 0, 0
			s.opts.Log.Info("a server returns to the shared process of its plugin", "plugin", spec.Name, "server", server)
		}
	}
	p, err := s.processIn(spec, group)
	if err != nil || server == "" {
		return p, err
	}
	if owner := p.chargedTo(); owner != "" && owner != server {
		s.detach(p, owner)
	}
	return s.processIn(spec, group)
}

// detach makes a process that several servers share that of one server, to
// which all its crashes are charged. The others get a new one. The caller holds
// mu.
func (s *Supervisor) detach(p *proc, owner string) {
	free := s.freeGroups(p.spec)
	if len(free) == 0 {
		p.pardon()
		return
	}
	delete(s.processes, p.spec.groupKey(p.group))
	s.processes[p.spec.groupKey(free[0])] = p
	p.group = free[0]
	s.assign(p.spec, owner, free[0])
}

// assign gives a server another group. The caller holds mu.
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
	i.group, i.trial = group, min(2*i.trial, s.limits.trialMost)
}

// acquire returns the process in which a user may use a plugin, and its link,
// starting the process when need be. The caller releases both.
func (s *Supervisor) acquire(ctx context.Context, spec Spec, u *user) (*proc, *link, error) {
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
		// The server may have been isolated while the process was being started.
		if now, err := s.processFor(spec, u.server); err == nil && now == p {
			return p, l, nil
		}
		release(p, l, u)
	}
}

func release(p *proc, l *link, u *user) {
	l.part(u)
	p.put()
}

// isolate decides which servers may have ended a process, and gives each a
// process of its own. It reports whether the crash counts against p itself: no
// more than one server used it, or no more processes are allowed. Then owner is
// that server.
//
// Suspects are the server that is known to be the reason, else those with a
// request in flight, else all. When the process that the others share ends a
// second time, all that use it are suspects: a server can choose the moment in
// which another is busy.
func (s *Supervisor) isolate(p *proc, l *link) (charged bool, owner string) {
	all, suspects, culprit := l.present()
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
	s.opts.Log.Warn("servers that may have ended the process of their plugin get another one",
		"plugin", p.spec.Name, "servers", strings.Join(suspects, ", "), "processes", len(moved))
	if culprit != "" {
		moved[0].charge(l.gone())
	}
	return false, ""
}

// regroup distributes servers over groups that are free, one in each where
// there are enough groups. Else a group has several servers, and half of the
// free groups are left for those that end a process again. When all servers of
// a process are to leave it and groups are few, some stay. It returns the
// processes of the groups.
func (s *Supervisor) regroup(spec Spec, servers []string, everybody bool) []*proc {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.freeGroups(spec)
	bins, most := len(servers), len(free)
	if len(servers) > most {
		most = (most + 1) / 2
		bins = most
		if everybody {
			bins++ // the last share stays where it is
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
			p.renew()
			procs = append(procs, p)
		}
	}
	return procs
}

// freeGroups lists the groups without servers whose process does not run. The
// caller holds mu.
func (s *Supervisor) freeGroups(spec Spec) (free []int) {
	for group := 1; group <= s.limits.groups; group++ {
		p := s.processes[spec.groupKey(group)]
		if len(s.grouped(spec, group)) == 0 && (p == nil || p.rests()) {
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
