package gateway

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Locate returns the resource that a URI names, whether or not the principal may
// read it. It is one that a server lists or has a template for, one that a server
// returned to the principal before, or any of a server with
// resources { unlisted = true }. Resources are never looked for by asking servers
// in turn, which would tell each of them what a client wants from another.
func (g *Gateway) Locate(ctx context.Context, p authn.Principal, uri string) (catalog.Location, error) {
	at, found := g.listed(ctx, uri)
	if !found {
		at, found = g.unlisted(p, uri, at)
	}
	if !found {
		return at, unlistedResource(uri)
	}
	return at, nil
}

func unlistedResource(uri string) error {
	return fault.New(fault.NameUnknown, "no server lists the resource %q", clip(uri))
}

// resolveResource finds the resource that a client reads or subscribes to.
func resolveResource(ctx context.Context, r *request) error {
	if r.local != nil {
		r.setResource(r.local.Resource)
		return nil
	}
	uri, ok := mcp.TextMember(r.params, "uri")
	switch {
	case !ok:
		return &rpcError{code: mcp.CodeInvalidParams, message: r.method + " needs a uri"}
	case r.method == mcp.MethodSubscribe && len(uri) > maxURI:
		return errURITooLong()
	}
	at, err := r.gw.Locate(ctx, r.principal, uri)
	if err != nil {
		return r.noResource(uri, err)
	}
	r.setResource(at)
	return nil
}

// setResource sets the item, and puts the server's own URI into the params.
func (r *request) setResource(at catalog.Location) {
	r.resource, r.item = at, policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI}
	if r.requested, _ = mcp.TextMember(r.params, "uri"); r.requested != at.URI {
		r.params = mcp.SetMember(r.params, "uri", mcp.AppendText(nil, at.URI))
	}
}

// noResource returns the error of a resource that cannot be located. For an
// unknown one it has the URI as data, and a code of its own in the legacy era.
func (r *request) noResource(uri string, err error) error {
	if !fault.Is(err, fault.NameUnknown) {
		return err
	}
	code := mcp.CodeResourceNotFound
	if r.modern {
		code = mcp.CodeInvalidParams
	}
	if len(uri) > maxURI {
		uri = clip(uri)
	}
	return &rpcError{code: code, message: err.Error(), data: map[string]string{
		"reason": "unknown_name", "code": string(fault.NameUnknown), "uri": uri,
	}}
}

// listed finds a resource in the lists of the servers. It waits for those that
// could list the URI, and come before the server that does.
func (g *Gateway) listed(ctx context.Context, uri string) (at catalog.Location, found bool) {
	at, found = g.catalog.Snapshot().Locate(uri)
	_, qualified := catalog.Unqualify(uri)
	switch {
	case found && qualified && at.URI != uri:
		return at, true
	case found && g.catalog.Snapshot().Exact(at):
		g.waitFor(ctx, g.catalog.Unknown(at.Server))
	case found:
		g.waitFor(ctx, g.catalog.Unknown(""))
	case at.Server != "": // the server that is meant may take as long to start as it is allowed to
		g.catalog.Ensure(ctx, at.Server)
	default:
		g.ensure(ctx, lookUpTime, nil)
	}
	if at, found = g.catalog.Snapshot().Locate(uri); !found {
		g.renew(ctx, at, uri)
		at, found = g.catalog.Snapshot().Locate(uri)
	}
	return at, found
}

// waitFor waits for the lists of servers that are starting. One that could not
// be started before is not waited for.
func (g *Gateway) waitFor(ctx context.Context, servers []string) {
	starting := slices.DeleteFunc(servers, func(name string) bool {
		u := g.generations.current().upstream(name)
		return u == nil || u.Status().Err != nil
	})
	if len(starting) > 0 {
		g.catalog.Ensure(ctx, starting...)
	}
}

// renew asks servers again whose lists this process knows from disk only and that
// an unlisted URI could belong to: by its scheme, or because it names the server.
func (g *Gateway) renew(ctx context.Context, at catalog.Location, uri string) {
	candidates := []string{at.Server}
	if at.Server == "" {
		candidates = g.byScheme(uri)
	}
	doubtful := slices.DeleteFunc(candidates, g.catalog.Fresh)
	if len(doubtful) > 0 {
		limited, cancel := context.WithTimeout(ctx, lookUpTime)
		defer cancel()
		g.catalog.Refresh(limited, doubtful...)
	}
}

// unlisted finds a resource that no server lists. at names the server if the URI
// does. Without a name it is the only server with resources of the URI's scheme
// that has more than it lists or, where no server has the scheme, the only one
// that has more than it lists.
func (g *Gateway) unlisted(p authn.Principal, uri string, at catalog.Location) (catalog.Location, bool) {
	all := g.generations.current().Servers
	if at.Server != "" {
		return at, all[at.Server].Unlisted || g.links.has(p.Key(), at)
	}
	if server, ok := g.links.find(p.Key(), uri); ok {
		return catalog.Location{Server: server, URI: uri}, true
	}
	candidates := g.byScheme(uri)
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
func (g *Gateway) byScheme(uri string) (owners []string) {
	scheme := schemeOf(uri)
	snapshot := g.catalog.Snapshot()
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

func schemeOf(uri string) string {
	for i, c := range uri {
		switch {
		case c == ':':
			return uri[:i]
		case c == '/' || c == '{' || c == '?' || c == '#':
			return ""
		}
	}
	return ""
}

// withRequestedURI puts the URI that was asked for into the contents of a resource, and
// qualified ones into those of its parts.
func withRequestedURI(result []byte, at catalog.Location, asked string) []byte {
	contents := mcp.Member(result, "contents")
	changed := mcp.RewriteElements(contents, func(one []byte) []byte {
		uri, ok := mcp.TextMember(one, "uri")
		if !ok {
			return one
		}
		return mcp.SetMember(one, "uri", mcp.AppendText(nil, at.ClientURI(uri, asked)))
	})
	if bytes.Equal(contents, changed) {
		return result
	}
	return mcp.SetMember(result, "contents", changed)
}
