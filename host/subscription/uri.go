package subscription

import (
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// withURI puts the URI that a client knows a resource by into a notification.
func withURI(params []byte, uri, known string) []byte {
	if known == uri {
		return params
	}
	return mcp.SetMember(params, "uri", mcp.AppendText(nil, known))
}

// subscribedURIs returns the URIs under which these subscriptions cover a changed
// resource: the plain one, the qualified one, or both.
func subscribedURIs(subs map[string]Subscription, from *upstream.Upstream, uri string) (known []string) {
	if len(subs) == 0 {
		return nil
	}
	for _, key := range []func(of string) string{
		func(of string) string { return of },
		func(of string) string { return catalog.Location{Server: from.Name(), URI: of}.Qualify() },
	} {
		var sub Subscription
		if matches(uri, func(of string) bool { sub = subs[key(of)]; return sub.Upstream == from }) {
			known = append(known, catalog.Location{Server: sub.Server, URI: sub.URI}.ClientURI(uri, sub.Requested))
		}
	}
	return known
}

// maxEnclosing limits the enclosing URIs that are compared with subscriptions.
const maxEnclosing = 32

// matches reports whether a resource, or one that it is a part of, is subscribed to: the
// protocol lets servers name the part that changed.
func matches(uri string, subscribed func(uri string) bool) bool {
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
