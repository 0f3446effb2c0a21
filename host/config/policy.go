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

const mostRules = 5000

// A policyBlock is the policy block.
type policyBlock struct {
	Default string         `hcl:"default" words:"deny,allow" doc:"What counts for uses that no rule is about."`
	Explain bool           `hcl:"mode" words:"hide,explain" doc:"'hide': what is denied looks as if it did not exist; 'explain': clients are told."`
	Strict  bool           `hcl:"ambiguous" words:"write,deny" doc:"A tool that is neither read nor write counts as 'write', or is denied by the default and by each 'deny' rule with 'access'."`
	Zone    string         `hcl:"time_zone" accepts:"a name such as '\"Europe/Berlin\"'" unset:"the machine's" doc:"The time zone of 'request.hour' and 'request.weekday'."`
	zone    *time.Location // nil: that of the machine

	_ []roleBlock    `hcl:"role,block" doc:"Rules for those who have the role."`
	_ []subjectBlock `hcl:"subject,block" doc:"Roles and rules for one subject. The command line and clients on standard input are the subject 'local'."`
	_ []groupBlock   `hcl:"group,block" doc:"Roles and rules for those whose credential has the group."`
	ruleBlocks
}

// Validate implements [language.Validator].
func (p *policyBlock) Validate(r language.Reader) {
	if !r.IsRead("time_zone") {
		return
	}
	zone, err := time.LoadLocation(p.Zone)
	if err != nil || p.Zone == "" || p.Zone == "Local" {
		r.ErrorAt(r.ValueAt("time_zone", r.Head), `write a name such as "UTC" or "Europe/Berlin"`,
			"this machine knows no time zone %q", p.Zone)
		return
	}
	p.zone = zone
}

// ruleBlocks are the rules in a block.
type ruleBlocks struct {
	_ []ruleBlock    `hcl:"allow,block" doc:"A rule that allows: about everyone, or about the holders of the block around it."`
	_ []ruleBlock    `hcl:"deny,block" doc:"A rule that denies: about everyone, or about the holders of the block around it."`
	_ []confirmBlock `hcl:"confirm,block" doc:"A rule that lets a person approve each use: about everyone, or about the holders of the block around it."`
}

type (
	// A roleBlock is a role block.
	roleBlock struct {
		Name string `hcl:"name,label"`
		ofClients
		ruleBlocks
	}
	// members are a group or a subject.
	members struct {
		Name  string   `hcl:"name,label"`
		Roles []string `hcl:"roles" accepts:"a list of roles" unset:"none" refers:"role" doc:"Roles of this policy that the holders have."`
		ofClients
		ruleBlocks
	}
	groupBlock   struct{ members }
	subjectBlock struct{ members }
)

// A ruleBlock is an allow or a deny block.
type ruleBlock struct {
	Servers   nameGlobs     `hcl:"servers" accepts:"a list of globs" unset:"all" refers:"server" doc:"Labels of servers."`
	Tools     nameGlobs     `hcl:"tools" accepts:"a list of globs" unset:"all, if no kind is named" doc:"The server's own names of tools."`
	Resources nameGlobs     `hcl:"resources" accepts:"a list of globs" unset:"all, if no kind is named" doc:"URIs of resources."`
	Prompts   nameGlobs     `hcl:"prompts" accepts:"a list of globs" unset:"all, if no kind is named" doc:"The server's own names of prompts."`
	Access    string        `hcl:"access" words:"any,read,write" doc:"Only tools that read, or only tools that write."`
	_         conditionText `hcl:"when" unset:"always" doc:"A [condition](#conditions) on arguments, the principal and the request."`
	Name      string        `hcl:"name" accepts:"a text" unset:"none" doc:"A name of the rule for 'why', the audit log, spans and notices. It stays when the rule moves in the file."`
	Reason    string        `hcl:"reason" accepts:"a text" unset:"none" doc:"What a person is told whom the rule denies something, with 'mode = \"explain\"'."`
}

// Validate implements [language.Validator].
func (b *ruleBlock) Validate(r language.Reader) {
	for name, most := range map[string]int{"name": mostRuleName, "reason": mostReason} {
		text := map[string]string{"name": b.Name, "reason": b.Reason}[name]
		if r.IsRead(name) && (text == "" || len(text) > most || strings.ContainsFunc(text, unprintable)) {
			r.ErrorAt(r.ValueAt(name, r.Head), "",
				"the %s of a rule is 1 to %d bytes of text without control characters", name, most)
		}
	}
}

const (
	mostRuleName = 64  // bytes
	mostReason   = 300 // bytes
)

// A confirmBlock is a confirm block.
type confirmBlock struct {
	ByClient bool          `hcl:"by" words:"approver,client" doc:"'approver': another person, with 'junctor approvals'. 'client': the person at the client, in an elicitation or a question of 'junctor call' on a terminal. A client that cannot ask falls back to 'junctor approvals'."`
	Wait     time.Duration `hcl:"wait" unset:"none" max:"10m" doc:"How long the call waits before it fails."`
	Valid    time.Duration `hcl:"valid" default:"5m" max:"24h" doc:"How long an approval or a denial holds."`
	Covers   string        `hcl:"covers" words:"call,tool,server" doc:"What one approval is for: this call once; all calls of the tool; or the whole server, until 'valid' is over."`
	Grants   bool          `hcl:"grants" default:"true" doc:"'false': the rule asks those who may use the item anyway, and allows nothing."`
	fourEyesAttributes
	ruleBlock

	_ []approverBlock `hcl:"approver,block" doc:"People who may approve, instead of the user who runs Junctor and the admins of the console. They sign in to the [console](console.md), where they see the calls that they may answer."`
}

// A conditionText is the attribute when.
type conditionText struct{}

// Values implements [language.Valued].
func (conditionText) Values() language.Values { return language.Conditions }

// nameGlobs are globs of names; nil: the attribute is not set.
type nameGlobs []string

// ReadSetting implements [language.Setting].
func (l *nameGlobs) ReadSetting(r language.Reader, name string) {
	items := globs(r, name)
	if items == nil {
		return
	}
	*l = nameGlobs{}
	for _, e := range items {
		*l = append(*l, e.Text)
	}
	if len(items) == 0 {
		r.ErrorAt(r.ValueAt(name, r.Head), "omit the attribute, or write the names", "%q is empty, so the rule is about nothing", name)
	}
}

// ofClients are attributes of blocks that name clients.
type ofClients struct {
	Tenant string `hcl:"tenant" accepts:"a tenant" unset:"all" doc:"Only those of this tenant."`
	Issuer string `hcl:"issuer" accepts:"an issuer" unset:"all" doc:"Only those with a token of this issuer, or with another credential, by the kind of its 'auth' block, such as 'forwarded'. Required to give rights where several issuers could; '\"*\"' means all of them."`
}

var effects = map[string]policy.Effect{"deny": policy.Denies, "confirm": policy.Confirms, "allow": policy.Allows}

// isRule reports whether a block is a rule.
func isRule(block string) bool {
	_, is := effects[block]
	return is
}

// policy reads the policy block. All files together hold at most one. unset is the default
// of a block that does not say.
func (l *loader) policy(blocks []*hclsyntax.Block, unset string) (p policy.Rules) {
	if r, found := l.onlyBlock(blocks); found {
		p = r.policyRules(unset)
	}
	return p
}

func (r blockReader) policyRules(unset string) policy.Rules {
	var b policyBlock
	language.Decode(r.Reader, &b)
	if !r.IsSet("default") {
		b.Default = unset
	}
	p := policy.Rules{
		Given:   true,
		At:      startOf(r.Head).String(),
		Default: effects[b.Default],
		Explain: b.Explain,
		Strict:  b.Strict,
		Zone:    b.zone,
	}
	if r.IsSet("default") {
		p.At = startOf(r.Body.Attributes["default"].NameRange).String()
	}
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
				p.Members = append(p.Members, policy.Membership{Holder: h, Roles: knownRoles(one.Reader, p.Roles), At: startOf(one.Head).String()})
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

// holder reads who a role, subject or group block is about.
func (r blockReader) holder(kind string) policy.Holder {
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
	if r.Label == "" || len(r.Label) > maxSubject || strings.ContainsFunc(r.Label, unprintable) {
		r.ErrorAt(r.LabelAt, "", "a %s is 1 to %d bytes of text without control characters", kind, maxSubject)
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
	var b confirmBlock
	if effect == policy.Confirms {
		language.Decode(r.Reader, &b)
	} else {
		language.Decode(r.Reader, &b.ruleBlock)
	}
	rule := policy.Rule{
		Effect:    effect,
		At:        startOf(r.Head).String(),
		Servers:   b.Servers,
		Tools:     b.Tools,
		Resources: b.Resources,
		Prompts:   b.Prompts,
		When:      r.condition("when"),
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
		r.ErrorAt(r.ValueAt("when", r.Head), "only calls of tools have arguments; write a rule of its own for resources and prompts",
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
			if rule, ok := n.(*hclsyntax.Block); ok && isRule(rule.Type) {
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
				Approval: policy.Approval{AtTerminal: true, Valid: language.Defaults[confirmBlock]().Valid, Covers: policy.CoversCall},
			})
		}
	}
	return p
}
