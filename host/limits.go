package host

import (
	"cmp"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A clientKinds says which clients the gateway can have. It is a value. The functions of this
// file are pure: they turn blocks of the configuration into limits of other packages.
type clientKinds struct {
	tenants  bool // several
	subjects bool // several of one tenant
}

// clientKindsOf returns the clientKinds of a listener. withStdio says that the gateway serves the
// local user on standard input, too.
func clientKindsOf(h config.HTTP, withStdio bool) (c clientKinds) {
	type subject struct{ kind, tenant, name string }
	seen, tenants := map[subject]bool{}, map[string]int{}
	if withStdio {
		tenants[authn.LocalTenant]++
	}
	for _, auth := range h.Auth {
		clients := auth.Settings.Clients()
		c.tenants = c.tenants || clients.OpenTenants
		c.subjects = c.subjects || clients.OpenSubjects || clients.OpenTenants
		for _, p := range clients.Principals {
			if s := (subject{auth.Kind, p.Tenant, p.Subject}); !seen[s] {
				seen[s] = true
				tenants[p.Tenant]++
				c.subjects = c.subjects || tenants[p.Tenant] > 1
			}
		}
	}
	c.tenants = c.tenants || len(tenants) > 1
	c.subjects = c.subjects || len(h.Auth) == 0 && h.TLS != nil && h.TLS.ClientCA != ""
	return c
}

// shares returns the shares of a limit of total units. By default one of several tenants
// gets half, and one of several principals half of what its tenant gets, but never less
// than least.
func (c clientKinds) shares(total, least int, tenant, principal *int) (s limit.Shares) {
	of := total
	if c.tenants {
		of = (total + 1) / 2
		s.Tenant = int64(of)
	}
	if c.subjects {
		s.Principal = int64(min(of, max((of+1)/2, least)))
	}
	if tenant != nil {
		s.Tenant = int64(*tenant)
	}
	if principal != nil {
		s.Principal = int64(*principal)
	}
	return s
}

// approvalShare returns the share of one tenant in the calls that wait for an approval.
func approvalShare(h config.HTTP, withStdio bool) int64 {
	return clientKinds{tenants: clientKindsOf(h, withStdio).tenants}.shares(approval.MaxKept, 0, nil, nil).Tenant
}

// httpShares returns the shares in the limits of the listener.
func httpShares(h config.HTTP, l config.Limits) httpserver.Shares {
	c, tenant, principal := clientKindsOf(h, false), l.PerTenant, l.PerPrincipal
	return httpserver.Shares{
		Requests: c.shares(h.MaxInFlight, 1, tenant.Requests, principal.Requests),
		Streams:  c.shares(h.Sessions.Max, 1, tenant.Streams, principal.Streams),
		Sessions: c.shares(h.Sessions.Max, 1, tenant.Sessions, principal.Sessions),
	}
}

// connectionLimit returns the number of connections to one server that clients do not share.
func connectionLimit(c *config.Config) int {
	return cmp.Or(c.Gateway.Limits.Connections, limit.DefaultConnections)
}

// gatewayShares returns the shares in the limits of the gateway for the clients of a
// listener, and for the local user if withStdio is set. A principal always has memory for the
// largest message of a server.
func gatewayShares(h config.HTTP, all *config.Config, withStdio bool) gateway.Shares {
	c, tenant, principal := clientKindsOf(h, withStdio), all.Gateway.Limits.PerTenant, all.Gateway.Limits.PerPrincipal
	largest := 0
	for _, s := range all.Servers {
		largest = max(largest, s.MaxMessage)
	}
	suspended := clientKinds{tenants: c.tenants}.shares(gateway.MaxSuspended, 0, nil, nil)
	suspended.Principal = gateway.MaxSuspendedPerPrincipal
	return gateway.Shares{
		Memory:      c.shares(int(messageMemory(all)), largest, tenant.Memory, principal.Memory),
		Connections: c.shares(connectionLimit(all), 1, tenant.Connections, principal.Connections),
		PerServer:   connectionLimit(all),
		Suspended:   suspended,
	}
}

// toolRules returns the rules of a configuration for the calls of tools. The principals of
// a tenant share the limits if there can be several. withStdio is that of clientKindsOf.
func toolRules(g config.Gateway, withStdio bool) (rules []limit.ToolRule) {
	shared := clientKindsOf(g.HTTP, withStdio).subjects
	if most := g.Limits.PrincipalCalls.Concurrent; most != nil && *most == 0 {
		shared = false
	}
	for _, l := range g.Limits.Calls() {
		rules = append(rules, limit.ToolRule{
			Match:      l.Match,
			Roles:      l.Roles,
			Rate:       l.Rate,
			Burst:      l.Burst,
			Concurrent: l.Concurrent,
			Wait:       l.Wait,
			Shared:     shared,
			Block:      l.Block,
		})
	}
	return rules
}

// principalBounds returns the limits of a configuration for the calls of each principal.
func principalBounds(c config.PrincipalCalls) limit.Bounds {
	b := limit.Bounds{Rate: c.Rate, Burst: c.Burst, Wait: c.Wait, Block: "limits { per_principal }"}
	if c.Concurrent != nil {
		b.Concurrent = *c.Concurrent
	}
	return b
}

// toolTimeout returns the timeouts of the tools of a server, or nil if all have that of
// the server.
func (g *generation) toolTimeout(server string) func(tool string, p authn.Principal) upstream.Timeout {
	var own []config.CallLimit
	timed := false
	for _, l := range g.Config.Gateway.Limits.Calls() {
		if l.Server.Match(server) {
			own, timed = append(own, l), timed || l.Timeout.Limit > 0
		}
	}
	if !timed {
		return nil
	}
	return func(tool string, p authn.Principal) (t upstream.Timeout) {
		for _, l := range own {
			if l.Tool.Match(tool) && p.HasRole(l.Roles) {
				if l.Timeout.Limit > 0 {
					t = upstream.Timeout{
						Limit:   l.Timeout.Limit,
						Setting: "timeout in " + l.Timeout.Block,
						At:      l.Timeout.At.String(),
					}
				}
				return t
			}
		}
		return t
	}
}
