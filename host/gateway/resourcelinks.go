package gateway

import (
	"bytes"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
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
	of *simplelru.LRU[string, *simplelru.LRU[string, string]] // guarded by mu; the server by URI
}

func newLinks() *resourceLinks {
	return &resourceLinks{of: newLRU[*simplelru.LRU[string, string]](linkOwners)}
}

// add remembers a link. The first server that returned a URI keeps it, or
// another one could take it over; the others have it under its qualified name.
func (l *resourceLinks) add(principal, server, uri string) {
	if uri == "" || len(uri) > maxLink {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	mine, ok := l.of.Get(principal)
	if !ok {
		mine = newLRU[string](linksOne)
		l.of.Add(principal, mine)
	}
	if first, ok := mine.Get(uri); ok && first != server {
		uri = catalog.Location{Server: server, URI: uri}.Qualify()
	}
	mine.Add(uri, server)
}

// find returns the server that returned a link to a principal.
func (l *resourceLinks) find(principal, uri string) (server string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if mine, ok := l.of.Get(principal); ok {
		return mine.Get(uri)
	}
	return "", false
}

// has reports whether a server returned a link to a principal.
func (l *resourceLinks) has(principal string, at catalog.Location) bool {
	if server, ok := l.find(principal, at.URI); ok && server == at.Server {
		return true
	}
	_, ok := l.find(principal, at.Qualify())
	return ok
}

// remember takes note of the resources that a result names.
func (r *request) remember(reply upstream.Reply) {
	server := r.serverName()
	result := reply.Result
	switch r.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
	case mcp.MethodGetTask:
		result = mcp.Member(result, "result")
	case mcp.MethodReadResource:
		r.rememberContents(server, result)
		return
	default:
		return
	}
	if !bytes.Contains(result, []byte(`"resource`)) {
		return // results are large, and looked through only when they may have links
	}
	n := 0
	for block := range mcp.Elements(mcp.Member(result, "content")) {
		if n++; n > linksOne {
			return
		}
		r.rememberBlock(server, block)
	}
	for message := range mcp.Elements(mcp.Member(result, "messages")) {
		if n++; n > linksOne {
			return
		}
		r.rememberBlock(server, mcp.Member(message, "content"))
	}
}

// rememberBlock takes note of the resource that a block of content links to or
// holds.
func (r *request) rememberBlock(server string, block []byte) {
	var uri string
	switch kind, _ := mcp.TextMember(block, "type"); kind {
	case "resource_link":
		uri, _ = mcp.TextMember(block, "uri")
	case "resource":
		uri, _ = mcp.TextMember(block, "resource", "uri")
	}
	r.gw.links.add(r.principal.Key(), server, uri)
}

// rememberContents takes note of the parts of a resource that was read.
func (r *request) rememberContents(server string, result []byte) {
	asked, _ := mcp.TextMember(r.params, "uri")
	n := 0
	for one := range mcp.Elements(mcp.Member(result, "contents")) {
		if n++; n > linksOne {
			return
		}
		if uri, _ := mcp.TextMember(one, "uri"); uri != asked {
			r.gw.links.add(r.principal.Key(), server, uri)
		}
	}
}
