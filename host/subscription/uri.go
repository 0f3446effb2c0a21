package subscription

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// withURI puts the URI that a client knows a resource by into a notification. The functions of
// this file are pure.
func withURI(params []byte, known string) []byte {
	if uri, ok := mcp.TextMember(params, "uri"); ok && uri == known {
		return params
	}
	return mcp.SetMember(params, "uri", mcp.AppendText(nil, known))
}

// subscribedURIs returns the URIs under which these subscriptions cover a changed
// resource: plain ones, qualified ones, or both. A resource that encloses the changed one
// counts if none is closer. uri has the server's spelling.
func subscribedURIs(subs map[string]Subscription, from *upstream.Upstream, uri string) (known []string) {
	var around []string // computed once there is a subscription at the server
	closest := map[bool]int{}
	uris := map[bool][]string{} // by whether they are qualified
	for _, sub := range subs {
		if sub.Upstream != from || sub.URI == "" {
			continue
		}
		if around == nil {
			around = enclosing(uri)
		}
		i := slices.Index(around, sub.URI)
		if i < 0 {
			continue
		}
		_, qualified := catalog.Unqualify(sub.Requested)
		if qualified = qualified && sub.Requested != sub.URI; uris[qualified] != nil && i > closest[qualified] {
			continue
		} else if i < closest[qualified] {
			uris[qualified] = nil
		}
		closest[qualified] = i
		uris[qualified] = append(uris[qualified],
			catalog.Location{Server: sub.Server, URI: sub.URI}.ClientURI(uri, sub.Requested))
	}
	for _, qualified := range []bool{false, true} {
		slices.Sort(uris[qualified])
		known = append(known, slices.Compact(uris[qualified])...)
	}
	return known
}

// maxEnclosing limits the enclosing URIs that are compared with subscriptions.
const maxEnclosing = 32

// enclosing returns a URI and those of the resources that it is a part of, the closest
// first: the protocol lets servers name the part that changed.
func enclosing(uri string) (all []string) {
	for range maxEnclosing {
		all = append(all, uri)
		i := strings.LastIndexAny(strings.TrimRight(uri, "/"), "/?#")
		if i <= 0 {
			break
		}
		all = append(all, uri[:i+1])
		uri = uri[:i]
	}
	return all
}
