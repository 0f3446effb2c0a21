package clientimport

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

const (
	mostRules   = 5000 // of a policy
	mostHolders = 2048 // roles and subjects of a policy
	maxHolder   = 256  // bytes of the name of a role or a subject
	maxGlob     = 256  // bytes of a name in a rule
)

// A rule is an allow, deny or confirm block.
type rule struct {
	effect                             string // "allow", "deny" or "confirm"
	servers, tools, resources, prompts []string
	access                             string // "read", "write"; empty: any
	when                               string
	more                               []string // other lines
}

// A holder is a role or subject block, or the policy itself if kind is empty.
type holder struct{ kind, name string }

// A policyWriter collects the rules of a policy block.
type policyWriter struct {
	allow, strict bool
	order         []holder
	roles         map[holder][]string // of subjects
	rules         map[holder][]rule
	count         int
}

func newPolicyWriter() *policyWriter {
	return &policyWriter{roles: map[holder][]string{}, rules: map[holder][]rule{}}
}

// declare adds a block for a holder, if there is none.
func (w *policyWriter) declare(h holder) {
	if h.kind != "" && !slices.Contains(w.order, h) {
		w.order = append(w.order, h)
	}
}

func (w *policyWriter) add(h holder, r rule) {
	w.declare(h)
	w.rules[h] = append(w.rules[h], r)
	w.count++
}

// policy writes who may use the servers of a file. The policy never allows more than the
// file: what it cannot say exactly is left out if it allows, and widened if it denies.
func (c *converter) policy(file clientconfig.Content) {
	w := newPolicyWriter()
	switch {
	case file.Access != nil && file.Permissions != nil:
		c.Notes = append(c.Notes, "the file has an access control list as well as permissions: the policy denies everything")
	case file.Access != nil && file.Access.Ordered != nil:
		c.ordered(w, file.Access)
	case file.Access != nil:
		c.united(w, file.Access)
	case file.Permissions != nil:
		c.permissions(w, file.Permissions)
	default:
		return
	}
	if w.count > mostRules || len(w.order) > mostHolders {
		w = newPolicyWriter()
		c.Notes = append(c.Notes, fmt.Sprintf("the rules became more than %d, or their roles and subjects more than %d: the policy denies everything", mostRules, mostHolders))
	}
	if w.byAccess() {
		c.Notes = append(c.Notes, "Junctor decides by itself which tools read and which write: `junctor policy classify` shows it, and tools { read = [ ] write = [ ] } in the server block corrects it")
	}
	c.Policy = w.write()
	if !w.allow && !w.grantsLocal() {
		c.Notes = append(c.Notes, `the policy allows the command line and clients on standard input nothing: add subject "local" { allow { } } to allow it everything`)
	}
}

// byAccess reports whether a rule allows reading or writing only.
func (w *policyWriter) byAccess() bool {
	for _, rules := range w.rules {
		if slices.ContainsFunc(rules, func(r rule) bool { return r.effect == "allow" && r.access != "" }) {
			return true
		}
	}
	return false
}

func (w *policyWriter) grantsLocal() bool {
	local := holder{"subject", local}
	for h, rules := range w.rules {
		if h == (holder{}) || h == local || h.kind == "role" && slices.Contains(w.roles[local], h.name) {
			if slices.ContainsFunc(rules, func(r rule) bool { return r.effect != "deny" }) {
				return true
			}
		}
	}
	return false
}

// write returns the block.
func (w *policyWriter) write() []byte {
	c := converter{}
	c.line("policy {")
	if w.allow {
		c.line(`default = "allow"`)
	} else {
		c.line(`default = "deny"`)
	}
	if w.strict {
		c.line(`ambiguous = "deny"`)
	}
	c.ruleBlocks(w.rules[holder{}])
	for _, kind := range []string{"role", "subject"} {
		for _, h := range w.order {
			if h.kind != kind {
				continue
			}
			c.line("\n%s %s {", kind, quote(h.name))
			c.listed("roles", w.roles[h])
			c.ruleBlocks(w.rules[h])
			c.line("}")
		}
	}
	c.line("}")
	return hclwrite.Format([]byte(c.text.String()))
}

func (c *converter) ruleBlocks(rules []rule) {
	for _, r := range rules {
		c.line("%s {", r.effect)
		c.listed("servers", r.servers)
		c.listed("tools", r.tools)
		c.listed("resources", r.resources)
		c.listed("prompts", r.prompts)
		if r.access != "" {
			c.line("access = %q", r.access)
		}
		if r.when != "" {
			c.line("when = %s", r.when)
		}
		for _, line := range r.more {
			c.line("%s", line)
		}
		c.line("}")
	}
}

// local is the subject of the command line and of clients without a credential.
const local = "local"

// subject returns the name of a subject here. avelino's mcp calls clients without a
// credential anonymous. ok is false for the name that these have here: a client with a
// credential would get their rights, or they its.
func subject(name string) (here string, ok bool) {
	if name == "anonymous" {
		return local, true
	}
	return name, name != local && validHolder(name)
}

// validHolder reports whether a policy can have a role or subject of this name.
func validHolder(name string) bool {
	return name != "" && len(name) <= maxHolder && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// serverGlobs returns the patterns that match the servers here which globs match in the
// file. Servers may have got other names.
func (c *converter) serverGlobs(globs []string, allows bool) (here []string) {
	add := func(glob string) {
		if !slices.Contains(here, glob) {
			here = append(here, glob)
		}
	}
	for _, glob := range globs {
		exact, matched := true, []string{}
		for old, name := range c.labels {
			if old != name && like(old, glob) != like(name, glob) {
				exact = false
			}
			if like(old, glob) {
				matched = append(matched, name)
			}
		}
		slices.Sort(matched)
		switch {
		case glob == "":
		case exact && len(glob) <= maxGlob:
			add(glob)
		case len(glob) > maxGlob && !allows:
			add("*")
		case len(glob) <= maxGlob && !allows:
			add(glob)
			fallthrough
		default:
			for _, name := range matched {
				add(name)
			}
		}
	}
	return here
}

// itemGlobs returns patterns that a rule can have. One that is too long is left out if the
// rule allows, and matches everything if it denies.
func itemGlobs(globs []string, allows bool) (here []string) {
	for _, glob := range globs {
		switch {
		case glob == "" || slices.Contains(here, glob):
		case len(glob) <= maxGlob:
			here = append(here, glob)
		case !allows:
			return []string{"*"}
		}
	}
	return here
}

// like reports whether a pattern with * matches the whole text.
func like(text, glob string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return text == glob
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// where returns the place of a rule for notes.
func where(p clientconfig.Place) string { return "the rule at " + p.String() }

// united writes the grants of roles and subjects.
func (c *converter) united(w *policyWriter, a *clientconfig.Access) {
	w.allow, w.strict = a.Allow, a.Strict
	for _, r := range a.Roles {
		h := holder{"role", r.Name}
		c.grants(w, h, validHolder(r.Name), r)
	}
	for _, s := range a.Subjects {
		name, ok := subject(s.Name)
		h := holder{"subject", name}
		if ok {
			w.declare(h)
			for _, role := range s.Roles {
				if validHolder(role) && !slices.Contains(w.roles[h], role) {
					w.declare(holder{"role", role})
					w.roles[h] = append(w.roles[h], role)
				}
			}
		}
		c.grants(w, h, ok, s)
	}
}

// grants writes the grants of one holder. If the policy cannot have it, what it allows is
// left out, and what it denies holds for everyone.
func (c *converter) grants(w *policyWriter, h holder, valid bool, from clientconfig.Holder) {
	if valid {
		w.declare(h)
	} else {
		c.Notes = append(c.Notes, fmt.Sprintf("the name at %s cannot be that of a role or subject here: what it allows is left out, and what it denies is denied to everyone", from.Place))
	}
	for _, g := range from.Grants {
		switch {
		case g.Deny && valid:
			c.denial(w, h, g)
		case g.Deny:
			c.denial(w, holder{}, g)
		case valid:
			c.permission(w, h, g)
		}
	}
}

// permission writes a grant that allows. In the file, a list that is missing is about all
// items of its kind; here a rule that names only tools is about tools only.
func (c *converter) permission(w *policyWriter, h holder, g clientconfig.Grant) {
	r := rule{
		effect: "allow", servers: c.serverGlobs(g.Servers, true), tools: itemGlobs(g.Tools, true),
		resources: itemGlobs(g.Resources, true), prompts: itemGlobs(g.Prompts, true),
	}
	lost := len(g.Tools) > 0 && r.tools == nil || len(g.Resources) > 0 && r.resources == nil || len(g.Prompts) > 0 && r.prompts == nil
	if r.servers == nil || lost {
		c.Notes = append(c.Notes, where(g.Place)+" is left out: none of its names can be the name of something here")
		return
	}
	named := len(g.Tools) + len(g.Resources) + len(g.Prompts)
	if all := min(len(g.Tools), 1) + min(len(g.Resources), 1) + min(len(g.Prompts), 1); named > 0 && all < 3 && g.Read {
		c.Notes = append(c.Notes, where(g.Place)+" allows only what it names; in the file it also opens everything else of the servers, of the kinds that it does not name")
	}
	if slices.Equal(r.servers, []string{"*"}) {
		r.servers = nil
	}
	if !g.Read { // neither resources nor prompts are written
		r.resources, r.prompts = nil, nil
		if len(g.Tools) == 0 {
			r.tools = []string{"*"}
		}
	}
	for _, access := range accesses(g, w.strict) {
		one := r
		if one.access = access; access == "write" {
			one.resources, one.prompts = nil, nil
			if one.tools == nil && named > 0 {
				continue // it names resources or prompts only
			}
		}
		w.add(h, one)
	}
}

// accesses returns the accesses of the rules for a grant that allows. A grant of a strict
// list is not about ambiguous tools, also if it is about everything.
func accesses(g clientconfig.Grant, strict bool) []string {
	switch {
	case g.Read && g.Write && strict:
		return []string{"read", "write"}
	case g.Read && g.Write:
		return []string{""}
	case g.Read:
		return []string{"read"}
	}
	return []string{"write"}
}

// denial writes a grant that denies. It is about all items of the kinds that it does not
// name, as in the file.
func (c *converter) denial(w *policyWriter, h holder, g clientconfig.Grant) {
	r := rule{effect: "deny", servers: c.serverGlobs(g.Servers, false), tools: itemGlobs(g.Tools, false)}
	if r.servers == nil {
		return // it is about no server
	}
	if slices.Contains(r.servers, "*") {
		r.servers = nil
	}
	r.tools = orAll(r.tools)
	if g.Read {
		r.resources, r.prompts = orAll(itemGlobs(g.Resources, false)), orAll(itemGlobs(g.Prompts, false))
	} else {
		r.access = "write"
	}
	if g.Read && !g.Write {
		c.Notes = append(c.Notes, where(g.Place)+" denies reading, and here it denies writing too: a tool may read there and not here")
	}
	if all := r.resources != nil && slices.Equal(r.tools, []string{"*"}) && slices.Equal(r.resources, []string{"*"}) && slices.Equal(r.prompts, []string{"*"}); all {
		r.tools, r.resources, r.prompts = nil, nil, nil
	}
	w.add(h, r)
}

// orAll returns patterns, or one that matches everything if there are none.
func orAll(globs []string) []string {
	if globs == nil {
		return []string{"*"}
	}
	return globs
}
