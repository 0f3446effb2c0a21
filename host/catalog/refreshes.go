package catalog

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// refreshes has the running refresh of each server, and what was learned of earlier ones.
// Its methods may be called concurrently. It may lock the publisher while it is locked itself.
// A Catalog has one. stop, the end of ctx and a wait for work end it.
type refreshes struct {
	publisher *publisher
	refresher *refresher
	// listFailed may be nil; see Catalog.OnListFailed.
	listFailed func(server, method string, err error)
	ctx        context.Context
	work       *sync.WaitGroup // counts the refreshes

	mu       sync.Mutex
	running  map[string]*refreshRun  // guarded by mu; by server
	attempts map[string]attempt      // guarded by mu; by server
	bursts   map[string]*changeBurst // guarded by mu; by server
	stopped  bool                    // guarded by mu
}

func newRefreshes(ctx context.Context, work *sync.WaitGroup, r *refresher) *refreshes {
	return &refreshes{
		publisher: r.publisher,
		refresher: r,
		ctx:       ctx,
		work:      work,
		running:   map[string]*refreshRun{},
		attempts:  map[string]attempt{},
		bursts:    map[string]*changeBurst{},
	}
}

// A refreshRun is a running refresh. Several callers may wait for it. begin makes it with its
// goroutine, which closes done.
type refreshRun struct {
	server string
	of     *upstream.Upstream
	done   chan struct{}
	err    error // valid after done is closed

	missing missing       // guarded by mu of refreshes; lists that were not published yet
	news    chan struct{} // guarded by mu of refreshes; closed and replaced when missing changes
}

// has reports whether a running refresh has published the lists of the given kinds. The
// caller holds mu of refreshes.
func (a *refreshRun) has(need []upstream.ListKind) bool { return need != nil && !a.missing.lacks(need) }

// An attempt records the time of the first refresh of a server in this process, and
// whether any refresh has failed. It is a value.
type attempt struct {
	first  time.Time
	failed bool
	err    error // of the last refresh that ended
	// unread has the lists that the last refresh could not read, in the order of kinds.
	unread [4]bool
}

// beginAll starts refreshes of the named servers. unknown are those without lists, and
// known are those whose lists need a refresh. Lists of other kinds than those in need may be
// missing.
func (r *refreshes) beginAll(
	names []string, need []upstream.ListKind, needed func(*lists) bool,
) (unknown, known []*refreshRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.publisher.now()
	for _, s := range now.servers {
		l := now.lists[s.Name]
		switch {
		case len(names) > 0 && !slices.Contains(names, s.Name):
		case l == nil || l.empty() || l.lacks(need):
			unknown = append(unknown, r.begin(s))
		case needed(l) || l.offer.number != now.offerTo(s).number: // most servers have the same items for every client
			known = append(known, r.begin(s))
		}
	}
	return unknown, known
}

// wait waits for refreshes, or for the lists of the kinds in need, until found accepts the
// snapshot. The refreshes continue if ctx ends. If a server with unknown lists was replaced
// meanwhile, wait refreshes the new one. It blocks on the goroutine of the caller.
func (r *refreshes) wait(
	ctx context.Context, runs []*refreshRun, need []upstream.ListKind, found func(*Snapshot) bool,
) map[string]error {
	failed := map[string]error{}
	for len(runs) > 0 {
		published := r.publisher.next()
		r.mu.Lock()
		news, enough := runs[0].news, runs[0].has(need)
		r.mu.Unlock()
		if enough {
			runs = runs[1:]
			continue
		}
		if found == nil {
			published = nil
		} else if found(r.publisher.snapshot.Load()) {
			break
		}
		select {
		case <-runs[0].done:
			if next := r.beginReplaced(runs[0]); next != nil {
				runs[0] = next
				continue
			}
			if runs[0].err != nil {
				failed[runs[0].server] = runs[0].err
			}
			runs = runs[1:]
		case <-published:
		case <-news:
		case <-ctx.Done():
			for _, a := range runs {
				failed[a.server] = ctx.Err()
			}
			return failed
		}
	}
	return failed
}

// begin starts a refresh of one server unless one is running. The caller holds mu.
func (r *refreshes) begin(s *Server) *refreshRun {
	if a := r.running[s.Name]; a != nil {
		return a
	}
	a := &refreshRun{
		server:  s.Name,
		of:      s.Upstream,
		done:    make(chan struct{}),
		missing: missing{true, true, true, true},
		news:    make(chan struct{}),
	}
	if r.stopped {
		a.err = context.Canceled
		close(a.done)
		return a
	}
	r.running[s.Name] = a
	r.recordStart(s.Name)
	on := progress{
		part:  func(m missing) { r.arrived(s, m) },
		whole: func(l *lists) { r.reportUnread(s.Name, l) },
	}
	r.work.Go(func() {
		a.err = r.refresher.refresh(r.ctx, s, on)
		r.refresher.disk.recordSilence(s, a.err)
		r.mu.Lock()
		if r.running[s.Name] == a { // the server was not replaced meanwhile
			r.recordEnd(s.Name, a.err)
			delete(r.running, s.Name)
		}
		r.mu.Unlock()
		close(a.done)
	})
	return a
}

// beginReplaced starts a refresh of the server that replaced the one of a refresh, if its
// lists are unknown. Otherwise it returns nil.
func (r *refreshes) beginReplaced(a *refreshRun) *refreshRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.publisher.now()
	s := now.server(a.server)
	if s == nil || s.Upstream == a.of || now.lists[a.server] != nil {
		return nil
	}
	return r.begin(s)
}

// goUnlessStopped calls a function in a goroutine of its own, unless stop was called.
func (r *refreshes) goUnlessStopped(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.work.Go(f)
	}
}

// stop starts no more refreshes. Those that run end with ctx.
func (r *refreshes) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, st := range r.bursts {
		st.timer.Stop()
	}
}

// arrived records the lists of a server that a refresh has not published yet.
func (r *refreshes) arrived(s *Server, m missing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.running[s.Name]; a != nil && a.of == s.Upstream {
		a.missing = m
		close(a.news)
		a.news = make(chan struct{})
	}
}

// replace calls a function that replaces servers, and returns the names of those that are gone
// or have another upstream. It drops what is known of them, including refreshes that run.
func (r *refreshes) replace(servers func() []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range servers() {
		if b := r.bursts[name]; b != nil {
			b.timer.Stop()
		}
		delete(r.bursts, name)
		delete(r.running, name)
		delete(r.attempts, name)
	}
}

// unanswered returns the servers without lists that a refresh has waited for.
func (r *refreshes) unanswered() (all []*Server) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.publisher.now()
	for name := range r.running {
		s, first := now.server(name), r.attempts[name].first
		if s != nil && now.lists[name] == nil && time.Since(first) >= silentEarly {
			all = append(all, s)
		}
	}
	return all
}

// attempt returns the attempts to refresh a server.
func (r *refreshes) attempt(server string) attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attempts[server]
}

// pending reports whether a list of tools that is not known yet is being read.
func (r *refreshes) pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.publisher.now()
	for name := range r.running {
		if l := now.lists[name]; l == nil || l.empty() || l.lacks(toolKinds) {
			return true
		}
	}
	return false
}

// reportUnread reports the lists that could not be read, each once until it can be read again.
func (r *refreshes) reportUnread(server string, l *lists) {
	r.mu.Lock()
	a := r.attempts[server]
	was := a.unread
	for i, k := range kinds {
		a.unread[i] = k.of(l).Failed != nil
	}
	r.attempts[server] = a
	r.mu.Unlock()
	for i, k := range kinds {
		err := k.of(l).Failed
		if r.listFailed != nil && a.unread[i] && !was[i] && !errors.Is(err, context.Canceled) {
			r.listFailed(server, k.kind.Method, err)
		}
	}
}

// recordStart records that a refresh starts. The caller holds mu.
func (r *refreshes) recordStart(server string) {
	a := r.attempts[server]
	if a.first.IsZero() {
		a.first = time.Now()
	}
	r.attempts[server] = a
}

// recordEnd records the result of a refresh. The caller holds mu.
func (r *refreshes) recordEnd(server string, err error) {
	a := r.attempts[server]
	a.failed, a.err = a.failed || err != nil, err
	r.attempts[server] = a
}

// listError returns why a list of a server could not be read, or nil. l are the lists of the server.
func (r *refreshes) listError(server string, l *lists, kind upstream.ListKind) error {
	err := r.attempt(server).err
	if l != nil {
		for _, k := range kinds {
			if k.kind == kind {
				err = k.of(l).Failed
			}
		}
	}
	if err == errUnanswered || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
