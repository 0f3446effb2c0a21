package gateway

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
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

// updated tells a client that a resource changed, if it wants to know, under the
// URI that it knows the resource by.
func (s *Session) updated(from *upstream.Upstream, uri string, params []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := false
	for _, known := range heardAs(s.subs, from, uri) {
		s.tell(mcp.NoteResUpdated, naming(params, uri, known))
		told = true
	}
	for _, l := range s.listens {
		for _, known := range heardAs(l.uris, from, uri) {
			say(l.out, mcp.NoteResUpdated, l.tagged(naming(params, uri, known)))
			told = true
		}
	}
	if told {
		s.gw.links.add(s.Principal().Key(), from.Name(), uri) // it may be part of what is listed
	}
}

// naming puts the URI that a client knows a resource by into a notification.
func naming(params []byte, uri, known string) []byte {
	if known == uri {
		return params
	}
	return mcp.SetMember(params, "uri", mcp.AppendText(nil, known))
}

// heardAs returns the URIs under which somebody with these subscriptions hears of
// a change of a resource: the plain one, the qualified one, or both.
func heardAs(subs map[string]subscription, from *upstream.Upstream, uri string) (known []string) {
	if len(subs) == 0 {
		return nil
	}
	for _, key := range []func(of string) string{
		func(of string) string { return of },
		func(of string) string { return catalog.Location{Server: from.Name(), URI: of}.Qualify() },
	} {
		var sub subscription
		if within(uri, func(of string) bool { sub = subs[key(of)]; return sub.over == from }) {
			known = append(known, renamed(catalog.Location{Server: sub.server, URI: sub.uri}, uri, sub.asked))
		}
	}
	return known
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
