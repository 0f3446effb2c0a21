package catalog

import (
	"maps"
	"slices"
	"strings"
)

// contents are the servers and their lists at one time. They are never changed in place. The
// publisher replaces them as a whole.
type contents struct {
	servers []*Server
	lists   map[string]*lists // by server
	offer   offer             // of the servers without one of their own
}

// server returns a server by name; nil for an unknown one. The methods of this file but adopt
// only read, and may be called concurrently.
func (now *contents) server(name string) *Server {
	for _, s := range now.servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// with returns contents in which a server has other lists.
func (now *contents) with(server string, l *lists) *contents {
	next := &contents{servers: now.servers, lists: maps.Clone(now.lists), offer: now.offer}
	next.lists[server] = l
	return next
}

// offerTo returns the capabilities for a server.
func (now *contents) offerTo(s *Server) offer {
	if s.Offer != nil {
		return offer{capabilities: string(s.Offer)}
	}
	return now.offer
}

// held returns the tools of a server that are held back, sorted by name. known is false
// if the lists of the server are not known.
func (now *contents) held(server string) (held []Held, known bool) {
	s, l := now.server(server), now.lists[server]
	if s == nil || l == nil {
		return nil, false
	}
	if s.Pins == nil {
		return nil, true
	}
	held = slices.Clone(l.parse(s).held)
	slices.SortStableFunc(held, func(a, b Held) int { return strings.Compare(a.Tool, b.Tool) })
	return held, true
}

// adopt sets the lists of a server that replaces old: those of before if its upstream is the same,
// or else those from disk, or else those of the server before. known reports whether its upstream
// is the same. It sets the lists of contents that are being made, so only publisher.replace may
// call it.
func (now *contents) adopt(s *Server, before *contents, disk *lists) (known bool) {
	old, l := before.server(s.Name), before.lists[s.Name]
	if s.broken == nil {
		s.broken = &brokenOutputs{}
	}
	switch {
	case old != nil && old == s:
		if l != nil {
			now.lists[s.Name] = l
		}
		return true
	case old != nil && old.Upstream == s.Upstream:
		s.broken = old.broken
		if l != nil {
			now.lists[s.Name] = l.unparsed() // the views may be others
		}
		return true
	case disk != nil:
		now.lists[s.Name] = disk
	case l != nil: // those of the server before, until it has answered
		l = l.unparsed()
		l.fresh = false
		l.said = Said{} // another server may be behind the name
		now.lists[s.Name] = l
	}
	return false
}
