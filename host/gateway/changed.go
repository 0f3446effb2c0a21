package gateway

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// ListsChanged tells every client that lists changed.
func (g *Gateway) ListsChanged(kinds []upstream.ListKind) {
	var methods []string
	for _, k := range kinds {
		if !slices.Contains(methods, k.Changed) {
			methods = append(methods, k.Changed)
		}
	}
	for _, s := range g.all() {
		for _, method := range methods {
			s.listChanged(method)
		}
	}
}

func (s *Session) listChanged(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision != "" {
		s.tell(method, nil)
	}
	for _, l := range s.listens {
		if l.lists[method] {
			say(l.out, method, l.tagged(nil))
		}
	}
}

// updated tells a client that a resource changed, if it wants to know.
func (s *Session) updated(from *upstream.Upstream, uri string, params []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if within(uri, func(of string) bool { return s.subs[of].over == from }) {
		s.tell(mcp.NoteResUpdated, params)
	}
	for _, l := range s.listens {
		if within(uri, func(of string) bool { return l.uris[of].over == from }) {
			say(l.out, mcp.NoteResUpdated, l.tagged(params))
		}
	}
}

// partsTried bounds how many resources one can be seen as a part of.
const partsTried = 32

// within reports whether somebody is subscribed to a resource or to what it is
// a part of: the protocol lets servers name the part that changed.
func within(uri string, subscribed func(uri string) bool) bool {
	for range partsTried {
		if subscribed(uri) {
			return true
		}
		i := strings.LastIndexAny(strings.TrimRight(uri, "/"), "/?#")
		if i <= 0 {
			return false
		}
		if subscribed(uri[:i+1]) {
			return true
		}
		uri = uri[:i]
	}
	return false
}
