package gateway

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
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
	for _, s := range g.sessions.all() {
		for _, method := range methods {
			s.listChanged(method)
		}
	}
}

func (s *Session) listChanged(method string) {
	if s.legacy() {
		s.notify(method, nil)
	}
	s.subs.ListChanged(method)
}

// resourceUpdated tells a client that a resource changed, if it wants to know.
func (s *Session) resourceUpdated(from *upstream.Upstream, uri string, params []byte) {
	who := s.Principal()
	at, _ := s.gw.catalog.Snapshot().Listed(catalog.Location{Server: from.Name(), URI: uri})
	uri = at.URI // clients subscribed to the resource as its server lists it
	if !s.gw.generations.current().lists(&who, nil, policy.Item{Server: from.Name(), Kind: policy.Resource, Name: uri}, nil) {
		return // a part of what the client subscribed to
	}
	if s.subs.ResourceUpdated(from, uri, params) {
		s.gw.links.add(s.Principal().Key(), from.Name(), uri) // it may be part of what is listed
	}
}
