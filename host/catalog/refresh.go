package catalog

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// lists holds all lists of one server.
type lists struct {
	Tools, Resources, Templates, Prompts upstream.Listing

	fetched    time.Time
	fresh      bool // fetched by this process
	connection int  // number of the upstream's connection, if fresh
	modern     bool // the server is modern
	offer      offer
	borrowed   bool // from disk, of another offer
	missing    missing
	said       Said

	parsed parsed // see parse
}

// kinds lists all kinds of lists, with their names on disk.
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
	// diskTTL is the lifetime of a list on disk without a TTL.
	diskTTL = 24 * time.Hour
	// minTTL is the minimum time between refreshes, whatever the server says.
	minTTL = 10 * time.Second
)

// stale reports whether the lists need a refresh.
func (l *lists) stale() bool {
	age := time.Since(l.fetched)
	if l.borrowed || !l.fresh && (age > diskTTL || age < 0) {
		return true
	}
	for _, k := range kinds {
		list := k.of(l)
		if list.Unfinished != nil && (!l.fresh || age > minTTL) {
			return true
		}
		if (list.TTL > 0 || list.Failed != nil) && age > max(list.TTL, minTTL) {
			return true
		}
	}
	return false
}

// empty reports whether the server is still discovering its items and has none yet.
func (l *lists) empty() bool {
	return l.Tools.Unfinished != nil && len(l.Tools.Items)+len(l.Resources.Items)+len(l.Templates.Items)+len(l.Prompts.Items) == 0
}

// changes returns the kinds of lists that differ from before.
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

// degraded returns the reason why each list is incomplete, or "".
func (l *lists) degraded() (all [4]string) {
	for i, k := range kinds {
		all[i] = k.of(l).Degraded
	}
	return all
}

// refresh fetches all lists of a server and publishes them. A list that fails keeps its
// previous items. If the connection or all lists fail, nothing changes.
func (c *Catalog) refresh(ctx context.Context, s *Server) (err error) {
	defer fault.Recover(&err, c.log, s.Name, "reading the lists")
	var before *lists
	var held []Held
	remember := sync.OnceFunc(func() { // what was known before anything is published
		c.mu.Lock()
		before = c.lists[s.Name]
		c.mu.Unlock()
		if before != nil && before.fresh && !s.preliminary(&before.Tools) { // else they were not told here
			held, _ = c.Held(s.Name)
		}
	})
	l, err := c.fetch(ctx, s, func(l *lists) {
		remember()
		c.publishPart(s, before, l)
	})
	if err != nil {
		return err
	}
	remember()
	c.reportUnread(s.Name, l)
	if err := l.keepFailed(before); err != nil {
		return err
	}
	l.fetched = time.Now()
	s.tellPins(&l.Tools)
	c.publish(s, l)
	if s.Pins == nil && c.pinned(s) {
		c.Recheck(s.Name) // the configuration changed meanwhile
	}
	c.logDrift(s, before, l, held)
	c.save(s, l)
	c.warnCost(s.Name)
	return nil
}

// maxFetches is the maximum number of attempts when the connection is replaced during a
// fetch.
const maxFetches = 3

// fetch fetches all lists over one connection, because another connection may have
// other capabilities. It calls part with those that have arrived; see collect.
func (c *Catalog) fetch(ctx context.Context, s *Server, part func(*lists)) (*lists, error) {
	for n := 1; ; n++ {
		if err := s.Upstream.Connect(ctx); err != nil {
			return nil, err
		}
		c.mu.Lock()
		l := &lists{fresh: true, offer: c.offerTo(s)}
		c.mu.Unlock()
		before := s.Upstream.Status()
		err := c.collect(ctx, s, l, func() {
			if now := s.Upstream.Status(); now.Connects == before.Connects {
				l.from(now)
				part(l)
			}
		})
		if err != nil {
			return nil, err
		}
		after := s.Upstream.Status()
		if before.State == upstream.Ready && after.State == upstream.Ready && before.Connects == after.Connects || n == maxFetches {
			l.from(after)
			return l, nil
		}
	}
}

// from records which connection the lists are from.
func (l *lists) from(connected upstream.Status) {
	l.connection = connected.Connects
	l.said = Said{Instructions: truncate.Bytes(connected.Instructions, MaxInstructions), Extensions: mcp.Member(connected.Capabilities, "extensions"), Modern: connected.Revision.Modern()}
	if l.modern = connected.Revision.Modern(); !l.modern {
		l.offer.capabilities = string(connected.Offered)
	}
}

// keepFailed replaces failed lists by the previous ones. It returns an error if the server
// returned no items at all.
func (l *lists) keepFailed(before *lists) error {
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

// logDrift logs which tools of a server have changed, and which are held back now. A tool that
// changes after the user allowed it deserves attention. before is nil for the first lists, and
// wasHeld are the tools that were held back then.
func (c *Catalog) logDrift(s *Server, before, now *lists, wasHeld []Held) {
	change := ToolsChange{Server: s.Name}
	if before != nil {
		change.Added, change.Removed, change.Changed = drift(before.Tools.Items, now.Tools.Items)
	}
	if len(change.Added)+len(change.Removed)+len(change.Changed) > 0 {
		c.log.Info("the tools of a server changed", "server", s.Name, "added", shortenList(change.Added), "removed", shortenList(change.Removed), "changed", shortenList(change.Changed))
		c.noteChanges(change, byName(before.Tools.Items), byName(now.Tools.Items))
	}
	if held, _ := c.Held(s.Name); !s.preliminary(&now.Tools) {
		change.Held = newlyHeld(wasHeld, held)
	}
	if len(change.Added)+len(change.Removed)+len(change.Changed)+len(change.Held) > 0 {
		c.tellChange(change)
	}
}

// tellChange reports a change of the tools of a server, and logs which are held back.
func (c *Catalog) tellChange(change ToolsChange) {
	if len(change.Held) > 0 {
		c.log.Warn("tools of a server are held back, because their definitions were not accepted", "server", change.Server, "tools", shortenList(change.Held),
			"hint", "run `junctor diff "+change.Server+"`")
	}
	if c.toolsChanged != nil {
		c.toolsChanged(change)
	}
}

// drift compares two lists of tools and returns the differences, sorted by name.
func drift(before, now [][]byte) (added, removed, changed []string) {
	was, is := byName(before), byName(now)
	for _, name := range sortedNames(is) {
		switch old, there := was[name]; {
		case !there:
			added = append(added, name)
		case !bytes.Equal(old, is[name]):
			changed = append(changed, name)
		}
	}
	for _, name := range sortedNames(was) {
		if _, there := is[name]; !there {
			removed = append(removed, name)
		}
	}
	return added, removed, changed
}

// byName returns tools by name. The first of several with one name is the tool.
func byName(items [][]byte) map[string][]byte {
	all := map[string][]byte{}
	for _, raw := range items {
		if name, _ := mcp.TextMember(raw, "name"); all[name] == nil {
			all[name] = raw
		}
	}
	return all
}

// maxReported is the maximum number of names in one log line.
const maxReported = 10

// shortenList shortens a list of names for a log line.
func shortenList(names []string) []string {
	if len(names) > maxReported {
		return append(slices.Clone(names[:maxReported]), "…")
	}
	return names
}
