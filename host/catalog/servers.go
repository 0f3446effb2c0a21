package catalog

import (
	"bytes"
	"slices"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// SetServers replaces the servers. The lists of a server stay known if its upstream
// is the same. Those of a new upstream are read from disk; without any there, the
// lists before stay until the new upstream has answered. Changed lists are reported
// as after a refresh, but not those of the first servers. The lists of a new upstream
// that is connected already are refreshed.
func (c *Catalog) SetServers(servers []*Server) {
	loaded := c.loadNew(servers)
	c.mu.Lock()
	before, old := c.snapshot.Load(), c.servers
	pinned := map[string][]Held{} // what was held back of the servers whose pins are new
	lists := map[string]*lists{}
	c.servers = slices.Clip(servers)
	if servers == nil {
		c.servers = []*Server{}
	}
	for _, s := range servers {
		i := slices.IndexFunc(old, func(o *Server) bool { return o.Name == s.Name })
		if s.broken == nil {
			s.broken = &brokenOutputs{}
		}
		switch {
		case i >= 0 && old[i] == s:
			if l := c.lists[s.Name]; l != nil {
				lists[s.Name] = l
			}
		case i >= 0 && old[i].Upstream == s.Upstream:
			s.broken = old[i].broken
			if l := c.lists[s.Name]; l != nil {
				lists[s.Name] = l.unparsed() // the views may be others
			}
			if l := c.lists[s.Name]; s.Pins != nil && l != nil {
				pinned[s.Name] = l.parse(old[i]).held
			}
		default:
			c.forget(s.Name)
			if l := loaded[s]; l != nil {
				lists[s.Name] = l
			} else if l := c.lists[s.Name]; l != nil { // those of the server before, until it has answered
				lists[s.Name] = l.unparsed()
				lists[s.Name].fresh = false
				lists[s.Name].said = Said{} // another server may be behind the name
			}
		}
	}
	for _, o := range old {
		if c.server(o.Name) == nil {
			c.forget(o.Name)
		}
	}
	after := build(servers, lists)
	c.lists = lists
	var differ []upstream.ListKind
	if old != nil {
		differ = after.changes(before)
	}
	c.show(after, differ)
	c.mu.Unlock()
	for name, was := range pinned {
		c.recheck(name, was)
	}
	for s := range loaded {
		if s.Upstream.Status().State == upstream.Ready {
			c.Connected(s.Upstream)
		}
	}
	for _, s := range servers {
		c.warnCost(s.Name)
	}
	c.logConfigNotes()
}

// loadNew reads the lists of servers with a new upstream from disk.
func (c *Catalog) loadNew(servers []*Server) map[*Server]*lists {
	c.mu.Lock()
	offers := map[*Server]offer{}
	for _, s := range servers {
		if old := c.server(s.Name); old == nil || old.Upstream != s.Upstream {
			offers[s] = c.offerTo(s)
		}
	}
	c.mu.Unlock()
	loaded := map[*Server]*lists{}
	for s, o := range offers {
		loaded[s] = load(c.dir, s.Key, o)
	}
	return loaded
}

// forget drops what is known of a server, including a refresh that runs. The caller
// holds mu.
func (c *Catalog) forget(server string) {
	if b := c.bursts[server]; b != nil {
		b.timer.Stop()
	}
	delete(c.bursts, server)
	delete(c.refreshing, server)
	delete(c.attempts, server)
	delete(c.warned, server)
}

// unparsed returns the same lists without parsed items.
func (l *lists) unparsed() *lists {
	return &lists{
		Tools: l.Tools, Resources: l.Resources, Templates: l.Templates, Prompts: l.Prompts,
		fetched: l.fetched, fresh: l.fresh, connection: l.connection, modern: l.modern, offer: l.offer, borrowed: l.borrowed, missing: l.missing, said: l.said,
	}
}

// changes returns the kinds of lists that clients see otherwise than before.
func (s *Snapshot) changes(before *Snapshot) (kinds []upstream.ListKind) {
	same := func(a, b *Item) bool { return a.Server == b.Server && bytes.Equal(a.Raw, b.Raw) }
	sameTool := func(a, b *Tool) bool { // its class decides who sees it
		return same(&a.Item, &b.Item) && a.Class.Kind == b.Class.Kind && a.Unconfigured == b.Unconfigured
	}
	if !slices.EqualFunc(s.Tools, before.Tools, sameTool) {
		kinds = append(kinds, upstream.Tools)
	}
	if !slices.EqualFunc(s.Resources, before.Resources, same) {
		kinds = append(kinds, upstream.Resources)
	}
	if !slices.EqualFunc(s.Templates, before.Templates, func(a, b *Template) bool { return same(&a.Item, &b.Item) }) {
		kinds = append(kinds, upstream.Templates)
	}
	if !slices.EqualFunc(s.Prompts, before.Prompts, func(a, b *Prompt) bool { return same(&a.Item, &b.Item) }) {
		kinds = append(kinds, upstream.Prompts)
	}
	return kinds
}
