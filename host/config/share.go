package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// The values of "share": which clients use one connection to a server. The first is the default for
// a single tenant. Package host/connpool has the connections that not all clients share.
const (
	shareGlobal  = "global"
	shareTenant  = "tenant"
	shareSession = "session"
)

// shareByTenant makes "tenant" the default of "share" if the clients of the gateway
// belong to several tenants. It warns of servers that share a connection between
// tenants.
func (l *loader) shareByTenant(h HTTP, drafts []*draft) {
	tenants, open := tenantsOf(h)
	if len(tenants) < 2 && !open {
		return
	}
	named := "names the tenants " + quotedFirst(tenants)
	if open {
		named = "can yield any tenant"
	}
	separated := false
	for _, d := range drafts {
		switch {
		case !d.Enabled:
		case d.shareAt == (hcl.Range{}):
			d.Share = shareTenant
			separated = true
		case d.Share == shareGlobal:
			d.block.WarnAt(d.shareAt, `write share = "tenant" to give each of them a connection of its own`,
				"the clients of all tenants share one connection, so what the server keeps of one can reach another")
		}
	}
	if separated {
		l.layers[0].empty(h.origin.in).WarnAt(h.origin.head,
			`write share = "tenant" in the server blocks to say so, or "global" for a server that may mix tenants`,
			`"auth" %s, so each server without "share" has a connection and credentials for each tenant`, named)
	}
}

// tenantsOf returns the tenants that the auth blocks name, sorted, and whether there may
// be others.
func tenantsOf(h HTTP) (tenants []string, open bool) {
	for _, a := range h.Auth {
		if a.Settings == nil {
			continue
		}
		clients := a.Settings.Clients()
		open = open || clients.OpenTenants
		for _, p := range clients.Principals {
			if !slices.Contains(tenants, p.Tenant) {
				tenants = append(tenants, p.Tenant)
			}
		}
	}
	slices.Sort(tenants)
	return tenants, open
}

// listedTenants is the number of names in one message.
const listedTenants = 3

// quotedFirst quotes the first names of a list.
func quotedFirst(names []string) string {
	if len(names) > listedTenants {
		return language.Quoted(names[:listedTenants]) + ", …"
	}
	return language.Quoted(names)
}
