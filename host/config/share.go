package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// The words of "share", the default of a single tenant first.
const (
	shareGlobal  = "global"
	shareTenant  = "tenant"
	shareSession = "session"
)

// share reads who uses the same connection. The place of the value is empty
// when the attribute is not set.
func (s blockReader) share() (word string, at hcl.Range) {
	if _, a, set := s.raw("share"); set {
		at = a.Expr.Range() // in the defaults block, if it stands there
	}
	return s.choice("share", shareGlobal, shareTenant, shareSession), at
}

// shareByTenant makes "tenant" the default of "share" where the clients of the
// gateway belong to several tenants, and warns of servers that mix them.
func (l *loader) shareByTenant(h HTTP, drafts []*draft) {
	tenants := tenantsOf(h)
	if len(tenants) < 2 {
		return
	}
	separated := false
	for _, d := range drafts {
		switch {
		case !d.Enabled:
		case d.shareAt == (hcl.Range{}):
			d.Share = shareTenant
			separated = true
		case d.Share == shareGlobal:
			d.block.doubtful(d.shareAt, `"tenant" gives each of them a connection of its own`,
				"the clients of the tenants %s share one connection, so what the server keeps of one can reach another", listed(tenants))
		}
	}
	if separated {
		blockReader{loader: l, in: h.origin.in}.doubtful(h.origin.head, `write share = "tenant" in the server blocks to say so, or "global" for a server that may mix tenants`,
			`"auth" names the tenants %s, so each server without "share" has a connection and credentials for each of them`, listed(tenants))
	}
}

// tenantsOf returns the tenants that the auth blocks name, sorted.
func tenantsOf(h HTTP) []string {
	var tenants []string
	for _, a := range h.Auth {
		if t, ok := a.Settings.(StaticToken); ok && !slices.Contains(tenants, t.Tenant) {
			tenants = append(tenants, t.Tenant)
		}
	}
	slices.Sort(tenants)
	return tenants
}

// listedTenants bounds the names in one message.
const listedTenants = 3

// listed quotes the first names of a list.
func listed(names []string) string {
	if len(names) > listedTenants {
		return quoted(names[:listedTenants]) + ", …"
	}
	return quoted(names)
}
