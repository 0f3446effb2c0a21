package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/policy"
)

const maxRules = 5000

var effects = map[string]policy.Effect{"deny": policy.Denies, "confirm": policy.Confirms, "allow": policy.Allows}

// isRule reports whether a block is a rule.
func isRule(block string) bool {
	_, is := effects[block]
	return is
}

// A policyDraft is the policy of one layer, or of the managed configuration.
type policyDraft struct {
	policy.Rules
	of      *scope
	skipped bool                 // parts are not known; see Options.Static
	heads   map[string]hcl.Range // of the rules, by place
}

// readPolicy reads the policy block of a scope, whose files together hold at most one. unset is
// the default of a block without one.
func readPolicy(of *scope, unset string) *policyDraft {
	d := &policyDraft{of: of, heads: map[string]hcl.Range{}}
	if of == nil {
		return d
	}
	before := of.ev.Skipped()
	if r, found := of.only(of.top["policy"]); found {
		d.Rules = d.policyRules(r, unset)
	}
	d.skipped = of.ev.Skipped() > before
	return d
}

func (d *policyDraft) policyRules(r blockReader, unset string) policy.Rules {
	var b policyBlock
	language.Decode(r.Reader, &b)
	if !r.IsSet("default") {
		b.Default = unset
	}
	p := policy.Rules{
		Given:   true,
		At:      source.StartOf(r.Head).String(),
		Default: effects[b.Default],
		Explain: b.Explain,
		Strict:  b.Strict,
		Zone:    b.zone,
	}
	if r.IsSet("default") {
		p.At = source.StartOf(r.Body.Attributes["default"].NameRange).String()
	}
	first := map[policy.Holder]hcl.Range{}
	roles := r.Labelled("role")
	for _, b := range roles {
		if !slices.Contains(p.Roles, b.Labels[0]) {
			p.Roles = append(p.Roles, b.Labels[0])
		}
	}
	d.rulesOf(r, &p, policy.Holder{})
	for _, kind := range []string{"role", "subject", "group"} {
		for _, b := range r.Labelled(kind) {
			one := r.nested(b)
			h := readHolder(one, kind)
			if at, both := first[h]; both {
				one.Duplicate(one.LabelAt, at, "%s %q", kind, h.Name)
				continue
			}
			first[h] = one.LabelAt
			if kind != "role" {
				p.Members = append(p.Members, policy.Membership{Holder: h, Roles: knownRoles(one.Reader, p.Roles),
					At: source.StartOf(one.Head).String()})
			}
			d.rulesOf(one, &p, h)
		}
	}
	if len(first) > policy.MaxHolders {
		r.ErrorAt(r.Head, "give the roles with the tokens",
			"a policy has at most %d roles, subjects and groups", policy.MaxHolders)
	}
	if len(p.Rules) > maxRules {
		r.ErrorAt(r.Head, "combine rules with * in their names", "a policy has at most %d rules", maxRules)
	}
	return p
}

// readHolder reads who a role, subject or group block is about.
func readHolder(r blockReader, kind string) policy.Holder {
	var of ofClients
	switch kind {
	case "role":
		var b roleBlock
		language.Decode(r.Reader, &b)
		of = b.ofClients
	case "subject":
		var b subjectBlock
		language.Decode(r.Reader, &b)
		of = b.ofClients
	case "group":
		var b groupBlock
		language.Decode(r.Reader, &b)
		of = b.ofClients
	}
	if r.Label == "" || len(r.Label) > inbound.MaxSubject || strings.ContainsFunc(r.Label, inbound.Unprintable) {
		r.ErrorAt(r.LabelAt, "", "a %s is 1 to %d bytes of text without control characters", kind, inbound.MaxSubject)
	}
	return policy.Holder{Kind: kind, Name: r.Label, Tenant: of.Tenant, Issuer: of.Issuer}
}

// knownRoles reads the roles of a subject or a group.
func knownRoles(r language.Reader, known []string) (roles []string) {
	for _, e := range r.Texts("roles") {
		if !slices.Contains(known, e.Text) {
			r.ErrorAt(e.At, language.DidYouMean(e.Text, known), "the policy has no role %q", e.Text)
			continue
		}
		roles = append(roles, e.Text)
	}
	return roles
}

// rulesOf reads the rules in a block.
func (d *policyDraft) rulesOf(r blockReader, p *policy.Rules, h policy.Holder) {
	for _, b := range r.Body.Blocks {
		if effect, ok := effects[b.Type]; ok {
			one := r.nested(b)
			rule := readRule(one, effect)
			rule.Holder = h
			if i := slices.IndexFunc(p.Rules,
				func(o policy.Rule) bool { return o.Name != "" && o.Name == rule.Name }); i >= 0 {
				one.ErrorAt(one.Body.Attributes["name"].Expr.Range(), "choose another name",
					"the rule at %s has the name %q already", p.Rules[i].At, rule.Name)
			}
			p.Rules = append(p.Rules, rule)
			d.heads[rule.At] = one.Head
		}
	}
}

// readRule reads an allow, deny or confirm block.
func readRule(r blockReader, effect policy.Effect) policy.Rule {
	var b confirmBlock
	if effect == policy.Confirms {
		language.Decode(r.Reader, &b)
	} else {
		language.Decode(r.Reader, &b.ruleBlock)
	}
	rule := policy.Rule{
		Effect:    effect,
		At:        source.StartOf(r.Head).String(),
		Servers:   b.Servers,
		Tools:     b.Tools,
		Resources: b.Resources,
		Prompts:   b.Prompts,
		When:      readCondition(r, "when"),
		Name:      b.Name,
		Reason:    b.ruleBlock.Reason,
	}
	switch b.Access {
	case "read":
		rule.Access = policy.Read
	case "write":
		rule.Access = policy.Write
	}
	if rule.When != nil && rule.When.UsesArguments() && (rule.Resources != nil || rule.Prompts != nil) {
		r.ErrorAt(r.ValueAt("when", r.Head),
			"only calls of tools have arguments; write a rule of its own for resources and prompts",
			"the condition looks at arguments, but the rule is not about tools only")
	}
	if effect == policy.Confirms {
		rule.Tightens = !b.Grants
		rule.Approval = policy.Approval{
			ByClient: b.ByClient,
			Four:     b.fourEyes(r.Reader, b.ByClient),
			Valid:    b.Valid,
			Wait:     b.Wait,
			Covers:   policy.Coverage(b.Covers),
		}
	}
	return rule
}

// check reports globs of servers that no server block has, and a policy that gives
// the command line nothing.
func (d *policyDraft) check(unknown bool, drafts []*draft) {
	blocks, p := d.of.top["policy"], d.Rules
	if unknown {
		p.Rules, p.Default = nil, policy.Allows // the checks below need all of it
	}
	for _, rule := range p.Rules {
		d.checkEffect(blocks, p, rule)
		if shadow := p.Shadow(rule); shadow != nil {
			d.of.open(blocks[0], "").WarnAt(d.heads[rule.At], "remove the rule, or make the other one narrower",
				"the rule has no effect: %s at %s decides about all of it", shadow.Effect, shadow.At)
		}
	}
	if p.Given && p.Default == policy.Denies &&
		!slices.ContainsFunc(p.Rules, func(r policy.Rule) bool { return grantsLocal(p, r) }) {
		d.of.open(blocks[0], "").WarnAt(blocks[0].TypeRange, `add subject "local" { allow { } } to allow it everything`,
			`the policy allows the command line and clients on standard input nothing: they are the subject "local"`)
	}
	var names []string
	for _, server := range drafts {
		names = append(names, server.Name)
	}
	for _, b := range blocks[:min(1, len(blocks))] {
		_ = hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
			if rule, ok := n.(*hclsyntax.Block); ok && isRule(rule.Type) {
				checkRuleNames(d.of.open(rule, language.TitleOf(b)), names, drafts)
			}
			return nil
		})
	}
}

// checkEffect warns of a rule that does less, or more, than its author may think.
func (d *policyDraft) checkEffect(blocks []*hclsyntax.Block, p policy.Rules, rule policy.Rule) {
	at := d.heads[rule.At]
	switch {
	case rule.Effect == policy.Allows && p.Default == policy.Allows:
		d.of.open(blocks[0], "").WarnAt(at, `write default = "deny" in the policy, or remove the rule`,
			"the rule has no effect: the default allows everything that no rule denies")
	case rule.Effect == policy.Confirms && rule.Holder == policy.Holder{} && p.Default == policy.Denies &&
		!saysGrants(blocks[0], at):
		d.of.open(blocks[0], "").WarnAt(at,
			"write grants = false to ask only those who may use it anyway, or grants = true if this is meant",
			"the rule gives to everyone, once a person agrees, what the default denies")
	}
}

// saysGrants reports whether the confirm block with a head has the attribute grants.
func saysGrants(in *hclsyntax.Block, head hcl.Range) bool {
	for _, b := range in.Body.Blocks {
		if b.TypeRange == head || b.TypeRange.Start == head.Start {
			return b.Body.Attributes["grants"] != nil
		}
	}
	return false
}

// grantsLocal reports whether a rule may allow the command line something. It has no
// credential: its roles are those of the block of its subject.
func grantsLocal(p policy.Rules, r policy.Rule) bool {
	mine := func(m policy.Membership) bool { return m.Holder.IsLocal() && slices.Contains(m.Roles, r.Holder.Name) }
	return r.Effect != policy.Denies && !r.Tightens &&
		(r.Holder == policy.Holder{} || r.Holder.IsLocal() ||
			r.Holder.Kind == "role" && slices.ContainsFunc(p.Members, mine))
}

// checkRuleNames warns of names in a rule that cannot be meant: servers that are not there, and
// tools with the name or the prefix of a server in front, as other places write them.
func checkRuleNames(r blockReader, names []string, drafts []*draft) {
	if r.of.ev.Files.HasErrors() {
		return // the attribute may be wrong; it was reported
	}
	for _, e := range r.Texts("servers") {
		if !slices.ContainsFunc(names, func(name string) bool { return Pattern{Glob: e.Text}.Match(name) }) {
			r.WarnAt(e.At, language.DidYouMean(e.Text, names), "no server matches %q", e.Text)
		}
	}
	for _, e := range r.Texts("tools") {
		for _, d := range drafts {
			tool, named := strings.CutPrefix(e.Text, d.Name+"/")
			if !named && d.Prefix != "" {
				tool, named = strings.CutPrefix(e.Text, d.Prefix+"__")
			}
			if named && tool != "" {
				r.WarnAt(e.At, fmt.Sprintf("write servers = [%q] and tools = [%q]", d.Name, tool),
					"a rule has the name that the server gives its tool, and %q has the server in front", e.Text)
				break
			}
		}
	}
}

// confirmedTools adds the rules of tools { confirm } in the server blocks. They ask everyone who
// may use the tool; they allow nothing.
func confirmedTools(p policy.Rules, servers []*Server) policy.Rules {
	for _, s := range servers {
		for _, c := range s.Tools.Confirm {
			if !p.Given {
				p.Given, p.Default, p.At = true, policy.Allows, c.At.String()
			}
			p.Rules = append(p.Rules, policy.Rule{
				Effect: policy.Confirms, Tightens: true, Servers: []string{s.Name},
				Tools: []string{c.Glob}, At: c.At.String(),
				Approval: policy.Approval{AtTerminal: true, Valid: language.Defaults[confirmBlock]().Valid,
					Covers: policy.CoversCall},
			})
		}
	}
	return p
}
