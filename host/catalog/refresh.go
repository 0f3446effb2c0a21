package catalog

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A refresher asks servers for their lists and publishes the answers. A Catalog has one. It is
// immutable; refreshes runs one refresh of a server at a time.
type refresher struct {
	log       hclog.Logger
	publisher *publisher
	disk      *disk
	changes   *changes
}

// progress has functions that are called during a refresh. The functions are called on the
// goroutine of the refresh and must not wait.
type progress struct {
	part  func(missing) // after some lists were published
	whole func(*lists)  // after all lists were read
}

// partTime is how long the lists of a server that have arrived wait for the others. After
// that they are published without them: a server may never answer for a list that no
// client asks for.
const partTime = time.Second

// refresh fetches all lists of a server and publishes them. A list that fails keeps its
// previous items. If the connection or all lists fail, nothing changes. It blocks, on the
// goroutine of a refreshRun.
func (r *refresher) refresh(ctx context.Context, s *Server, on progress) (err error) {
	defer fault.Recover(&err, r.log, s.Name, "reading the lists")
	var before *lists
	var held []Held
	remember := sync.OnceFunc(func() { // what was known before anything is published
		now := r.publisher.now()
		before = now.lists[s.Name]
		if before != nil && before.fresh && !s.preliminary(&before.Tools) { // else they were not told here
			held, _ = now.held(s.Name)
		}
	})
	l, err := r.fetch(ctx, s, func(l *lists) {
		remember()
		on.part(r.publishPart(s, before, l))
	})
	if err != nil {
		return err
	}
	remember()
	on.whole(l)
	if err := l.keepFailed(before); err != nil {
		return err
	}
	l.fetched = time.Now()
	s.tellPins(&l.Tools)
	r.publisher.publish(s, l)
	now := r.publisher.now()
	if in := now.server(s.Name); s.Pins == nil && in != nil && in.Upstream == s.Upstream && in.Pins != nil {
		r.recheck(s.Name) // the configuration changed meanwhile
	}
	isHeld, _ := r.publisher.now().held(s.Name)
	r.changes.logDrift(s, before, l, held, isHeld)
	r.disk.save(s, l)
	r.publisher.warnings.cost(r.publisher.snapshot.Load(), s.Name)
	return nil
}

// maxFetches is the maximum number of attempts when the connection is replaced during a
// fetch.
const maxFetches = 3

// fetch fetches all lists over one connection, because another connection may have
// other capabilities. It calls part with those that have arrived; see collect.
func (r *refresher) fetch(ctx context.Context, s *Server, part func(*lists)) (*lists, error) {
	for n := 1; ; n++ {
		if err := s.Upstream.Connect(ctx); err != nil {
			return nil, err
		}
		l := &lists{fresh: true, offer: r.publisher.now().offerTo(s)}
		before := s.Upstream.Status()
		err := r.collect(ctx, s, l, func() {
			if now := s.Upstream.Status(); now.Connects == before.Connects {
				l.from(now)
				part(l)
			}
		})
		if err != nil {
			return nil, err
		}
		after := s.Upstream.Status()
		ready := before.State == upstream.Ready && after.State == upstream.Ready
		if ready && before.Connects == after.Connects || n == maxFetches {
			l.from(after)
			return l, nil
		}
	}
}

// collect fetches the lists of a server into l. It calls part when partTime has passed, and
// then each time that a further list arrives, unless it is the last. part runs on the goroutine
// of the caller.
func (r *refresher) collect(ctx context.Context, s *Server, l *lists, part func()) error {
	type arrival struct {
		kind int
		list upstream.Listing
	}
	g, ctx := errgroup.WithContext(ctx)
	arrivals := make(chan arrival, len(kinds))
	for i, k := range kinds {
		l.missing[i] = true
		g.Go(func() (err error) {
			defer fault.Recover(&err, r.log, s.Name, "reading the lists")
			list, err := s.Upstream.List(ctx, k.kind)
			if err == nil {
				arrivals <- arrival{i, list}
			}
			return err
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- g.Wait() }()
	late := time.NewTimer(partTime)
	defer late.Stop()
	take := func(a arrival) { *kinds[a.kind].of(l), l.missing[a.kind] = a.list, false }
	for waited := false; ; {
		select {
		case a := <-arrivals:
			take(a)
		case <-late.C:
			waited = true
		case err := <-ended:
			for len(arrivals) > 0 {
				take(<-arrivals)
			}
			return err
		}
		if waited && l.missing != (missing{true, true, true, true}) && l.missing != (missing{}) {
			part()
		}
	}
}

// publishPart publishes the lists that have arrived. before are the lists before the
// refresh, which replace the missing ones. publishPart returns those.
func (r *refresher) publishPart(s *Server, before, l *lists) missing {
	p := l.unparsed()
	for i, k := range kinds {
		if p.missing[i] {
			*k.of(p) = upstream.Listing{Failed: errUnanswered, Degraded: errUnanswered.Message}
		}
	}
	_ = p.keepFailed(before) // an empty list of tools is one too
	p.fetched = time.Now()
	if p.lacks(toolKinds) {
		p.fresh = false // the tools were not compared with their pins
	} else {
		s.tellPins(&p.Tools)
	}
	r.publisher.publish(s, p)
	if p.fresh {
		r.disk.save(s, p)
	}
	return p.missing
}

// recheck compares the tools of a server with its pins again, which have changed. The pins are
// told again what the server answered: some tools may have no digest any more.
func (r *refresher) recheck(server string) {
	if held, known := r.publisher.now().held(server); known {
		r.recheckAfter(server, held)
	}
}

// recheckAfter is recheck; was are the tools that were held back before.
func (r *refresher) recheckAfter(server string, was []Held) {
	if names := r.publisher.recheck(server, was); len(names) > 0 {
		r.changes.tell(ToolsChange{Server: server, Held: names})
	}
}
