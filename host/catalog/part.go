package catalog

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// partTime is how long the lists of a server that have arrived wait for the others. After
// that they are published without them: a server may never answer for a list that no
// client asks for.
const partTime = time.Second

// The kinds of lists that functions of this package need.
var (
	toolKinds     = []upstream.ListKind{upstream.Tools}
	resourceKinds = []upstream.ListKind{upstream.Resources, upstream.Templates}
)

// EnsureLists is Ensure for a caller that needs the lists of some kinds, and waits for no
// others. nil means all kinds. The other lists arrive in the background.
func (c *Catalog) EnsureLists(ctx context.Context, need []upstream.ListKind, names ...string) map[string]error {
	unknown, stale := c.beginAll(names, need, (*lists).stale)
	return c.wait(ctx, append(unknown, stale...), need, nil)
}

// RefreshLists is Refresh for a caller that waits for the lists of some kinds only, as in
// [Catalog.EnsureLists].
func (c *Catalog) RefreshLists(ctx context.Context, need []upstream.ListKind, names ...string) map[string]error {
	unknown, known := c.beginAll(names, need, func(*lists) bool { return true })
	return c.wait(ctx, append(unknown, known...), need, nil)
}

// errUnanswered is the error of a list that has not arrived yet.
var errUnanswered = fault.New(fault.CallTimeout, "the server has not answered yet")

// missing says which lists have not arrived, in the order of kinds.
type missing [4]bool

// lacks reports whether one of the lists of the given kinds is missing. nil means all kinds.
func (m missing) lacks(need []upstream.ListKind) bool {
	for i, k := range kinds {
		if m[i] && (need == nil || slices.Contains(need, k.kind)) {
			return true
		}
	}
	return false
}

// collect fetches the lists of a server into l. It calls part when partTime has passed, and
// then each time that a further list arrives, unless it is the last.
func (c *Catalog) collect(ctx context.Context, s *Server, l *lists, part func()) error {
	type arrival struct {
		kind int
		list upstream.Listing
	}
	g, ctx := errgroup.WithContext(ctx)
	arrivals := make(chan arrival, len(kinds))
	for i, k := range kinds {
		l.missing[i] = true
		g.Go(func() (err error) {
			defer fault.Recover(&err, c.log, s.Name, "reading the lists")
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
// refresh, which replace the missing ones.
func (c *Catalog) publishPart(s *Server, before, l *lists) {
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
	c.publish(s, p)
	if p.fresh {
		c.save(s, p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.refreshing[s.Name]; a != nil && a.of == s.Upstream {
		a.missing = p.missing
		close(a.news)
		a.news = make(chan struct{})
	}
}

// lacks reports whether one of the lists of the given kinds has not arrived yet.
func (l *lists) lacks(need []upstream.ListKind) bool { return l.missing.lacks(need) }

// has reports whether a running refresh has published the lists of the given kinds. The
// caller holds mu of the catalog.
func (a *refreshRun) has(need []upstream.ListKind) bool { return need != nil && !a.missing.lacks(need) }
