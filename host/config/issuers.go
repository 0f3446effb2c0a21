package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/inbound"
)

// checkIssuers reports the role, subject and group blocks that give rights to clients of
// several issuers without saying so: each issuer chooses its names alone, and would give the
// rights of the others.
func checkIssuers(of *scope, h HTTP) {
	all := inbound.Vouches(h.Auth)
	for _, policy := range of.top["policy"][:min(1, len(of.top["policy"]))] {
		r := of.open(policy, "")
		for _, b := range policy.Body.Blocks {
			if !slices.Contains([]string{"role", "subject", "group"}, b.Type) || len(b.Labels) != 1 || b.Body.Attributes["issuer"] != nil || !gives(b) {
				continue
			}
			if b.Type == "subject" && b.Labels[0] == authn.Local().Subject && b.Body.Attributes["tenant"] == nil {
				continue // reserved
			}
			can := inbound.Vouchers(all, b.Type, b.Labels[0])
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
