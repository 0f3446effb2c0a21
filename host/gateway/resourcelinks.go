package gateway

import (
	"iter"
	"sync"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
)

// Servers return links to resources that they do not list. A principal may read
// what a server returned to it, at that server.

const (
	linkOwners = 1000    // principals whose links are remembered
	linksOne   = 256     // links of one of them
	maxLink    = 1 << 10 // bytes of a URI that is remembered
)

// resourceLinks remembers the URIs that servers returned, by principal. Those that were
// not used for the longest time are forgotten first, each principal's own. The Gateway has one.
// Its methods may be called concurrently.
type resourceLinks struct {
	mu sync.Mutex
	// of has each link by its URI, and by the normal form of the URI if that is another one.
	of *principalLRU[catalog.Location] // guarded by mu
}

func newLinks() *resourceLinks {
	return &resourceLinks{of: newPrincipalLRU[catalog.Location](linkOwners, linksOne)}
}

// add remembers a link. The first server that returned a URI keeps it, or
// another one could take it over; the others have it under its qualified name.
func (l *resourceLinks) add(principal, server, uri string) {
	if uri == "" || len(uri) > maxLink {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	mine, link := l.of.values(principal), catalog.Location{Server: server, URI: uri}
	normal := catalog.Location{Server: server, URI: shape.NormalURI(uri)}
	if first, ok := mine.Get(normal.URI); normal != link && (!ok || first.Server != server) {
		key := normal.URI
		if ok {
			key = normal.Qualify()
		}
		mine.Add(key, link)
	}
	if first, ok := mine.Get(uri); ok && first.Server != server {
		uri = link.Qualify()
	}
	mine.Add(uri, link)
}

// find returns the resource that a link of a server to a principal named: the link with
// this URI, or else one with another spelling of the URI.
func (l *resourceLinks) find(principal, uri string) (catalog.Location, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if link, ok := l.of.find(principal, uri); ok || len(uri) > maxLink {
		return link, ok
	}
	return l.of.find(principal, shape.NormalURI(uri))
}

// at is find for links of one server.
func (l *resourceLinks) at(principal string, at catalog.Location) (catalog.Location, bool) {
	if link, ok := l.find(principal, at.URI); ok && link.Server == at.Server {
		return link, true
	}
	if link, ok := l.find(principal, at.Qualify()); ok {
		return link, true
	}
	return l.find(principal, catalog.Location{Server: at.Server, URI: shape.NormalURI(at.URI)}.Qualify())
}

// record takes note of the resources that the result of a request names.
func (l *resourceLinks) record(u *use, result []byte) {
	var principal, server string // of no use for most results
	n := 0
	for uri := range namedResources(u, result) {
		if n++; n > linksOne {
			return
		}
		if n == 1 {
			principal, server = u.principal.Key(), u.serverName()
		}
		l.add(principal, server, uri)
	}
}

// namedResources returns the URI of each part of a result; empty for a part without one.
func namedResources(u *use, result []byte) iter.Seq[string] {
	switch u.method {
	case mcp.MethodReadResource:
		asked, _ := mcp.TextMember(u.params, "uri")
		return contentURIs(result, asked)
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		return linkURIs(result)
	case mcp.MethodGetTask:
		return linkURIs(mcp.Member(result, "result"))
	}
	return func(func(string) bool) {}
}

// contentURIs returns the URIs of the contents of a resource, but for the one that the client asked for.
func contentURIs(result []byte, asked string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for content := range mcp.Elements(mcp.Member(result, "contents")) {
			uri, _ := mcp.TextMember(content, "uri")
			if uri == asked {
				uri = ""
			}
			if !yield(uri) {
				return
			}
		}
	}
}

// linkURIs returns the URIs of the resources that the blocks of a result link to or hold.
func linkURIs(result []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for block := range mcp.Elements(mcp.Member(result, "content")) {
			if !yield(linkURI(block)) {
				return
			}
		}
		for message := range mcp.Elements(mcp.Member(result, "messages")) {
			if !yield(linkURI(mcp.Member(message, "content"))) {
				return
			}
		}
	}
}

// linkURI returns the URI of the resource that a block of content links to or holds.
func linkURI(block []byte) (uri string) {
	switch kind, _ := mcp.TextMember(block, "type"); kind {
	case "resource_link":
		uri, _ = mcp.TextMember(block, "uri")
	case "resource":
		uri, _ = mcp.TextMember(block, "resource", "uri")
	}
	return uri
}
