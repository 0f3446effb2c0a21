package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A vouch is what an auth block lets an issuer, or the holder of another credential, say
// about its clients.
type vouch struct {
	issuer   string
	names    bool     // its clients have subjects
	subjects []string // that it may name; nil: all
	groups   bool     // puts clients into groups
	roles    bool     // gives clients roles
}

// vouches returns what the auth blocks of the gateway let issuers say, one for each issuer.
func vouches(h HTTP) (all []vouch) {
	for _, a := range h.Auth {
		var v vouch
		switch s := a.Settings.(type) {
		case JWT:
			v = vouch{issuer: s.Issuer, names: true, subjects: s.Subjects, groups: s.Claims.Groups != "", roles: s.Claims.Roles != ""}
		case ForwardedUser:
			v = vouch{issuer: a.Kind, names: true, subjects: s.Names.Allowed, groups: s.Groups != ""}
		case ClientCertificate:
			v = vouch{issuer: a.Kind, names: true, subjects: s.Names.Allowed}
		case StaticToken:
			v = vouch{issuer: a.Kind, names: true, subjects: []string{s.Subject}}
		default:
			continue
		}
		if i := slices.IndexFunc(all, func(o vouch) bool { return o.issuer == v.issuer }); i >= 0 {
			all[i] = all[i].with(v)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// with returns what two blocks of one issuer let it say.
func (v vouch) with(o vouch) vouch {
	v.groups, v.roles = v.groups || o.groups, v.roles || o.roles
	if v.subjects == nil || o.subjects == nil {
		v.subjects = nil
	} else {
		v.subjects = slices.Concat(v.subjects, o.subjects)
	}
	return v
}

// can reports whether the issuer can make a client a holder of a kind and name.
func (v vouch) can(kind, name string) bool {
	switch kind {
	case "group":
		return v.groups
	case "role":
		return v.roles
	}
	return v.names && (v.subjects == nil || slices.Contains(v.subjects, name))
}

// checkIssuers reports the role, subject and group blocks that give rights to clients of
// several issuers without saying so: each issuer chooses its names alone, and would give the
// rights of the others.
func checkIssuers(of *scope, h HTTP) {
	all := vouches(h)
	for _, policy := range of.top["policy"][:min(1, len(of.top["policy"]))] {
		r := of.open(policy, "")
		for _, b := range policy.Body.Blocks {
			if !slices.Contains([]string{"role", "subject", "group"}, b.Type) || len(b.Labels) != 1 || b.Body.Attributes["issuer"] != nil || !gives(b) {
				continue
			}
			if b.Type == "subject" && b.Labels[0] == authn.Local().Subject && b.Body.Attributes["tenant"] == nil {
				continue // reserved
			}
			can := vouchers(all, b.Type, b.Labels[0])
			if len(can) > 1 {
				r.ErrorAt(b.LabelRanges[0], issuerHint,
					"the %s %q gives rights, and each of %s can name it", b.Type, b.Labels[0], strings.Join(can, ", "))
			}
		}
	}
}

// gives reports whether a role, subject or group block gives something.
func gives(b *hclsyntax.Block) bool {
	return b.Body.Attributes["roles"] != nil || slices.ContainsFunc(b.Body.Blocks, func(rule *hclsyntax.Block) bool { return rule.Type != "deny" })
}
