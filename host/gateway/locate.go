package gateway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
)

// locate returns the resource that a URI names, whether or not the principal may read it. A server lists the
// resource or has a template for it, a server returned it to the principal before, or its server has resources
// { unlisted = true }. locate does not ask servers in turn: each of them would learn what a client wants from
// another. It may block while servers list their resources. The rest of the finder is in finder.go.
func (f *finder) locate(ctx context.Context, n *Generation, p authn.Principal, uri string) (catalog.Location, error) {
	at, found := f.listed(ctx, n, uri)
	if !found {
		at, found = f.unlisted(n, p, uri, at)
	}
	if !found {
		return at, n.unlistedResource(uri)
	}
	return at, nil
}

// listed finds a resource in the lists of the servers. For an exact match it waits for those that could
// list the URI, too, and come before the server that does; for a template or another spelling, for
// all servers whose lists are not known yet.
func (f *finder) listed(ctx context.Context, n *Generation, uri string) (at catalog.Location, found bool) {
	at, found = f.catalog.Snapshot().Locate(uri)
	_, qualified := catalog.Unqualify(uri)
	switch {
	case found && qualified && at.URI != uri:
		return at, true
	case found && at.URI == uri && f.catalog.Snapshot().Exact(at):
		f.waitFor(ctx, n, f.catalog.Unknown(at.Server))
	case found:
		f.waitFor(ctx, n, f.catalog.Unknown(""))
	case at.Server != "": // the server that is meant may take as long to start as it is allowed to
		f.catalog.EnsureLists(ctx, resourceLists, at.Server)
	default:
		f.ensure(ctx, lookUpTime, resourceLists, nil)
	}
	if at, found = f.catalog.Snapshot().Locate(uri); !found {
		f.renew(ctx, at, uri)
		at, found = f.catalog.Snapshot().Locate(uri)
	}
	return at, found
}

// waitFor waits for the lists of servers that are starting. One that could not
// be started before is not waited for.
func (f *finder) waitFor(ctx context.Context, n *Generation, servers []string) {
	starting := slices.DeleteFunc(servers, func(name string) bool {
		u := n.upstream(name)
		return u == nil || u.Status().Err != nil
	})
	if len(starting) > 0 {
		f.catalog.EnsureLists(ctx, resourceLists, starting...)
	}
}

// renew asks servers again whose lists this process knows from disk only and that
// an unlisted URI could belong to: by its scheme, or because it names the server.
func (f *finder) renew(ctx context.Context, at catalog.Location, uri string) {
	candidates := []string{at.Server}
	if at.Server == "" {
		candidates = f.byScheme(uri)
	}
	doubtful := slices.DeleteFunc(candidates, f.catalog.Fresh)
	if len(doubtful) > 0 {
		limited, cancel := context.WithTimeout(ctx, lookUpTime)
		defer cancel()
		f.catalog.RefreshLists(limited, resourceLists, doubtful...)
	}
}

// unlisted finds a resource that no server lists. at names the server if the URI does. Otherwise the resource
// belongs to the only server with unlisted resources that lists others of the URI's scheme. If no server lists
// any of the scheme, it belongs to the only server with unlisted resources.
func (f *finder) unlisted(n *Generation, p authn.Principal, uri string, at catalog.Location) (catalog.Location, bool) {
	all := n.Servers
	if at.Server != "" {
		if link, ok := f.links.at(p.Key(), at); ok {
			return link, true
		}
		return at, all[at.Server].Unlisted
	}
	if link, ok := f.links.find(p.Key(), uri); ok {
		return link, true
	}
	candidates := f.byScheme(uri)
	if len(candidates) == 0 && schemeOf(uri) != "" {
		candidates = slices.Collect(maps.Keys(all))
	}
	open := slices.DeleteFunc(candidates, func(server string) bool { return !all[server].Unlisted })
	if len(open) != 1 {
		return at, false // with several, the URI does not say which one is meant
	}
	return catalog.Location{Server: open[0], URI: uri}, true
}

// byScheme lists the servers that have resources of a URI's scheme.
func (f *finder) byScheme(uri string) (owners []string) {
	scheme := schemeOf(uri)
	snapshot := f.catalog.Snapshot()
	add := func(server, of string) {
		if scheme != "" && schemeOf(of) == scheme && !slices.Contains(owners, server) {
			owners = append(owners, server)
		}
	}
	for _, r := range snapshot.Resources {
		add(r.Server, r.Name)
	}
	for _, t := range snapshot.Templates {
		add(t.Server, t.Name)
	}
	return owners
}

// schemeOf returns the scheme of a URI in lower case, or "".
func schemeOf(uri string) string {
	for i, c := range uri {
		switch {
		case c == ':':
			return strings.ToLower(uri[:i])
		case c == '/' || c == '{' || c == '?' || c == '#':
			return ""
		}
	}
	return ""
}
