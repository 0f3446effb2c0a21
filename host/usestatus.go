package host

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// clientUses returns what principals use of the limits that clients share. This file is the
// part of the status about principals and tenants. The functions of this file may be called
// concurrently.
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

const (
	maxTenants   = 100  // in the status of a server
	maxPIDs      = 20   // of a tenant
	maxDescribed = 1000 // connections of a server whose plugins are asked
)

// tenantUses describes the connections to a server that belong to single tenants, whose
// plugins are asked until ctx ends.
func tenantUses(ctx context.Context, all []connpool.Open, processes func() control.Tree) []control.TenantUse {
	ctx, cancel := context.WithTimeout(ctx, pluginStatusTime)
	defer cancel()
	byTenant := map[string]*control.TenantUse{}
	slices.SortFunc(all, func(a, b connpool.Open) int { return cmp.Compare(a.Tenant, b.Tenant) })
	for i, one := range all {
		use := byTenant[one.Tenant]
		if use == nil {
			if len(byTenant) == maxTenants {
				break
			}
			use = &control.TenantUse{Tenant: one.Tenant, State: string(upstream.Ready)}
			byTenant[one.Tenant] = use
		}
		use.Connections++
		now := one.Upstream.Status()
		addState(use, now)
		if link, ok := now.Link.(*plugin.Connection); ok && i < maxDescribed {
			addProcess(ctx, use, link, processes)
		}
	}
	var uses []control.TenantUse
	for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
		uses = append(uses, *byTenant[tenant])
	}
	return uses
}

// addState adds the state of a connection: one that failed counts most, and one that is not
// ready more than those that are.
func addState(use *control.TenantUse, now upstream.Status) {
	use.Revision = cmp.Or(string(now.Revision), use.Revision)
	switch {
	case now.State == upstream.Failed && now.Err != nil:
		use.State, use.Error = string(now.State), fault.As(now.Err).Document()
	case now.State != upstream.Ready && now.State != upstream.Stopped && use.Error == nil:
		use.State = string(now.State)
	}
}

// addProcess adds the process of a connection, if it has one.
func addProcess(ctx context.Context, use *control.TenantUse, link *plugin.Connection, processes func() control.Tree) {
	now, err := link.Status(ctx)
	if err != nil || now.PID <= 0 {
		return
	}
	if len(use.PIDs) < maxPIDs {
		use.PIDs = append(use.PIDs, now.PID)
	}
	one := processes().UseOf(now.PID)
	use.Memory += one.Memory
	use.CPU += one.CPU
}

// addTenants adds the tenants of a server to its status, and what their processes use.
func addTenants(st *control.Server, uses []control.TenantUse, hide func(string) string) {
	for _, use := range uses {
		st.Memory += use.Memory
		st.CPU += use.CPU
		st.Revision = cmp.Or(st.Revision, use.Revision)
		if use.Error != nil {
			use.Error = use.Error.Masked(hide)
		}
		st.Tenants = append(st.Tenants, use)
	}
}
