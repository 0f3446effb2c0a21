package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/policy"
)

const maxReasonPattern = 200 // bytes

// fourEyesAttributes are the attributes of a confirm block about who must approve.
type fourEyesAttributes struct {
	Count   int       `hcl:"count" default:"1" min:"1" max:"10" doc:"How many people must approve. One is the person who runs Junctor, whatever names a program gives with 'by', but for names of the issuer 'relay'."`
	Apart   nameGlobs `hcl:"separate_groups" accepts:"a list of globs" unset:"none" doc:"Groups that are teams, such as '[\"team-*\"]'. An approver is in a team, and in none of those of the caller."`
	Say     bool      `hcl:"require_reason" doc:"An approver must say why, for the audit log: at most 300 bytes with a letter or a digit that people see."`
	Pattern *string   `hcl:"reason_pattern" accepts:"a regular expression (RE2)" unset:"none" doc:"What the reason must contain, such as 'CHG-[0-9]+' for a ticket. It implies 'require_reason'."`
}

// An approverBlock is an approver block.
type approverBlock struct {
	Subjects []string `hcl:"subjects" accepts:"a list of subjects" unset:"none" doc:"Subjects of people. 'local' is the user who runs Junctor, with 'junctor approvals' or the console's one-time link."`
	Groups   []string `hcl:"groups" accepts:"a list of groups" unset:"none" doc:"Groups of people, from their credentials."`
	Roles    []string `hcl:"roles" accepts:"a list of roles" unset:"none" doc:"Roles of people, from their credentials or from this policy."`
	Tenant   string   `hcl:"tenant" accepts:"a tenant" unset:"all" doc:"Only those of this tenant."`
	Issuer   string   `hcl:"issuer" accepts:"an issuer" unset:"all" doc:"Only those with a token of this issuer, or with another credential, by the kind of its 'auth' block. Required where several issuers could name them; '\"*\"' means all of them. '\"relay\"': people whom a program of the user who runs Junctor names with 'by', such as a chat relay; nothing else proves their names."`
}

// fourEyes returns who must approve, with the approver blocks of a confirm block.
func (b fourEyesAttributes) fourEyes(r language.Reader, byClient bool) policy.FourEyes {
	f := policy.FourEyes{More: b.Count - 1, Apart: b.Apart, Reason: b.Say}
	if b.Pattern != nil {
		f.Reason, f.Pattern = true, *b.Pattern
		checkReasonPatternAt(r, f.Pattern)
	}
	for _, b := range r.Body.Blocks {
		if b.Type == "approver" {
			one := r.Nested(b)
			language.Decode(one, &approverBlock{})
			// Not nil: operators are not meant.
			f.Approvers = append(append([]policy.Holder{}, f.Approvers...), approversIn(one)...)
		}
	}
	if byClient && !f.IsZero() {
		r.ErrorAt(r.ValueAt("by", r.Head),
			"remove by, or count, approver, separate_groups, require_reason and reason_pattern",
			`with by = "client" the person at the client answers, and nobody else can be asked for`)
	}
	people := map[policy.Holder]bool{}
	for _, h := range f.Approvers {
		people[policy.Holder{Kind: h.Kind, Name: h.Name, Tenant: h.Tenant}] = true
	}
	open := slices.ContainsFunc(f.Approvers, func(h policy.Holder) bool { return h.Kind != "subject" })
	if len(people) > 0 && !open && len(people) < f.Count() {
		r.ErrorAt(r.ValueAt("count", r.Head), "name more approvers, or write a smaller count",
			"%d people must approve, and the approver blocks name %d", f.Count(), len(people))
	}
	if f.Apart != nil && f.Approvers != nil && !slices.ContainsFunc(f.Approvers,
		func(h policy.Holder) bool { return h.Issuer != policy.Relayed && !h.IsLocal() }) {
		r.ErrorAt(r.ValueAt("separate_groups", r.Head), "name approvers who sign in to the console, or remove it",
			"nobody can approve: the groups of the user who runs Junctor, and of names from a relay, are not known")
	}
	return f
}

// approversIn reads an approver block.
func approversIn(r language.Reader) []policy.Holder {
	all := peopleIn(r, "subject", "group", "role")
	if len(all) == 0 && (r.IsSet("subjects") || r.IsSet("groups") || r.IsSet("roles")) {
		r.ErrorAt(r.Head, "name people, or remove the block", "the block names nobody, so nobody could approve")
	}
	if issuer, _, _ := r.Text("issuer"); issuer == policy.Relayed {
		for _, name := range []string{"groups", "roles", "tenant"} {
			if r.IsSet(name) {
				r.ErrorAt(r.ValueAt(name, r.Head), "name them in subjects",
					`%q is not known of a person whom a program names with by`, name)
			}
		}
	}
	return all
}

// checkReasonPatternAt reports what is wrong with the pattern of a confirm block.
func checkReasonPatternAt(r language.Reader, text string) {
	at := r.ValueAt("reason_pattern", r.Head)
	finds, err := checkReasonPattern(text)
	switch {
	case text == "" || len(text) > maxReasonPattern || strings.ContainsFunc(text, inbound.Unprintable):
		r.ErrorAt(at, `write one such as "CHG-[0-9]+"`,
			"a pattern is 1 to %d bytes of text without control characters", maxReasonPattern)
	case err != nil:
		r.ErrorAt(at, `write one such as "CHG-[0-9]+", in the syntax of RE2`,
			"the pattern is not valid: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case !finds:
		r.WarnAt(at, `write one such as "CHG-[0-9]+"`,
			"the pattern finds nothing in any reason, so nothing can be approved")
	}
}

// maxPatternSize bounds the instructions of a pattern, which is tried while answers wait.
const maxPatternSize = 2000

// checkReasonPattern returns what is wrong with a pattern, and whether there is a text in which it
// finds something.
func checkReasonPattern(text string) (finds bool, err error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return false, err
	}
	program, err := syntax.Compile(tree.Simplify())
	switch {
	case err != nil:
		return false, err
	case len(program.Inst) > maxPatternSize:
		return false, errors.New("it is too large")
	case regexp.MustCompile(text).MatchString(""):
		return false, errors.New("it also finds something in no text")
	}
	return condition.Satisfiable(program, ""), nil
}

// peopleIn reads a block that names people: a list for each kind of names, for one tenant and
// issuer.
func peopleIn(r language.Reader, kinds ...string) (all []policy.Holder) {
	var h policy.Holder
	h.Tenant, _, _ = r.Text("tenant")
	h.Issuer, _, _ = r.Text("issuer")
	named := false
	var lists []string
	for _, kind := range kinds {
		lists, named = append(lists, kind+"s"), named || r.IsSet(kind+"s")
		for _, name := range subjects(r, kind+"s") {
			h.Kind, h.Name = kind, name
			all = append(all, h)
		}
	}
	if !named {
		r.ErrorAt(r.Head, "write "+strings.Join(lists[:len(lists)-1], ", ")+" or "+lists[len(lists)-1],
			"the block names nobody")
	}
	return all
}

// checkApprovers reports approver blocks whose people could be those of several issuers, and
// rules whose approvers have no way to answer.
func checkApprovers(of *scope, rules policy.Rules, h HTTP, console *Console) {
	for _, b := range of.top["policy"][:min(1, len(of.top["policy"]))] {
		for _, confirm := range confirmBlocks(b) {
			checkApproversOf(of.open(confirm, ""), rules, h, console)
		}
	}
}

// confirmBlocks returns the confirm blocks of a policy.
func confirmBlocks(policy *hclsyntax.Block) (all []*hclsyntax.Block) {
	for _, b := range policy.Body.Blocks {
		switch b.Type {
		case "confirm":
			all = append(all, b)
		case "role", "subject", "group":
			all = append(all, confirmBlocks(b)...)
		}
	}
	return all
}

// asksApprovals reports whether the policy of a layer has a confirm block.
func asksApprovals(layers []*scope) bool {
	return slices.ContainsFunc(layers, func(o *scope) bool {
		return slices.ContainsFunc(o.top["policy"], func(b *hclsyntax.Block) bool { return len(confirmBlocks(b)) > 0 })
	})
}

func checkApproversOf(r blockReader, rules policy.Rules, h HTTP, console *Console) {
	all := inbound.Vouches(h.Auth)
	named, local, relayed, self := 0, 0, false, false
	for _, b := range r.Body.Blocks {
		if b.Type != "approver" {
			continue
		}
		one := r.nested(b)
		for _, who := range peopleIn(one.Reader, "subject", "group", "role") { // what it reports once more is dropped
			named++
			if who.IsLocal() || who.Issuer == policy.Relayed {
				local++
				relayed, self = relayed || who.Issuer == policy.Relayed, self || who.IsLocal()
				continue
			}
			can := inbound.Vouchers(all, who.Kind, who.Name)
			if who.Kind == "role" {
				can = roleVouchers(h, rules, who.Name)
			}
			switch {
			case who.Kind == "role" && len(can) == 0 && len(all) > 0:
				one.WarnAt(one.Head,
					"give the role in a subject or group block, or write claims { roles = ... } in an auth block",
					"nobody has the role %q", who.Name)
			case len(can) > 1 && who.Issuer == "":
				one.ErrorAt(one.Head, issuerHint,
					"the %s %q may approve, and each of %s can name it", who.Kind, who.Name, strings.Join(can, ", "))
			}
		}
	}
	if relayed && self {
		r.WarnAt(r.Head, `remove the subject "local": the program of the relay runs as that user`,
			`the user who runs Junctor may approve, so a relay of that user can approve under any name: issuer = "relay" limits nothing`)
	}
	var confirm confirmBlock
	language.Decode(r.Reader, &confirm) // what it reports once more is dropped
	switch {
	case named == 0 && confirm.Count > 1 && (console == nil || len(all) == 0):
		r.WarnAt(r.Head, "write a console block with admins, and auth blocks in gateway.http, or name approvers",
			"there is one operator only, the user who runs Junctor, and several must approve")
	case named > 0 && local == 0 && (console == nil || len(all) == 0):
		r.WarnAt(r.Head, "write a console block, and auth blocks in gateway.http, or name the subject \"local\"",
			"none of its approvers can answer: people answer in the console, where they sign in with their credentials")
	case r.IsSet("separate_groups") && !slices.ContainsFunc(all, func(v inbound.Vouch) bool { return v.Groups }):
		r.WarnAt(r.Body.Attributes["separate_groups"].NameRange,
			"write claims { groups = ... } in an auth block of gateway.http",
			"no credential has groups, so nothing can be approved")
	}
}

// issuerHint says what a block lacks whose people several issuers can name. It proposes none of
// them: only the person who writes the block knows which one is meant.
const issuerHint = `write issuer = "..." in the block, with the one that is meant; issuer = "*" says that all are`

// roleVouchers returns the issuers that can give a client a role, quoted: by a claim, because
// their auth block gives it, or because the policy gives it to a subject or a group that they
// can name.
func roleVouchers(h HTTP, rules policy.Rules, role string) []string {
	all := inbound.Vouches(h.Auth)
	can := inbound.Vouchers(all, "role", role)
	for _, a := range h.Auth {
		if a.Settings == nil {
			continue
		}
		if v := a.Settings.Vouch(); v != nil && slices.Contains(v.Given, role) {
			can = append(can, fmt.Sprintf("%q", a.Kind))
		}
	}
	for _, m := range rules.Members {
		switch {
		case !slices.Contains(m.Roles, role):
		case m.Holder.Issuer != "" && m.Holder.Issuer != policy.AnyIssuer:
			can = append(can, fmt.Sprintf("%q", m.Holder.Issuer))
		default:
			can = append(can, inbound.Vouchers(all, m.Holder.Kind, m.Holder.Name)...)
		}
	}
	slices.Sort(can)
	return slices.Compact(can)
}
