package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/policy"
)

const (
	mostRules       = 5000
	defaultApproval = 5 * time.Minute
	longestApproval = 24 * time.Hour
	longestHold     = 10 * time.Minute
)

var (
	ruleBlocks = map[string]shape{
		"allow":   {many: true, inner: &ruleForm, doc: "A rule that allows: about everyone, or about the holders of the block around it."},
		"deny":    {many: true, inner: &ruleForm, doc: "A rule that denies: about everyone, or about the holders of the block around it."},
		"confirm": {many: true, inner: &confirmForm, doc: "A rule that lets a person approve each use: about everyone, or about the holders of the block around it."},
	}
	policyForm = form{
		entries: []entry{
			{name: "default", values: words("deny", "allow"), unset: "`\"deny\"`", doc: "What counts for uses that no rule is about."},
			{name: "mode", values: words("hide", "explain"), unset: "`\"hide\"`", doc: "`hide`: what is denied looks as if it did not exist; `explain`: clients are told."},
			{name: "ambiguous", values: words("write", "deny"), unset: "`\"write\"`",
				doc: "A tool that is neither read nor write counts as `write`, or is denied by the default and by each `deny` rule with `access`."},
			{name: "time_zone", values: texts("a name such as `\"Europe/Berlin\"`"), unset: "the machine's", doc: "The time zone of `request.hour` and `request.weekday`."},
		},
		blocks: map[string]shape{
			"role":    {labels: 1, many: true, inner: &roleForm, doc: "Rules for those who have the role."},
			"subject": {labels: 1, many: true, inner: &subjectForm, doc: "Roles and rules for one subject. The command line and clients on standard input are the subject `local`."},
			"group":   {labels: 1, many: true, inner: &groupForm, doc: "Roles and rules for those whose credential has the group."},
			"allow":   ruleBlocks["allow"], "deny": ruleBlocks["deny"], "confirm": ruleBlocks["confirm"],
		},
	}
	memberEntry = entry{name: "roles", values: textLists("a list of roles"), unset: "none", doc: "Roles of this policy that the holders have.", refers: refersRole}
	ofEntries   = []entry{
		{name: "tenant", values: texts("a tenant"), unset: "all", doc: "Only those of this tenant."},
		{name: "issuer", values: texts("an issuer"), unset: "all", doc: "Only those with a token of this issuer, or with another credential, by the kind of its `auth` block, such as `forwarded`. Required to give rights where several issuers could; `\"*\"` means all of them."},
	}
	roleForm    = form{entries: ofEntries, blocks: ruleBlocks}
	groupForm   = form{entries: append([]entry{memberEntry}, ofEntries...), blocks: ruleBlocks}
	subjectForm = groupForm
	ruleForm    = form{entries: []entry{
		{name: "servers", values: textLists("a list of globs"), unset: "all", doc: "Labels of servers.", refers: refersServer},
		{name: "tools", values: textLists("a list of globs"), unset: "all, if no kind is named", doc: "The server's own names of tools."},
		{name: "resources", values: textLists("a list of globs"), unset: "all, if no kind is named", doc: "URIs of resources."},
		{name: "prompts", values: textLists("a list of globs"), unset: "all, if no kind is named", doc: "The server's own names of prompts."},
		{name: "access", values: words("any", "read", "write"), unset: "`\"any\"`", doc: "Only tools that read, or only tools that write."},
		{name: "when", values: conditions, unset: "always", doc: "A [condition](#conditions) on arguments, the principal and the request."},
		{name: "name", values: texts("a text"), unset: "none", doc: "A name of the rule for `why`, the audit log, spans and notices. It stays when the rule moves in the file."},
		{name: "reason", values: texts("a text"), unset: "none", doc: "What a person is told whom the rule denies something, with `mode = \"explain\"`."},
	}}
	confirmForm = form{entries: slices.Concat([]entry{
		{name: "by", values: words("approver", "client"), unset: "`\"approver\"`", doc: "`approver`: another person, with `junctor approvals`. `client`: the person at the client, in an elicitation or a question of `junctor call` on a terminal. A client that cannot ask falls back to `junctor approvals`."},
		{name: "wait", values: durations(longestHold), unset: "none", doc: "How long the call waits before it fails."},
		{name: "valid", values: durations(longestApproval), unset: codeText(shortDuration(defaultApproval)), doc: "How long an approval or a denial holds."},
		{name: "covers", values: words("call", "tool", "server"), unset: "`\"call\"`", doc: "What one approval is for: this call once; all calls of the tool; or the whole server, until `valid` is over."},
		{name: "grants", values: booleans, unset: "`true`", doc: "`false`: the rule asks those who may use the item anyway, and allows nothing."},
	}, fourEyesEntries, ruleForm.entries), blocks: map[string]shape{
		"approver": {many: true, inner: &approverForm, doc: "People who may approve, instead of the user who runs Junctor and the admins of the console. They sign in to the [console](console.md), where they see the calls that they may answer."},
	}}
)

var effects = map[string]policy.Effect{"deny": policy.Denies, "confirm": policy.Confirms, "allow": policy.Allows}

// policy reads the policy block. All files together hold at most one. unset is the default
// of a block that does not say.
func (l *loader) policy(blocks []*hclsyntax.Block, unset string) (p policy.Rules) {
	for i, b := range blocks {
		r := l.openBlock(b, "")
		if i > 0 {
			r.duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		r.check(policyForm)
		p = r.policyRules(unset)
	}
	return p
}

func (r blockReader) policyRules(unset string) policy.Rules {
	other := map[string]string{"deny": "allow", "allow": "deny"}[unset]
	p := policy.Rules{
		Given: true, At: startOf(r.head).String(), Default: effects[r.choice("default", unset, other)],
		Explain: r.choice("mode", "hide", "explain") == "explain", Strict: r.choice("ambiguous", "write", "deny") == "deny",
	}
	if r.isSet("default") {
		p.At = startOf(r.body.Attributes["default"].NameRange).String()
	}
	p.Zone = r.zone()
	first := map[policy.Holder]hcl.Range{}
	roles := r.labelledBlocks("role")
	for _, b := range roles {
		if !slices.Contains(p.Roles, b.Labels[0]) {
			p.Roles = append(p.Roles, b.Labels[0])
		}
	}
	r.rulesOf(&p, policy.Holder{})
	for _, kind := range []string{"role", "subject", "group"} {
		for _, b := range r.labelledBlocks(kind) {
			one := r.nested(b)
			h := one.holder(kind)
			if at, both := first[h]; both {
				one.duplicate(one.labelAt, at, "%s %q", kind, h.Name)
				continue
			}
			first[h] = one.labelAt
			if kind != "role" {
				p.Members = append(p.Members, policy.Membership{Holder: h, Roles: one.knownRoles(p.Roles), At: startOf(one.head).String()})
			}
			one.rulesOf(&p, h)
		}
	}
	if len(first) > policy.MaxHolders {
		r.errorAt(r.head, "give the roles with the tokens", "a policy has at most %d roles, subjects and groups", policy.MaxHolders)
	}
	if len(p.Rules) > mostRules {
		r.errorAt(r.head, "combine rules with * in their names", "a policy has at most %d rules", mostRules)
	}
	return p
}

// zone reads the time zone of hour and weekday; nil: that of the machine.
func (r blockReader) zone() *time.Location {
	name, a, set := r.publicString("time_zone")
	if !set {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		r.errorAt(a.Expr.Range(), `write a name such as "UTC" or "Europe/Berlin"`, "this machine knows no time zone %q", name)
		return nil
	}
	return zone
}

// holder reads who a role, subject or group block is about.
func (r blockReader) holder(kind string) policy.Holder {
	r.check(*map[string]*form{"role": &roleForm, "group": &groupForm, "subject": &subjectForm}[kind])
	h := policy.Holder{Kind: kind, Name: r.label}
	if text, _, set := r.publicString("tenant"); set {
		h.Tenant = text
	}
	if text, _, set := r.publicString("issuer"); set {
		h.Issuer = text
	}
	if r.label == "" || len(r.label) > maxSubject || strings.ContainsFunc(r.label, unprintable) {
		r.errorAt(r.labelAt, "", "a %s is 1 to %d bytes of text without control characters", kind, maxSubject)
	}
	return h
}

// knownRoles reads the roles of a subject or a group.
func (r blockReader) knownRoles(known []string) (roles []string) {
	for _, e := range r.publicStrings("roles") {
		if !slices.Contains(known, e.text) {
			r.errorAt(e.at, didYouMean(e.text, known), "the policy has no role %q", e.text)
			continue
		}
		roles = append(roles, e.text)
	}
	return roles
}

// rulesOf reads the rules in a block.
func (r blockReader) rulesOf(p *policy.Rules, h policy.Holder) {
	for _, b := range r.body.Blocks {
		if effect, ok := effects[b.Type]; ok {
			one := r.nested(b)
			rule := one.rule(effect)
			rule.Holder = h
			if i := slices.IndexFunc(p.Rules, func(o policy.Rule) bool { return o.Name != "" && o.Name == rule.Name }); i >= 0 {
				one.errorAt(one.body.Attributes["name"].Expr.Range(), "choose another name", "the rule at %s has the name %q already", p.Rules[i].At, rule.Name)
			}
			p.Rules = append(p.Rules, rule)
			r.ruleHeads[rule.At] = one.head
		}
	}
}

// rule reads an allow, deny or confirm block.
func (r blockReader) rule(effect policy.Effect) policy.Rule {
	if effect == policy.Confirms {
		r.check(confirmForm)
	} else {
		r.check(ruleForm)
	}
	rule := policy.Rule{
		Effect: effect, At: startOf(r.head).String(),
		Servers: r.namePatterns("servers"), Tools: r.namePatterns("tools"), Resources: r.namePatterns("resources"), Prompts: r.namePatterns("prompts"),
		When: r.condition("when"), Name: r.ruleText("name", mostRuleName), Reason: r.ruleText("reason", mostReason),
	}
	switch r.choice("access", "any", "read", "write") {
	case "read":
		rule.Access = policy.Read
	case "write":
		rule.Access = policy.Write
	}
	if rule.When != nil && rule.When.UsesArguments() && (rule.Resources != nil || rule.Prompts != nil) {
		r.errorAt(r.body.Attributes["when"].Expr.Range(), "only calls of tools have arguments; write a rule of its own for resources and prompts", "the condition looks at arguments, but the rule is not about tools only")
	}
	if effect == policy.Confirms {
		rule.Tightens = !r.boolean("grants", true)
		byClient := r.choice("by", "approver", "client") == "client"
		rule.Approval = policy.Approval{
			ByClient: byClient, Four: readFourEyes(r, byClient),
			Valid:  r.duration("valid", defaultApproval, longestApproval),
			Wait:   r.duration("wait", 0, longestHold),
			Covers: policy.Coverage(r.choice("covers", "call", "tool", "server")),
		}
	}
	return rule
}

const (
	mostRuleName = 64  // bytes
	mostReason   = 300 // bytes
)

// ruleText reads the name or the reason of a rule.
func (r blockReader) ruleText(attribute string, most int) string {
	text, a, set := r.publicString(attribute)
	if set && (text == "" || len(text) > most || strings.ContainsFunc(text, unprintable)) {
		r.errorAt(a.Expr.Range(), "", "the %s of a rule is 1 to %d bytes of text without control characters", attribute, most)
	}
	return text
}

// namePatterns reads globs. It returns nil if the attribute is not set.
func (r blockReader) namePatterns(name string) []string {
	items := r.globs(name)
	if items == nil {
		return nil
	}
	all := []string{}
	for _, e := range items {
		all = append(all, e.text)
	}
	if len(items) == 0 {
		r.errorAt(r.body.Attributes[name].Expr.Range(), "omit the attribute, or write the names", "%q is empty, so the rule is about nothing", name)
	}
	return all
}

// checkPolicy reports globs of servers that no server block has, and a policy that gives
// the command line nothing.
func (l *loader) checkPolicy(blocks []*hclsyntax.Block, p policy.Rules, drafts []*draft) {
	if l.policySkipped {
		p.Rules, p.Default = nil, policy.Allows // the checks below need all of it
	}
	for _, rule := range p.Rules {
		l.checkEffect(blocks, p, rule)
		if shadow := p.Shadow(rule); shadow != nil {
			l.openBlock(blocks[0], "").warnAt(l.ruleHeads[rule.At], "remove the rule, or make the other one narrower", "the rule has no effect: %s at %s decides about all of it", shadow.Effect, shadow.At)
		}
	}
	if p.Given && p.Default == policy.Denies && !slices.ContainsFunc(p.Rules, func(r policy.Rule) bool { return grantsLocal(p, r) }) {
		l.openBlock(blocks[0], "").warnAt(blocks[0].TypeRange, `add subject "local" { allow { } } to allow it everything`,
			`the policy allows the command line and clients on standard input nothing: they are the subject "local"`)
	}
	var names []string
	for _, d := range drafts {
		names = append(names, d.Name)
	}
	for _, b := range blocks[:min(1, len(blocks))] {
		_ = hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
			if rule, ok := n.(*hclsyntax.Block); ok && ruleBlocks[rule.Type].many {
				l.openBlock(rule, titleOf(b)).checkNames(names, drafts)
			}
			return nil
		})
	}
}

// checkEffect warns of a rule that does less, or more, than its author may think.
func (l *loader) checkEffect(blocks []*hclsyntax.Block, p policy.Rules, rule policy.Rule) {
	at := l.ruleHeads[rule.At]
	switch {
	case rule.Effect == policy.Allows && p.Default == policy.Allows:
		l.openBlock(blocks[0], "").warnAt(at, `write default = "deny" in the policy, or remove the rule`, "the rule has no effect: the default allows everything that no rule denies")
	case rule.Effect == policy.Confirms && rule.Holder == policy.Holder{} && p.Default == policy.Denies && !l.saysGrants(blocks[0], at):
		l.openBlock(blocks[0], "").warnAt(at, "write grants = false to ask only those who may use it anyway, or grants = true if this is meant",
			"the rule gives to everyone, once a person agrees, what the default denies")
	}
}

// saysGrants reports whether the confirm block with a head has the attribute grants.
func (l *loader) saysGrants(in *hclsyntax.Block, head hcl.Range) bool {
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
		(r.Holder == policy.Holder{} || r.Holder.IsLocal() || r.Holder.Kind == "role" && slices.ContainsFunc(p.Members, mine))
}

// checkNames warns of names in a rule that cannot be meant: servers that are not there, and
// tools with the name or the prefix of a server in front, as other places write them.
func (r blockReader) checkNames(names []string, drafts []*draft) {
	if len(r.problems) > 0 && slices.ContainsFunc(r.problems, func(p problem) bool { return p.severity != Warning }) {
		return // the attribute may be wrong; it was reported
	}
	for _, e := range r.publicStrings("servers") {
		if !slices.ContainsFunc(names, func(name string) bool { return Pattern{Glob: e.text}.Match(name) }) {
			r.warnAt(e.at, didYouMean(e.text, names), "no server matches %q", e.text)
		}
	}
	for _, e := range r.publicStrings("tools") {
		for _, d := range drafts {
			tool, named := strings.CutPrefix(e.text, d.Name+"/")
			if !named && d.Prefix != "" {
				tool, named = strings.CutPrefix(e.text, d.Prefix+"__")
			}
			if named && tool != "" {
				r.warnAt(e.at, fmt.Sprintf("write servers = [%q] and tools = [%q]", d.Name, tool),
					"a rule has the name that the server gives its tool, and %q has the server in front", e.text)
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
				Effect: policy.Confirms, Tightens: true, Servers: []string{s.Name}, Tools: []string{c.Glob}, At: c.At.String(),
				Approval: policy.Approval{AtTerminal: true, Valid: defaultApproval, Covers: policy.CoversCall},
			})
		}
	}
	return p
}
