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
	for _, s := range g.allSessions() {
		for _, method := range methods {
			s.listChanged(method)
		}
	}
}

func (s *Session) listChanged(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision != "" {
		s.notify(method, nil)
	}
	for _, l := range s.listens {
		if l.lists[method] {
			sendNotification(l.out, method, l.withSubscriptionID(nil))
		}
	}
}

// resourceUpdated tells a client that a resource changed, if it wants to know, under the
// URI that it knows the resource by.
func (s *Session) resourceUpdated(from *upstream.Upstream, uri string, params []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := false
	for _, known := range subscribedURIs(s.subs, from, uri) {
		s.notify(mcp.NoteResUpdated, withResourceURI(params, uri, known))
		told = true
	}
	for _, l := range s.listens {
		for _, known := range subscribedURIs(l.uris, from, uri) {
			sendNotification(l.out, mcp.NoteResUpdated, l.withSubscriptionID(withResourceURI(params, uri, known)))
			told = true
		}
	}
	if told {
		s.gw.links.add(s.Principal().Key(), from.Name(), uri) // it may be part of what is listed
	}
}

// withResourceURI puts the URI that a client knows a resource by into a notification.
func withResourceURI(params []byte, uri, known string) []byte {
	if known == uri {
		return params
	}
	return mcp.SetMember(params, "uri", mcp.AppendText(nil, known))
}

// subscribedURIs returns the URIs under which these subscriptions cover a changed
// resource: the plain one, the qualified one, or both.
func subscribedURIs(subs map[string]subscription, from *upstream.Upstream, uri string) (known []string) {
	if len(subs) == 0 {
		return nil
	}
	for _, key := range []func(of string) string{
		func(of string) string { return of },
		func(of string) string { return catalog.Location{Server: from.Name(), URI: of}.Qualify() },
	} {
		var sub subscription
		if matchesSubscription(uri, func(of string) bool { sub = subs[key(of)]; return sub.upstream == from }) {
			known = append(known, clientURI(catalog.Location{Server: sub.server, URI: sub.uri}, uri, sub.requestedURI))
		}
	}
	return known
}

// maxEnclosing limits the enclosing URIs that are compared with subscriptions.
const maxEnclosing = 32

// matchesSubscription reports whether a resource, or one that it is a part of, is
// subscribed to: the protocol lets servers name the part that changed.
func matchesSubscription(uri string, subscribed func(uri string) bool) bool {
	for range maxEnclosing {
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
