package gateway

import (
	"iter"
	"sync"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// Servers return links to resources that they do not list. A principal may read
// what a server returned to it, at that server.

const (
	linkOwners = 1000    // principals whose links are remembered
	linksOne   = 256     // links of one of them
	maxLink    = 1 << 10 // bytes of a URI that is remembered
)

// resourceLinks remembers the URIs that servers returned, by principal. Those that were
// not used for the longest time are forgotten first, each principal's own.
type resourceLinks struct {
	mu sync.Mutex
	of *principalLRU[string] // guarded by mu; the server by URI
}

func newLinks() *resourceLinks {
	return &resourceLinks{of: newPrincipalLRU[string](linkOwners, linksOne)}
}

// add remembers a link. The first server that returned a URI keeps it, or
// another one could take it over; the others have it under its qualified name.
func (l *resourceLinks) add(principal, server, uri string) {
	if uri == "" || len(uri) > maxLink {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	mine := l.of.values(principal)
	if first, ok := mine.Get(uri); ok && first != server {
		uri = catalog.Location{Server: server, URI: uri}.Qualify()
	}
	mine.Add(uri, server)
}

// find returns the server that returned a link to a principal.
func (l *resourceLinks) find(principal, uri string) (server string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of.find(principal, uri)
}

// has reports whether a server returned a link to a principal.
func (l *resourceLinks) has(principal string, at catalog.Location) bool {
	if server, ok := l.find(principal, at.URI); ok && server == at.Server {
		return true
	}
	_, ok := l.find(principal, at.Qualify())
	return ok
}

// record takes note of the resources that the result of a request names.
func (l *resourceLinks) record(r *request, result []byte) {
	var principal, server string // of no use for most results
	n := 0
	for uri := range namedResources(r, result) {
		if n++; n > linksOne {
			return
		}
		if n == 1 {
			principal, server = r.principal.Key(), r.serverName()
		}
		l.add(principal, server, uri)
	}
}

// namedResources returns the URI of each part of a result; empty for a part without one.
func namedResources(r *request, result []byte) iter.Seq[string] {
	switch r.method {
	case mcp.MethodReadResource:
		asked, _ := mcp.TextMember(r.params, "uri")
		return contentURIs(result, asked)
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		return linkURIs(result)
	case mcp.MethodGetTask:
		return linkURIs(mcp.Member(result, "result"))
	}
	return func(func(string) bool) {}
}

// contentURIs returns the URIs of the contents of a resource, but for the one that the
// client asked for.
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

// linkURIs returns the URIs of the resources that the blocks of a result link to or
// hold.
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
