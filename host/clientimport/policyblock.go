package clientimport

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// A rule is an allow, deny or confirm block.
type rule struct {
	clientconfig.Rule
	when string
}

// A holder is a role or subject block, or the policy itself if kind is empty.
type holder struct{ kind, name string }

// A policyBlock is a policy block. The zero value denies everything. A policyConverter fills it
// and writes it once.
type policyBlock struct {
	allow, strict bool
	order         []holder
	roles         map[holder][]string // of subjects
	rules         map[holder][]rule
	count         int
}

// declare adds a block for a holder, if there is none.
func (p *policyBlock) declare(h holder) {
	if p.rules == nil {
		p.roles, p.rules = map[holder][]string{}, map[holder][]rule{}
	}
	if h.kind != "" && !slices.Contains(p.order, h) {
		p.order = append(p.order, h)
	}
}

func (p *policyBlock) add(h holder, r rule) {
	p.declare(h)
	p.rules[h] = append(p.rules[h], r)
	p.count++
}

// byAccess reports whether a rule allows reading or writing only.
func (p *policyBlock) byAccess() bool {
	return p.some(func(_ holder, r rule) bool { return r.Effect == clientconfig.Allow && r.Access != "" })
}

// grantsLocal reports whether a rule opens something to the command line.
func (p *policyBlock) grantsLocal() bool {
	subject := holder{"subject", local}
	return p.some(func(h holder, r rule) bool {
		has := h == (holder{}) || h == subject || h.kind == "role" && slices.Contains(p.roles[subject], h.name)
		return has && r.Effect != clientconfig.Deny
	})
}

// some reports whether one of the rules is of a kind.
func (p *policyBlock) some(is func(holder, rule) bool) bool {
	for h, rules := range p.rules {
		if slices.ContainsFunc(rules, func(r rule) bool { return is(h, r) }) {
			return true
		}
	}
	return false
}

// write returns the block.
func (p *policyBlock) write() []byte {
	var t blockText
	t.line("policy {")
	if p.allow {
		t.line(`default = "allow"`)
	} else {
		t.line(`default = "deny"`)
	}
	if p.strict {
		t.line(`ambiguous = "deny"`)
	}
	t.ruleBlocks(p.rules[holder{}])
	for _, kind := range []string{"role", "subject"} {
		for _, h := range p.order {
			if h.kind != kind {
				continue
			}
			t.line("\n%s %s {", kind, quote(h.name))
			t.listed("roles", p.roles[h])
			t.ruleBlocks(p.rules[h])
			t.line("}")
		}
	}
	t.line("}")
	return hclwrite.Format([]byte(t.String()))
}
