package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/policy"
)

const (
	mostApprovals     = 10
	mostReasonPattern = 200 // bytes
)

var (
	fourEyesEntries = []entry{
		{name: "count", values: integers(1, mostApprovals), unset: "`1`", doc: "How many people must approve. One is the person who runs Junctor, whatever names a program gives with `by`, but for names of the issuer `relay`."},
		{name: "separate_groups", values: textLists("a list of globs"), unset: "none", doc: "Groups that are teams, such as `[\"team-*\"]`. An approver is in a team, and in none of those of the caller."},
		{name: "require_reason", values: booleans, unset: "`false`", doc: "An approver must say why, for the audit log."},
		{name: "reason_pattern", values: texts("a regular expression (RE2)"), unset: "none", doc: "What the reason must contain, such as `CHG-[0-9]+` for a ticket. It implies `require_reason`."},
	}
	approverForm = form{entries: []entry{
		{name: "subjects", values: textLists("a list of subjects"), unset: "none", doc: "Subjects of people. `local` is the user who runs Junctor, with `junctor approvals` or the console's one-time link."},
		{name: "groups", values: textLists("a list of groups"), unset: "none", doc: "Groups of people, from their credentials."},
		{name: "roles", values: textLists("a list of roles"), unset: "none", doc: "Roles of people, from their credentials or from this policy."},
		{name: "tenant", values: texts("a tenant"), unset: "all", doc: "Only those of this tenant."},
		{name: "issuer", values: texts("an issuer"), unset: "all", doc: "Only those with a token of this issuer, or with another credential, by the kind of its `auth` block. Required where several issuers could name them; `\"*\"` means all of them. `\"relay\"`: people whom a program of the user who runs Junctor names with `by`, such as a chat relay; nothing else proves their names."},
	}}
)

// readFourEyes reads who must approve in a confirm block.
func readFourEyes(r blockReader, byClient bool) policy.FourEyes {
	f := policy.FourEyes{More: r.integer("count", 1, 1, mostApprovals) - 1, Apart: r.namePatterns("separate_groups"), Reason: r.boolean("require_reason", false)}
	if text, a, set := r.publicString("reason_pattern"); set {
		f.Reason, f.Pattern = true, text
		_, err := regexp.Compile(text)
		switch {
		case text == "" || len(text) > mostReasonPattern || strings.ContainsFunc(text, unprintable):
			r.errorAt(a.Expr.Range(), `write one such as "CHG-[0-9]+"`, "a pattern is 1 to %d bytes of text without control characters", mostReasonPattern)
		case err != nil:
			r.errorAt(a.Expr.Range(), `write one such as "CHG-[0-9]+", in the syntax of RE2`, "the pattern is not valid: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	for _, b := range r.body.Blocks {
		if b.Type == "approver" {
			one := r.nested(b)
			one.check(approverForm)
			f.Approvers = append(f.Approvers, peopleIn(one, "subject", "group", "role")...)
		}
	}
	if byClient && !f.IsZero() {
		r.errorAt(r.valueAt("by", r.head), "remove by, or count, approver, separate_groups, require_reason and reason_pattern", `with by = "client" the person at the client answers, and nobody else can be asked for`)
	}
	if subjects := slices.DeleteFunc(slices.Clone(f.Approvers), func(h policy.Holder) bool { return h.Kind != "subject" }); f.Approvers != nil && len(subjects) == len(f.Approvers) && len(subjects) < f.Count() {
		r.errorAt(r.valueAt("count", r.head), "name more approvers, or write a smaller count", "%d people must approve, and the approver blocks name %d", f.Count(), len(subjects))
	}
	return f
}

// peopleIn reads a block that names people: a list for each kind of names, for one tenant and
// issuer.
func peopleIn(r blockReader, kinds ...string) (all []policy.Holder) {
	var h policy.Holder
	h.Tenant, _, _ = r.publicString("tenant")
	h.Issuer, _, _ = r.publicString("issuer")
	named := false
	var lists []string
	for _, kind := range kinds {
		lists, named = append(lists, kind+"s"), named || r.isSet(kind+"s")
		for _, name := range r.subjects(kind + "s") {
			h.Kind, h.Name = kind, name
			all = append(all, h)
		}
	}
	if !named {
		r.errorAt(r.head, "write "+strings.Join(lists[:len(lists)-1], ", ")+" or "+lists[len(lists)-1], "the block names nobody")
	}
	return all
}

// checkApprovers reports approver blocks whose people could be those of several issuers, and
// rules whose approvers have no way to answer.
func (l *loader) checkApprovers(blocks []*hclsyntax.Block, h HTTP, console *Console) {
	for _, b := range blocks[:min(1, len(blocks))] {
		for _, confirm := range confirmBlocks(b) {
			l.checkApproversOf(l.openBlock(confirm, ""), vouches(h), console)
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

// asksApprovals reports whether a policy has a confirm block.
func asksApprovals(l *loader) bool {
	return slices.ContainsFunc(l.layers, func(o *scope) bool {
		return slices.ContainsFunc(o.top["policy"], func(b *hclsyntax.Block) bool { return len(confirmBlocks(b)) > 0 })
	})
}

func (l *loader) checkApproversOf(r blockReader, all []vouch, console *Console) {
	named, local := 0, 0
	for _, b := range r.body.Blocks {
		if b.Type != "approver" {
			continue
		}
		one := r.nested(b)
		for _, h := range peopleIn(one, "subject", "group", "role") { // what it reports once more is dropped
			named++
			if h.IsLocal() || h.Issuer == policy.Relayed {
				local++
				continue
			}
			if can := vouchers(all, h.Kind, h.Name); len(can) > 1 && h.Issuer == "" {
				one.errorAt(one.head, issuerHint,
					"the %s %q may approve, and each of %s can name it", h.Kind, h.Name, strings.Join(can, ", "))
			}
		}
	}
	switch {
	case named > 0 && local == 0 && (console == nil || len(all) == 0):
		r.warnAt(r.head, "write a console block, and auth blocks in gateway.http, or name the subject \"local\"", "none of its approvers can answer: people answer in the console, where they sign in with their credentials")
	case r.isSet("separate_groups") && !slices.ContainsFunc(all, func(v vouch) bool { return v.groups }):
		r.warnAt(r.body.Attributes["separate_groups"].NameRange, "write claims { groups = ... } in an auth block of gateway.http", "no credential has groups, so nothing can be approved")
	}
}

// issuerHint says what a block lacks whose people several issuers can name. It proposes none of
// them: only the person who writes the block knows which one is meant.
const issuerHint = `write issuer = "..." in the block, with the one that is meant; issuer = "*" says that all are`

// vouchers returns the issuers that can make a client a holder of a kind and name, quoted.
func vouchers(all []vouch, kind, name string) (can []string) {
	for _, v := range all {
		if v.can(kind, name) {
			can = append(can, fmt.Sprintf("%q", v.issuer))
		}
	}
	return can
}
