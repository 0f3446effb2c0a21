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

// members says which holders a principal is.
type members struct {
	numbers  map[Holder]int
	roles    map[string]int
	subjects map[string][]membership
	groups   map[string][]membership
}

// A membership is what a subject or a group makes a principal.
type membership struct {
	holder Holder
	self   int
	roles  []int
	names  []string // of the roles
}

// newMembers numbers the roles, subjects and groups of a policy.
func newMembers(r Rules) members {
	m := members{numbers: map[Holder]int{}, roles: map[string]int{}, subjects: map[string][]membership{}, groups: map[string][]membership{}}
	number := func(h Holder) int {
		if _, known := m.numbers[h]; !known {
			m.numbers[h] = len(m.numbers)
		}
		return m.numbers[h]
	}
	for _, role := range r.Roles {
		m.roles[role] = number(Holder{Kind: "role", Name: role})
	}
	for _, one := range r.Members {
		entry := membership{holder: one.Holder.reserved(), self: number(one.Holder)}
		for _, role := range one.Roles {
			entry.roles, entry.names = append(entry.roles, m.roles[role]), append(entry.names, role)
		}
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
		for _, name := range one.names {
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
	for _, role := range p.Roles {
		if n, ok := m.roles[role]; ok {
			into.add(n)
		}
	}
	m.each(p, func(one membership) {
		into.add(one.self)
		for _, n := range one.roles {
			into.add(n)
		}
	})
}

// each calls use with the memberships of a principal.
func (m *members) each(p *authn.Principal, use func(membership)) {
	for _, one := range m.subjects[p.Subject] {
		if (one.holder.Tenant == "" || one.holder.Tenant == p.Tenant) && (one.holder.Issuer == "" || one.holder.Issuer == p.Issuer) {
			use(one)
		}
	}
	for _, g := range p.Groups {
		for _, one := range m.groups[g] {
			use(one)
		}
	}
}
