package catalog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// lists are all lists of one server.
type lists struct {
	Tools, Resources, Templates, Prompts upstream.Listing

	fetched time.Time
	fresh   bool // asked for by this process
	over    int  // which connection of the upstream's, when fresh
	modern  bool // of a modern server
	offer   offer

	parsed parsed // see parse
}

// kinds are the lists there are, with their names on disk.
var kinds = []struct {
	name string
	kind upstream.ListKind
	of   func(*lists) *upstream.Listing
}{
	{"tools", upstream.Tools, func(l *lists) *upstream.Listing { return &l.Tools }},
	{"resources", upstream.Resources, func(l *lists) *upstream.Listing { return &l.Resources }},
	{"templates", upstream.Templates, func(l *lists) *upstream.Listing { return &l.Templates }},
	{"prompts", upstream.Prompts, func(l *lists) *upstream.Listing { return &l.Prompts }},
}

const (
	// believed is how long a list on disk counts when its server did not say.
	believed = 24 * time.Hour
	// leastTTL is how soon a server is asked again, whatever it says.
	leastTTL = 10 * time.Second
)

// stale reports whether lists should be asked for again.
func (l *lists) stale() bool {
	age := time.Since(l.fetched)
	if !l.fresh && (age > believed || age < 0) {
		return true
	}
	for _, k := range kinds {
		list := k.of(l)
		if list.Unfinished != nil && (!l.fresh || age > leastTTL) {
			return true
		}
		if (list.TTL > 0 || list.Failed != nil) && age > max(list.TTL, leastTTL) {
			return true
		}
	}
	return false
}

// empty reports whether the server has found nothing yet that it could list.
func (l *lists) empty() bool {
	return l.Tools.Unfinished != nil && len(l.Tools.Items)+len(l.Resources.Items)+len(l.Templates.Items)+len(l.Prompts.Items) == 0
}

// changes returns the lists that are not as they were before.
func (l *lists) changes(before *lists) []upstream.ListKind {
	if before == nil {
		before = &lists{}
	}
	var changed []upstream.ListKind
	for _, k := range kinds {
		if !slices.EqualFunc(k.of(before).Items, k.of(l).Items, bytes.Equal) {
			changed = append(changed, k.kind)
		}
	}
	return changed
}

// degraded is why each list is not whole.
func (l *lists) degraded() (all [4]string) {
	for i, k := range kinds {
		all[i] = k.of(l).Degraded
	}
	return all
}

// refresh asks a server for all its lists and publishes them. A list that the
// server could not give stays as it was; when there is nothing else, or the
// connection failed, nothing changes.
func (c *Catalog) refresh(ctx context.Context, s *Server) (err error) {
	defer c.saved(s.Name, &err)
	l, err := c.fetch(ctx, s)
	if err != nil {
		return err
	}
	c.mu.Lock()
	before := c.lists[s.Name]
	c.mu.Unlock()
	if err := l.keep(before); err != nil {
		return err
	}
	l.fetched = time.Now()
	if before != nil {
		c.report(s, before, l)
	}
	c.publish(s, l)
	save(c.dir, s.Key, l)
	c.warnCost(s.Name)
	return nil
}

// fetches bounds how often a server is asked again because its connection was
// replaced meanwhile.
const fetches = 3

// fetch asks a server for all its lists, over one connection: another one may
// have been offered something else.
func (c *Catalog) fetch(ctx context.Context, s *Server) (*lists, error) {
	for n := 1; ; n++ {
		if err := s.Upstream.Connect(ctx); err != nil {
			return nil, err
		}
		c.mu.Lock()
		l := &lists{fresh: true, offer: c.offerTo(s)}
		c.mu.Unlock()
		before := s.Upstream.Status()
		g, ctx := errgroup.WithContext(ctx)
		for _, k := range kinds {
			g.Go(func() (err error) {
				defer c.saved(s.Name, &err)
				*k.of(l), err = s.Upstream.List(ctx, k.kind)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		after := s.Upstream.Status()
		if before.State == upstream.Ready && after.State == upstream.Ready && before.Connects == after.Connects || n == fetches {
			l.over = after.Connects
			if l.modern = after.Revision.Modern(); !l.modern {
				l.offer.capabilities = string(after.Offered)
			}
			return l, nil
		}
	}
}

// keep puts lists as they were before in the place of those that failed. It
// returns why they failed when the server gave nothing at all.
func (l *lists) keep(before *lists) error {
	var failed error
	items := 0
	for _, k := range kinds {
		now := k.of(l)
		items += len(now.Items)
		if now.Failed == nil {
			continue
		}
		failed = now.Failed
		if before != nil && len(k.of(before).Items) > len(now.Items) {
			now.Items = k.of(before).Items
		}
	}
	if items == 0 {
		return failed
	}
	return nil
}
