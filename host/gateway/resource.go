package gateway

import (
	"bytes"
	"context"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// unlistedResource returns the error of a resource that a client cannot use. The hint does
// not depend on the resource: one that is denied must not differ from an unknown one.
func (n *Generation) unlistedResource(uri string) error {
	f := fault.New(fault.NameUnknown, "no server lists the resource %q", clip(uri))
	for _, s := range n.Servers {
		if s.Unlisted {
			return f.WithHint("ask one server as junctor://SERVER/ and the percent-encoded URI; a server that does not list the URI needs resources { unlisted = true } in its block")
		}
	}
	return f.WithHint("set resources { unlisted = true } in the block of a server to allow URIs that it does not list")
}

// resolveResource finds the resource that a client reads or subscribes to. It is the stage
// resolve of resources/read and resources/subscribe, on the goroutine of the request. Finding
// the server of a URI is in locate.go.
func resolveResource(ctx context.Context, u *use) error {
	uri, ok := mcp.TextMember(u.params, "uri")
	switch {
	case !ok:
		return &rpcError{code: mcp.CodeInvalidParams, message: u.method + " needs a uri"}
	case u.method == mcp.MethodSubscribe && len(uri) > maxURI:
		return errURITooLong()
	}
	at, err := u.gw.finder.locate(ctx, u.generation, u.principal, uri)
	if err != nil {
		return noResource(u, uri, err)
	}
	u.setResource(at)
	return nil
}

// setResource sets the item, and puts the server's own URI into the params.
func (u *use) setResource(at catalog.Location) {
	u.resource, u.item = at, policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI}
	if u.requested, _ = mcp.TextMember(u.params, "uri"); u.requested != at.URI {
		u.params = mcp.SetMember(u.params, "uri", mcp.AppendText(nil, at.URI))
	}
}

// noResource returns the error of a resource that cannot be located. For an
// unknown one it has the URI as data, and a code of its own in the legacy era.
func noResource(u *use, uri string, err error) error {
	if !fault.Is(err, fault.NameUnknown) {
		return err
	}
	code := mcp.CodeResourceNotFound
	if u.modern() {
		code = mcp.CodeInvalidParams
	}
	if len(uri) > maxURI {
		uri = clip(uri)
	}
	hint := fault.As(err).Hint
	return &rpcError{code: code, message: err.Error() + " (" + hint + ")", data: map[string]string{
		"reason": "unknown_name", "code": string(fault.NameUnknown), "uri": uri, "hint": hint,
	}}
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
