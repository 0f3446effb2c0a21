package gateway

import (
	"slices"
	"sync"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// ListsChanged tells every client that lists changed, but for those that it has already. The
// catalog calls it on a goroutine of its own after each change; it does not wait for clients.
func (g *Gateway) ListsChanged(kinds []upstream.ListKind) {
	now := g.catalog.Snapshot()
	for _, s := range g.sessions.all() {
		var told []string
		for _, k := range kinds {
			if !slices.Contains(told, k.Changed) && !s.sent.has(k, now) {
				told = append(told, k.Changed)
				s.listChanged(k.Changed)
			}
		}
	}
}

// sentLists are the lists that a client got last. The methods may be called concurrently.
type sentLists struct {
	mu       sync.Mutex
	versions map[upstream.ListKind]uint64 // guarded by mu
}

// add notes that the list of a kind is sent as it is in a snapshot.
func (l *sentLists) add(k upstream.ListKind, s *catalog.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.versions == nil {
		l.versions = map[upstream.ListKind]uint64{}
	}
	l.versions[k] = s.Version(k)
}

// has reports whether the list of a kind is the one in the snapshot.
func (l *sentLists) has(k upstream.ListKind, s *catalog.Snapshot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	version, known := l.versions[k]
	return known && version == s.Version(k)
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
	if !s.gw.generations.current().lists(&who, nil,
		policy.Item{Server: from.Name(), Kind: policy.Resource, Name: uri}, nil) {
		return // a part of what the client subscribed to
	}
	if s.subs.ResourceUpdated(from, uri, params) {
		s.gw.links.add(s.Principal().Key(), from.Name(), uri) // it may be part of what is listed
	}
}
