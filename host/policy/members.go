package policy

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
)

// MaxHolders bounds the roles, subjects and groups of a policy together.
const MaxHolders = 2048

// A holderSet is a set of holders, by their numbers.
type holderSet [MaxHolders / 64]uint64

func (s *holderSet) add(n int)      { s[n/64] |= 1 << (n % 64) }
func (s *holderSet) has(n int) bool { return s[n/64]&(1<<(n%64)) != 0 }

// members says which holders a principal is. It is immutable after newMembers.
type members struct {
	numbers  map[Holder]int
	roles    map[string][]roleBlock
	subjects map[string][]membership
	groups   map[string][]membership
}

// A roleBlock is a role block for holders of a role: all of them, or those of its tenant and
// issuer.
type roleBlock struct {
	holder Holder
	number int
}

// A membership is what a subject or a group makes a principal.
type membership struct {
	named, holder Holder // as written, and with what the name of the local user reserves
	self          int
	roles         []string
}

// newMembers numbers the roles, subjects and groups of a policy.
func newMembers(r Rules) members {
	m := members{numbers: map[Holder]int{}, roles: map[string][]roleBlock{}, subjects: map[string][]membership{},
		groups: map[string][]membership{}}
	number := func(h Holder) int {
		if _, known := m.numbers[h]; !known {
			m.numbers[h] = len(m.numbers)
			if h.Kind == "role" {
				m.roles[h.Name] = append(m.roles[h.Name], roleBlock{h, m.numbers[h]})
			}
		}
		return m.numbers[h]
	}
	for _, role := range r.Roles {
		number(Holder{Kind: "role", Name: role})
	}
	for _, one := range r.Rules {
		if one.Holder.Kind == "role" {
			number(one.Holder)
		}
	}
	for _, one := range r.Members {
		entry := membership{named: one.Holder, holder: one.Holder.reserved(), self: number(one.Holder),
			roles: one.Roles}
		of := m.subjects
		if one.Holder.Kind == "group" {
			of = m.groups
		}
		of[one.Holder.Name] = append(of[one.Holder.Name], entry)
	}
	return m
}

// reserved returns the holder with the tenant of the local user, if it is that user: a
// credential with the subject "local" is another subject.
func (h Holder) reserved() Holder {
	if h.Kind == "subject" && h.Name == authn.Local().Subject && h.Tenant == "" {
		h.Tenant = authn.LocalTenant
	}
	return h
}

// IsLocal reports whether a holder is the user who runs Junctor.
func (h Holder) IsLocal() bool {
	return h.reserved() == Holder{Kind: "subject", Name: authn.Local().Subject, Tenant: authn.LocalTenant}
}

// rolesOf returns the roles of a principal: those of its credential, and those that the
// policy gives to it as a subject and by its groups.
func (m *members) rolesOf(p *authn.Principal) []string {
	all := p.Roles[:len(p.Roles):len(p.Roles)]
	m.each(p, func(one membership) {
		for _, name := range one.roles {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	})
	return all
}

// number returns the number of a holder, or -1 for everyone.
func (m *members) number(h Holder) int {
	if h == (Holder{}) {
		return -1
	}
	return m.numbers[h]
}

// of returns the holders that a principal is: by the roles of its credential, as a
// subject, and by its groups.
func (m *members) of(p *authn.Principal, into *holderSet) {
	add := func(role string) {
		for _, one := range m.roles[role] {
			if one.holder.admits(p) {
				into.add(one.number)
			}
		}
	}
	for _, role := range p.Roles {
		add(role)
	}
	m.each(p, func(one membership) {
		into.add(one.self)
		for _, role := range one.roles {
			add(role)
		}
	})
}

// each calls use with the memberships of a principal.
func (m *members) each(p *authn.Principal, use func(membership)) {
	for _, one := range m.subjects[p.Subject] {
		if one.holder.admits(p) {
			use(one)
		}
	}
	for _, g := range p.Groups {
		for _, one := range m.groups[g] {
			if one.holder.admits(p) {
				use(one)
			}
		}
	}
}

// AnyIssuer as the issuer of a holder says that all issuers are meant.
const AnyIssuer = "*"

// NamedBy reports whether the credential of a principal makes it a subject or a member of a
// group, without the memberships of a policy.
func (h Holder) NamedBy(p *authn.Principal) bool {
	switch h.Kind {
	case "subject":
		return h.Name == p.Subject && h.admits(p)
	case "group":
		return slices.Contains(p.Groups, h.Name) && h.admits(p)
	}
	return false
}

// admits reports whether a principal is of the tenant and the issuer of a holder. Clients
// that no issuer of tokens vouches for have the kind of their credential in its place.
func (h Holder) admits(p *authn.Principal) bool {
	if h.Tenant != "" && h.Tenant != p.Tenant {
		return false
	}
	if method, vouched := h.Credential(); !vouched {
		return method == "" || p.Issuer == "" && p.Method == method
	}
	return p.Issuer == h.Issuer
}

// Credential reports whether the issuer of tokens that Issuer names vouches for the holder. If
// not, it returns the kind of its credential, which is empty for any.
func (h Holder) Credential() (method string, vouched bool) {
	switch h.Issuer {
	case "", AnyIssuer:
		return "", false
	case "static_token", "certificate", "forwarded", Relayed:
		return h.Issuer, false
	}
	return "", true
}
