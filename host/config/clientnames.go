package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// This file reads what several kinds of auth blocks have in common: the tenants and
// roles of clients, and the names that are admitted.

const defaultTenantHint = `omit tenant for the tenant "default"`

// tenant reads the tenant of the clients of a block.
func (r blockReader) tenant() string {
	text, a, set := r.Text("tenant")
	if !set {
		return authn.DefaultTenant
	}
	r.checkTenant(a.Expr.Range(), "tenant", text, defaultTenantHint)
	return text
}

// checkTenant reports a name that no tenant can have.
func (r blockReader) checkTenant(at hcl.Range, attribute, name, hint string) {
	if err := authn.CheckTenant(name); err != nil {
		r.ErrorAt(at, hint, "%q %v", attribute, err)
	}
	if name == authn.LocalTenant {
		r.WarnAt(at, "choose another name, unless the clients are programs of your own",
			`the tenant %q is that of the user who runs Junctor, so these clients use the logins of that user at servers with share = "tenant"`, name)
	}
}

// roles reads the roles of the clients of a block.
func (r blockReader) roles() (roles []string) {
	items := r.Texts("roles")
	for _, e := range items {
		r.warnRole(e.At, e.Text)
		if e.Text == "" || len(e.Text) > maxRole || strings.ContainsFunc(e.Text, unprintable) {
			r.ErrorAt(e.At, "", "a role must be 1 to %d bytes of text without control characters", maxRole)
			continue
		}
		roles = append(roles, e.Text)
	}
	return roles
}

// warnRole reports a role that gives its clients nothing.
func (r blockReader) warnRole(at hcl.Range, role string) {
	switch {
	case slices.Contains(r.rolesUsed, role):
	case !r.hasPolicy:
		r.WarnAt(at, "without a policy block, clients may use everything that is offered", "no policy and no limit uses the role %q", role)
	default:
		r.WarnAt(at, language.DidYouMean(role, r.rolesUsed), "the policy has no role %q", role)
	}
}

// warnRolesClaim reports a claim with roles if there is nothing that has roles.
func (r blockReader) warnRolesClaim() {
	if !r.hasPolicy && len(r.rolesUsed) == 0 {
		r.WarnAt(r.Body.Attributes["roles"].NameRange, "without a policy block, clients may use everything that is offered", "no policy and no limit uses roles")
	}
}

var (
	tenantEntry = language.Entry{Name: "tenant", Values: language.Texts("`a-z`, `0-9`, `_` and `-`, at most 64, with a letter or digit at both ends"), Unset: "`\"default\"`",
		Doc: "The tenant of the clients. It separates clients of different owners."}
	rolesEntry = language.Entry{Name: "roles", Values: language.TextLists("a list of roles"), Unset: "none",
		Doc: "Roles of the clients, for the [policy](permissions.md) and for `limits { tool }`. A role that neither names is a warning.", Refers: language.RefersRole}
)

// namesEntries are the attributes that admitNames reads.
var namesEntries = []language.Entry{
	{Name: "names", Values: language.TextLists("a list of subjects"), Unset: "all", Doc: "The subjects that are admitted."},
	{Name: "tenants", Values: language.TextMaps("`{ \"SUBJECT\" = \"TENANT\" }`"), Unset: "none", Doc: "The tenants of subjects. Other subjects are refused unless `tenant` is set."},
	{Name: "tenant", Values: tenantEntry.Values, Unset: "`\"default\"`, without `tenants`", Doc: "The tenant of other subjects."},
	rolesEntry,
}

// admitNames reads which names are admitted, and their tenants and roles.
func (r blockReader) admitNames() (n authn.Names) {
	n.Allowed = names(r.Reader, "names")
	n.Tenants = r.tenantsByName(n.Allowed)
	if n.Tenants == nil || r.IsSet("tenant") {
		n.Tenant = r.tenant()
	}
	n.Roles = r.roles()
	return n
}

// names reads the names that are admitted. It returns nil if the attribute is not set.
func names(r language.Reader, attribute string) []string {
	items := r.Texts(attribute)
	if items == nil {
		return nil
	}
	list := []string{}
	for _, e := range items {
		if e.Text == "" || len(e.Text) > maxSubject || strings.ContainsFunc(e.Text, unprintable) {
			r.ErrorAt(e.At, "", "a name must be 1 to %d bytes of text without control characters", maxSubject)
		}
		if slices.Contains(list, e.Text) {
			r.ErrorAt(e.At, "", "the name %q appears twice", e.Text)
		}
		list = append(list, e.Text)
	}
	if len(items) == 0 {
		r.ErrorAt(r.Body.Attributes[attribute].Expr.Range(), "list the names, or omit the attribute to admit every name", "%q is empty, so no client is admitted", attribute)
	}
	return list
}

// tenantsByName reads the tenants of names. allowed are the names that are admitted;
// nil: all.
func (r blockReader) tenantsByName(allowed []string) map[string]string {
	v, a, set := r.PublicValue("tenants", cty.Map(cty.String))
	if !set {
		return nil
	}
	tenants := map[string]string{}
	for name, e := range v.AsValueMap() {
		at := language.Locate(a.Expr, []language.Step{{Name: name}})
		if e.IsNull() {
			r.ErrorAt(at, "", "the tenant of %q is null", name)
			continue
		}
		tenants[name] = e.AsString()
		r.checkTenant(at, "tenants", e.AsString(), "")
		if allowed != nil && !slices.Contains(allowed, name) {
			r.ErrorAt(at, language.NearHint(name, allowed), "%q has a tenant but is not in \"names\"", name)
		}
	}
	return tenants
}

// clientsOf describes the clients with names.
func clientsOf(n authn.Names) (c AuthClients) {
	c.OpenSubjects = n.Allowed == nil
	tenant := func(name string) string {
		if t, listed := n.Tenants[name]; listed {
			return t
		}
		return n.Tenant
	}
	for _, name := range n.Allowed {
		c.Principals = append(c.Principals, authn.Principal{Subject: name, Tenant: tenant(name)})
	}
	if c.OpenSubjects {
		for name, t := range n.Tenants {
			c.Principals = append(c.Principals, authn.Principal{Subject: name, Tenant: t})
		}
		if n.Tenant != "" {
			c.Principals = append(c.Principals, authn.Principal{Tenant: n.Tenant})
		}
	}
	return c
}
