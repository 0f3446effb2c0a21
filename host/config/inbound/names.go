package inbound

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

// roleNames are the roles of clients.
type roleNames struct {
	Roles []string `hcl:"roles" accepts:"a list of roles" unset:"none" refers:"role" doc:"Roles of the clients, for the [policy](permissions.md) and for 'limits { tool }'. A role that neither names is a warning."`
}

// checkTenant reports a name that no tenant can have, in an attribute with one.
func checkTenant(r language.Reader, attribute, name string) {
	if r.IsRead(attribute) {
		checkTenantAt(r, r.ValueAt(attribute, r.Head), attribute, name, defaultTenantHint)
	}
}

// checkTenantAt reports a name that no tenant can have.
func checkTenantAt(r language.Reader, at hcl.Range, attribute, name, hint string) {
	if err := authn.CheckTenant(name); err != nil {
		r.ErrorAt(at, hint, "%q %v", attribute, err)
	}
	if name == authn.LocalTenant {
		r.WarnAt(at, "choose another name, unless the clients are programs of your own",
			`the tenant %q is that of the user who runs Junctor, so these clients use the logins of that user at servers with share = "tenant"`,
			name)
	}
}

// A RoleUse says what the roles of clients are for.
type RoleUse struct {
	Policy bool     // there is a policy
	Roles  []string // that policies and limits name
}

// valid checks the roles of the clients of a block, and returns the valid ones.
func (u RoleUse) valid(r language.Reader, all []string) (roles []string) {
	for i, role := range all {
		at := r.ItemAt("roles", i)
		u.warn(r, at, role)
		if role == "" || len(role) > maxRole || strings.ContainsFunc(role, Unprintable) {
			r.ErrorAt(at, "", "a role must be 1 to %d bytes of text without control characters", maxRole)
			continue
		}
		roles = append(roles, role)
	}
	return roles
}

// warn reports a role that gives its clients nothing.
func (u RoleUse) warn(r language.Reader, at hcl.Range, role string) {
	switch {
	case slices.Contains(u.Roles, role):
	case !u.Policy:
		r.WarnAt(at, "without a policy block, clients may use everything that is offered",
			"no policy and no limit uses the role %q", role)
	default:
		r.WarnAt(at, language.DidYouMean(role, u.Roles), "the policy has no role %q", role)
	}
}

// warnClaim reports a claim with roles if there is nothing that has roles.
func (u RoleUse) warnClaim(r language.Reader) {
	if !u.Policy && len(u.Roles) == 0 {
		r.WarnAt(r.Body.Attributes["roles"].NameRange,
			"without a policy block, clients may use everything that is offered", "no policy and no limit uses roles")
	}
}

// admittedNames are the attributes about which names are admitted, and their tenants and roles.
type admittedNames struct {
	Names   clientNames `hcl:"names" accepts:"a list of subjects" unset:"all" doc:"The subjects that are admitted."`
	Tenants nameTenants `hcl:"tenants" accepts:"'{ \"SUBJECT\" = \"TENANT\" }'" unset:"none" doc:"The tenants of subjects. Other subjects are refused unless 'tenant' is set."`
	Tenant  string      `hcl:"tenant" default:"default" unset:"'\"default\"', without 'tenants'" accepts:"'a-z', '0-9', '_' and '-', at most 64, with a letter or digit at both ends" doc:"The tenant of other subjects."`
	roleNames
}

// Validate implements [language.Validator].
func (n *admittedNames) Validate(r language.Reader) {
	checkTenant(r, "tenant", n.Tenant)
	if n.Tenants != nil && !r.IsSet("tenant") {
		n.Tenant = ""
	}
	for name, tenant := range n.Tenants {
		at := r.MemberAt("tenants", name)
		checkTenantAt(r, at, "tenants", tenant, "")
		if n.Names != nil && !slices.Contains(n.Names, name) {
			r.ErrorAt(at, language.NearHint(name, n.Names), "%q has a tenant but is not in \"names\"", name)
		}
	}
}

// admitNames returns which names are admitted, and their tenants and roles.
func (u RoleUse) admitNames(r language.Reader, n admittedNames) authn.Names {
	return authn.Names{Allowed: n.Names, Tenants: n.Tenants, Tenant: n.Tenant, Roles: u.valid(r, n.Roles)}
}

// clientNames are names that are admitted; nil: all.
type clientNames []string

// ReadSetting implements [language.Setting].
func (l *clientNames) ReadSetting(r language.Reader, name string) { *l = ReadNames(r, name) }

// nameTenants are the tenants of names.
type nameTenants map[string]string

// ReadSetting implements [language.Setting].
func (m *nameTenants) ReadSetting(r language.Reader, name string) {
	v, a, set := r.PublicValue(name, cty.Map(cty.String))
	if !set {
		return
	}
	*m = nameTenants{}
	for subject, e := range v.AsValueMap() {
		if e.IsNull() {
			at := language.Locate(a.Expr, []language.Step{{Name: subject}})
			r.ErrorAt(at, "", "the tenant of %q is null", subject)
			continue
		}
		(*m)[subject] = e.AsString()
	}
}

// ReadNames reads the names that are admitted. It returns nil if the attribute is not set.
func ReadNames(r language.Reader, attribute string) []string {
	items := r.Texts(attribute)
	if items == nil {
		return nil
	}
	list := []string{}
	for _, e := range items {
		if e.Text == "" || len(e.Text) > MaxSubject || strings.ContainsFunc(e.Text, Unprintable) {
			r.ErrorAt(e.At, "", "a name must be 1 to %d bytes of text without control characters", MaxSubject)
		}
		if slices.Contains(list, e.Text) {
			r.ErrorAt(e.At, "", "the name %q appears twice", e.Text)
		}
		list = append(list, e.Text)
	}
	if len(items) == 0 {
		r.ErrorAt(r.Body.Attributes[attribute].Expr.Range(),
			"list the names, or omit the attribute to admit every name", "%q is empty, so no client is admitted",
			attribute)
	}
	return list
}

// clientsOf describes the clients with names.
func clientsOf(n authn.Names) (c Clients) {
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
