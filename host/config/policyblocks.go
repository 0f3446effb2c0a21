package config

import (
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
)

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
	RuleBlocks
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

// RuleBlocks are the rules in a block. It is exported for the decoder, which reads its tags only.
type RuleBlocks struct {
	_ []ruleBlock    `hcl:"allow,block" doc:"A rule that allows: about everyone, or about the holders of the block around it."`
	_ []ruleBlock    `hcl:"deny,block" doc:"A rule that denies: about everyone, or about the holders of the block around it."`
	_ []confirmBlock `hcl:"confirm,block" doc:"A rule that lets a person approve each use: about everyone, or about the holders of the block around it."`
}

type (
	// A roleBlock is a role block.
	roleBlock struct {
		Name string `hcl:"name,label"`
		ofClients
		RuleBlocks
	}
	// members are a group or a subject.
	members struct {
		Name  string   `hcl:"name,label"`
		Roles []string `hcl:"roles" accepts:"a list of roles" unset:"none" refers:"role" doc:"Roles of this policy that the holders have."`
		ofClients
		RuleBlocks
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
	for name, most := range map[string]int{"name": maxRuleName, "reason": maxReason} {
		text := map[string]string{"name": b.Name, "reason": b.Reason}[name]
		if r.IsRead(name) && (text == "" || len(text) > most || strings.ContainsFunc(text, inbound.Unprintable)) {
			r.ErrorAt(r.ValueAt(name, r.Head), "",
				"the %s of a rule is 1 to %d bytes of text without control characters", name, most)
		}
	}
}

const (
	maxRuleName = 64  // bytes
	maxReason   = 300 // bytes
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
		r.ErrorAt(r.ValueAt(name, r.Head), "omit the attribute, or write the names",
			"%q is empty, so the rule is about nothing", name)
	}
}

// ofClients are attributes of blocks that name clients.
type ofClients struct {
	Tenant string `hcl:"tenant" accepts:"a tenant" unset:"all" doc:"Only those of this tenant."`
	Issuer string `hcl:"issuer" accepts:"an issuer" unset:"all" doc:"Only those with a token of this issuer, or with another credential, by the kind of its 'auth' block, such as 'forwarded'. Required to give rights where several issuers could; '\"*\"' means all of them."`
}
