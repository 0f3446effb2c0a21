package host

import (
	"cmp"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/limit"
)

// clientUses returns what principals use of the limits that clients share.
func (r report) clientUses() []control.ClientUse {
	uses := map[limit.Owner]*control.ClientUse{}
	of := func(o limit.Owner) *control.ClientUse {
		if uses[o] == nil {
			p, _ := authn.ParseKey(o.Key)
			uses[o] = &control.ClientUse{Tenant: p.Tenant, Subject: p.Subject, Method: p.Method}
		}
		return uses[o]
	}
	count := func(all []limit.Use, field func(*control.ClientUse) *int64) {
		for _, u := range all {
			*field(of(u.Owner)) += u.Units
		}
	}
	if server := r.a.serving.Load(); server != nil {
		requests, streams, sessions := server.Uses()
		count(requests, func(u *control.ClientUse) *int64 { return &u.Requests })
		count(streams, func(u *control.ClientUse) *int64 { return &u.Streams })
		count(sessions, func(u *control.ClientUse) *int64 { return &u.Sessions })
	}
	memory, connections := r.a.Gateway.Uses()
	count(memory, func(u *control.ClientUse) *int64 { return &u.Memory })
	count(connections, func(u *control.ClientUse) *int64 { return &u.Connections })
	list := make([]control.ClientUse, 0, len(uses))
	for _, u := range uses {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(x, y control.ClientUse) int {
		return cmp.Or(
			cmp.Compare(y.Requests, x.Requests),
			cmp.Compare(y.Sessions+y.Streams, x.Sessions+x.Streams),
			cmp.Compare(y.Memory, x.Memory),
			cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Subject, y.Subject),
		)
	})
	return list[:min(len(list), control.MaxClients)]
}
