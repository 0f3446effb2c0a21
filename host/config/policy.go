package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/policy"
)

const (
	mostRules       = 5000
	defaultApproval = 5 * time.Minute
	longestApproval = 24 * time.Hour
	longestHold     = 10 * time.Minute
)

var (
	ruleBlocks = map[string]language.Shape{
		"allow":   {Many: true, Body: &ruleForm, Doc: "A rule that allows: about everyone, or about the holders of the block around it."},
		"deny":    {Many: true, Body: &ruleForm, Doc: "A rule that denies: about everyone, or about the holders of the block around it."},
		"confirm": {Many: true, Body: &confirmForm, Doc: "A rule that lets a person approve each use: about everyone, or about the holders of the block around it."},
	}
	policyForm = language.Form{
		Entries: []language.Entry{
			{Name: "default", Values: language.Words("deny", "allow"), Unset: "`\"deny\"`", Doc: "What counts for uses that no rule is about."},
			{Name: "mode", Values: language.Words("hide", "explain"), Unset: "`\"hide\"`", Doc: "`hide`: what is denied looks as if it did not exist; `explain`: clients are told."},
			{Name: "ambiguous", Values: language.Words("write", "deny"), Unset: "`\"write\"`",
				Doc: "A tool that is neither read nor write counts as `write`, or is denied by the default and by each `deny` rule with `access`."},
			{Name: "time_zone", Values: language.Texts("a name such as `\"Europe/Berlin\"`"), Unset: "the machine's", Doc: "The time zone of `request.hour` and `request.weekday`."},
		},
		Blocks: map[string]language.Shape{
			"role":    {Labels: 1, Many: true, Body: &roleForm, Doc: "Rules for those who have the role."},
			"subject": {Labels: 1, Many: true, Body: &subjectForm, Doc: "Roles and rules for one subject. The command line and clients on standard input are the subject `local`."},
			"group":   {Labels: 1, Many: true, Body: &groupForm, Doc: "Roles and rules for those whose credential has the group."},
			"allow":   ruleBlocks["allow"], "deny": ruleBlocks["deny"], "confirm": ruleBlocks["confirm"],
		},
	}
	memberEntry = language.Entry{Name: "roles", Values: language.TextLists("a list of roles"), Unset: "none", Doc: "Roles of this policy that the holders have.", Refers: language.RefersRole}
	roleForm    = language.Form{Entries: language.FormOf[ofClients]().Entries, Blocks: ruleBlocks}
	groupForm   = language.Form{Entries: append([]language.Entry{memberEntry}, language.FormOf[ofClients]().Entries...), Blocks: ruleBlocks}
	subjectForm = groupForm
	ruleForm    = language.Form{Entries: []language.Entry{
		{Name: "servers", Values: language.TextLists("a list of globs"), Unset: "all", Doc: "Labels of servers.", Refers: language.RefersServer},
		{Name: "tools", Values: language.TextLists("a list of globs"), Unset: "all, if no kind is named", Doc: "The server's own names of tools."},
		{Name: "resources", Values: language.TextLists("a list of globs"), Unset: "all, if no kind is named", Doc: "URIs of resources."},
		{Name: "prompts", Values: language.TextLists("a list of globs"), Unset: "all, if no kind is named", Doc: "The server's own names of prompts."},
		{Name: "access", Values: language.Words("any", "read", "write"), Unset: "`\"any\"`", Doc: "Only tools that read, or only tools that write."},
		{Name: "when", Values: language.Conditions, Unset: "always", Doc: "A [condition](#conditions) on arguments, the principal and the request."},
		{Name: "name", Values: language.Texts("a text"), Unset: "none", Doc: "A name of the rule for `why`, the audit log, spans and notices. It stays when the rule moves in the file."},
		{Name: "reason", Values: language.Texts("a text"), Unset: "none", Doc: "What a person is told whom the rule denies something, with `mode = \"explain\"`."},
	}}
	confirmForm = language.Form{Entries: slices.Concat([]language.Entry{
		{Name: "by", Values: language.Words("approver", "client"), Unset: "`\"approver\"`", Doc: "`approver`: another person, with `junctor approvals`. `client`: the person at the client, in an elicitation or a question of `junctor call` on a terminal. A client that cannot ask falls back to `junctor approvals`."},
		{Name: "wait", Values: language.Durations(longestHold), Unset: "none", Doc: "How long the call waits before it fails."},
		{Name: "valid", Values: language.Durations(longestApproval), Unset: language.CodeText(language.ShortDuration(defaultApproval)), Doc: "How long an approval or a denial holds."},
		{Name: "covers", Values: language.Words("call", "tool", "server"), Unset: "`\"call\"`", Doc: "What one approval is for: this call once; all calls of the tool; or the whole server, until `valid` is over."},
		{Name: "grants", Values: language.Booleans, Unset: "`true`", Doc: "`false`: the rule asks those who may use the item anyway, and allows nothing."},
	}, fourEyesEntries, ruleForm.Entries), Blocks: map[string]language.Shape{
		"approver": {Many: true, Body: &approverForm, Doc: "People who may approve, instead of the user who runs Junctor and the admins of the console. They sign in to the [console](console.md), where they see the calls that they may answer."},
	}}
)

// ofClients are attributes of blocks that name clients.
type ofClients struct {
	Tenant string `hcl:"tenant" accepts:"a tenant" unset:"all" doc:"Only those of this tenant."`
	Issuer string `hcl:"issuer" accepts:"an issuer" unset:"all" doc:"Only those with a token of this issuer, or with another credential, by the kind of its 'auth' block, such as 'forwarded'. Required to give rights where several issuers could; '\"*\"' means all of them."`
}

var effects = map[string]policy.Effect{"deny": policy.Denies, "confirm": policy.Confirms, "allow": policy.Allows}

// policy reads the policy block. All files together hold at most one. unset is the default
// of a block that does not say.
func (l *loader) policy(blocks []*hclsyntax.Block, unset string) (p policy.Rules) {
	for i, b := range blocks {
		r := l.openBlock(b, "")
		if i > 0 {
			r.Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		r.Check(&policyForm)
		p = r.policyRules(unset)
	}
	return p
}

func (r blockReader) policyRules(unset string) policy.Rules {
	other := map[string]string{"deny": "allow", "allow": "deny"}[unset]
	p := policy.Rules{
		Given: true, At: startOf(r.Head).String(), Default: effects[r.Choice("default", unset, other)],
		Explain: r.Choice("mode", "hide", "explain") == "explain", Strict: r.Choice("ambiguous", "write", "deny") == "deny",
	}
	if r.IsSet("default") {
		p.At = startOf(r.Body.Attributes["default"].NameRange).String()
	}
	p.Zone = r.zone()
	first := map[policy.Holder]hcl.Range{}
	roles := r.Labelled("role")
	for _, b := range roles {
		if !slices.Contains(p.Roles, b.Labels[0]) {
			p.Roles = append(p.Roles, b.Labels[0])
		}
	}
	r.rulesOf(&p, policy.Holder{})
	for _, kind := range []string{"role", "subject", "group"} {
		for _, b := range r.Labelled(kind) {
			one := r.nested(b)
			h := one.holder(kind)
			if at, both := first[h]; both {
				one.Duplicate(one.LabelAt, at, "%s %q", kind, h.Name)
				continue
			}
			first[h] = one.LabelAt
			if kind != "role" {
				p.Members = append(p.Members, policy.Membership{Holder: h, Roles: one.knownRoles(p.Roles), At: startOf(one.Head).String()})
			}
			one.rulesOf(&p, h)
		}
	}
	if len(first) > policy.MaxHolders {
		r.ErrorAt(r.Head, "give the roles with the tokens", "a policy has at most %d roles, subjects and groups", policy.MaxHolders)
	}
	if len(p.Rules) > mostRules {
		r.ErrorAt(r.Head, "combine rules with * in their names", "a policy has at most %d rules", mostRules)
	}
	return p
}

// zone reads the time zone of hour and weekday; nil: that of the machine.
func (r blockReader) zone() *time.Location {
	name, a, set := r.Text("time_zone")
	if !set {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		r.ErrorAt(a.Expr.Range(), `write a name such as "UTC" or "Europe/Berlin"`, "this machine knows no time zone %q", name)
		return nil
	}
	return zone
}

// holder reads who a role, subject or group block is about.
func (r blockReader) holder(kind string) policy.Holder {
	r.Check(map[string]*language.Form{"role": &roleForm, "group": &groupForm, "subject": &subjectForm}[kind])
	h := policy.Holder{Kind: kind, Name: r.Label}
	if text, _, set := r.Text("tenant"); set {
		h.Tenant = text
	}
	if text, _, set := r.Text("issuer"); set {
		h.Issuer = text
	}
	if r.Label == "" || len(r.Label) > maxSubject || strings.ContainsFunc(r.Label, unprintable) {
		r.ErrorAt(r.LabelAt, "", "a %s is 1 to %d bytes of text without control characters", kind, maxSubject)
	}
	return h
}

// knownRoles reads the roles of a subject or a group.
func (r blockReader) knownRoles(known []string) (roles []string) {
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
func (r blockReader) rulesOf(p *policy.Rules, h policy.Holder) {
	for _, b := range r.Body.Blocks {
		if effect, ok := effects[b.Type]; ok {
			one := r.nested(b)
			rule := one.rule(effect)
			rule.Holder = h
			if i := slices.IndexFunc(p.Rules, func(o policy.Rule) bool { return o.Name != "" && o.Name == rule.Name }); i >= 0 {
				one.ErrorAt(one.Body.Attributes["name"].Expr.Range(), "choose another name", "the rule at %s has the name %q already", p.Rules[i].At, rule.Name)
			}
			p.Rules = append(p.Rules, rule)
			r.ruleHeads[rule.At] = one.Head
		}
	}
}

// rule reads an allow, deny or confirm block.
func (r blockReader) rule(effect policy.Effect) policy.Rule {
	if effect == policy.Confirms {
		r.Check(&confirmForm)
	} else {
		r.Check(&ruleForm)
	}
	rule := policy.Rule{
		Effect: effect, At: startOf(r.Head).String(),
		Servers: r.namePatterns("servers"), Tools: r.namePatterns("tools"), Resources: r.namePatterns("resources"), Prompts: r.namePatterns("prompts"),
		When: r.condition("when"), Name: r.ruleText("name", mostRuleName), Reason: r.ruleText("reason", mostReason),
	}
	switch r.Choice("access", "any", "read", "write") {
	case "read":
		rule.Access = policy.Read
	case "write":
		rule.Access = policy.Write
	}
	if rule.When != nil && rule.When.UsesArguments() && (rule.Resources != nil || rule.Prompts != nil) {
		r.ErrorAt(r.Body.Attributes["when"].Expr.Range(), "only calls of tools have arguments; write a rule of its own for resources and prompts", "the condition looks at arguments, but the rule is not about tools only")
	}
	if effect == policy.Confirms {
		rule.Tightens = !r.Boolean("grants", true)
		byClient := r.Choice("by", "approver", "client") == "client"
		rule.Approval = policy.Approval{
			ByClient: byClient, Four: readFourEyes(r, byClient),
			Valid:  r.Duration("valid", defaultApproval, longestApproval),
			Wait:   r.Duration("wait", 0, longestHold),
			Covers: policy.Coverage(r.Choice("covers", "call", "tool", "server")),
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
	text, a, set := r.Text(attribute)
	if set && (text == "" || len(text) > most || strings.ContainsFunc(text, unprintable)) {
		r.ErrorAt(a.Expr.Range(), "", "the %s of a rule is 1 to %d bytes of text without control characters", attribute, most)
	}
	return text
}

// namePatterns reads globs. It returns nil if the attribute is not set.
func (r blockReader) namePatterns(name string) []string {
	items := globs(r.Reader, name)
	if items == nil {
		return nil
	}
	all := []string{}
	for _, e := range items {
		all = append(all, e.Text)
	}
	if len(items) == 0 {
		r.ErrorAt(r.Body.Attributes[name].Expr.Range(), "omit the attribute, or write the names", "%q is empty, so the rule is about nothing", name)
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
			l.openBlock(blocks[0], "").WarnAt(l.ruleHeads[rule.At], "remove the rule, or make the other one narrower", "the rule has no effect: %s at %s decides about all of it", shadow.Effect, shadow.At)
		}
	}
	if p.Given && p.Default == policy.Denies && !slices.ContainsFunc(p.Rules, func(r policy.Rule) bool { return grantsLocal(p, r) }) {
		l.openBlock(blocks[0], "").WarnAt(blocks[0].TypeRange, `add subject "local" { allow { } } to allow it everything`,
			`the policy allows the command line and clients on standard input nothing: they are the subject "local"`)
	}
	var names []string
	for _, d := range drafts {
		names = append(names, d.Name)
	}
	for _, b := range blocks[:min(1, len(blocks))] {
		_ = hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
			if rule, ok := n.(*hclsyntax.Block); ok && ruleBlocks[rule.Type].Many {
				l.openBlock(rule, language.TitleOf(b)).checkNames(names, drafts)
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
		l.openBlock(blocks[0], "").WarnAt(at, `write default = "deny" in the policy, or remove the rule`, "the rule has no effect: the default allows everything that no rule denies")
	case rule.Effect == policy.Confirms && rule.Holder == policy.Holder{} && p.Default == policy.Denies && !l.saysGrants(blocks[0], at):
		l.openBlock(blocks[0], "").WarnAt(at, "write grants = false to ask only those who may use it anyway, or grants = true if this is meant",
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
	if len(r.problems) > 0 && slices.ContainsFunc(r.problems, func(p language.Problem) bool { return !p.Warning }) {
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
				Effect: policy.Confirms, Tightens: true, Servers: []string{s.Name}, Tools: []string{c.Glob}, At: c.At.String(),
				Approval: policy.Approval{AtTerminal: true, Valid: defaultApproval, Covers: policy.CoversCall},
			})
		}
	}
	return p
}
