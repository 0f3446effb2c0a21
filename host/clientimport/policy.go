package clientimport

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

const (
	maxRules    = 5000    // of a policy
	maxHolders  = 2048    // roles and subjects of a policy
	maxHolder   = 256     // bytes of the name of a role or a subject
	maxGlob     = 256     // bytes of a name in a rule
	maxCompared = 1 << 14 // bytes of all patterns of a list in which the first rule decides
)

// A policyConverter makes a policy of what the file of another product says about rights.
// The policy never allows more than the file: what it cannot say exactly is left out if it
// allows, and widened if it denies.
type policyConverter struct {
	labels map[string]string // the names here of the servers that were imported
	policy policyBlock
	notes  []string
}

// policy writes who may use the servers of a file.
func (c *converter) policy(file clientconfig.Content) {
	p := policyConverter{labels: c.labels}
	switch {
	case file.Access != nil && file.Permissions != nil:
		p.note("the file has an access control list as well as permissions: the policy denies everything")
	case file.Access != nil:
		p.convert(file.Access)
	case file.Permissions != nil:
		p.convert(file.Permissions)
	default:
		return
	}
	if p.policy.count > maxRules || len(p.policy.order) > maxHolders {
		p.policy = policyBlock{}
		p.note("the rules became more than %d, or their roles and subjects more than %d: the policy denies everything",
			maxRules, maxHolders)
	}
	if p.policy.byAccess() {
		p.note("Junctor decides by itself which tools read and which write: `junctor policy classify` shows it, " +
			"and tools { read = [ ] write = [ ] } in the server block corrects it")
	}
	if !p.policy.allow && !p.policy.grantsLocal() {
		p.note("the policy allows the command line and clients on standard input nothing: " +
			`add subject "local" { allow { } } to allow it everything`)
	}
	c.Policy, c.Notes = p.policy.write(), append(c.Notes, p.notes...)
}

// note adds a sentence, once.
func (c *policyConverter) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// noteRule adds a sentence that begins with the place of a rule.
func (c *policyConverter) noteRule(r *converted, format string, args ...any) {
	c.note("%s%s", r.where(), fmt.Sprintf(format, args...))
}

// A converted rule is one with the names that its holders and servers have here.
type converted struct {
	clientconfig.Rule
	nobody  bool        // the policy cannot name those that it is about
	matches []toolMatch // of a rule with names that clients see
	rules   []rule
}

// allows reports whether the rule allows more than no rule does.
func (r *converted) allows() bool { return r.Effect == clientconfig.Allow }

func (r *converted) where() string { return "the rule at " + r.Place.String() }

// all reports whether a rule is about all tools of everyone.
func (r *converted) all() bool {
	return r.Subjects == nil && r.Roles == nil && !r.nobody && slices.Contains(r.matches, toolMatch{"*", "*"})
}

// convert makes the rules of the policy.
func (c *policyConverter) convert(from *clientconfig.Rights) {
	c.policy.allow, c.policy.strict, c.notes = from.Allow, from.Strict, slices.Clone(from.Notes)
	c.declare(from.Holders)
	var rules []*converted
	size := 0
	named := 0
	for i, r := range from.Rules {
		for ; named < len(from.Holders) && from.Holders[named].First <= i; named++ {
			c.noteUnnamed(from.Holders[named])
		}
		one := c.rule(r, from.First)
		rules = append(rules, one)
		for _, m := range one.matches {
			size += len(m.server) + len(m.tool)
		}
		if from.First && size > maxCompared {
			c.policy = policyBlock{}
			c.note("the rules have more than %d bytes of patterns, too many to compare: the policy denies everything",
				maxCompared)
			return
		}
		if from.First && one.all() {
			break // later rules never decide
		}
	}
	for _, h := range from.Holders[named:] {
		c.noteUnnamed(h)
	}
	if from.First {
		rules = c.fallback(rules)
	}
	for i, r := range rules {
		if r.nobody || len(r.rules) == 0 {
			continue
		}
		var except []string
		if from.First && !r.allows() {
			except = c.exceptions(r, rules[:i])
		}
		c.add(r, except)
	}
}

// noteUnnamed says what becomes of the rules of a role or subject that cannot have its name.
func (c *policyConverter) noteUnnamed(h clientconfig.Holder) {
	if _, ok := hereName(h.Kind, h.Name); !ok {
		c.note("the name at %s cannot be that of a role or subject here: "+
			"what it allows is left out, and what it denies is denied to everyone", h.Place)
	}
}

// declare makes blocks of roles and subjects.
func (c *policyConverter) declare(all []clientconfig.Holder) {
	for _, from := range all {
		name, ok := hereName(from.Kind, from.Name)
		if !ok {
			continue
		}
		h := holder{from.Kind, name}
		c.policy.declare(h)
		for _, role := range from.Roles {
			if validHolder(role) && !slices.Contains(c.policy.roles[h], role) {
				c.policy.roles[h] = append(c.policy.roles[h], role)
			}
		}
	}
}

// rule converts the names of a rule.
func (c *policyConverter) rule(r clientconfig.Rule, first bool) *converted {
	one := &converted{Rule: r}
	one.Subjects = c.holders(one, "subject", r.Subjects, first)
	one.Roles = c.holders(one, "role", r.Roles, first)
	if r.Naming == clientconfig.ByPatterns {
		if !one.nobody {
			one.rules = c.patterns(one)
		}
	} else if c.names(one); len(one.matches) == 0 && first {
		c.noteRule(one, " is left out: its tools are none, because the name of a tool there is SERVER__TOOL")
	}
	return one
}

// holders converts names of subjects or roles; nil means all. A rule that denies to names
// that the policy cannot have denies to all.
func (c *policyConverter) holders(r *converted, kind string, names []string, noted bool) (all []string) {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		here, ok := hereName(kind, name)
		switch {
		case ok && !slices.Contains(all, here):
			all = append(all, here)
		case ok:
		case !r.allows():
			if noted {
				c.noteRule(r, " denies to everyone, because a name in it cannot be that of a role or subject here")
			}
			return nil
		case noted:
			c.noteRule(r, " is left out for a name that cannot be that of a role or subject here")
		}
	}
	r.nobody = r.nobody || len(all) == 0
	return all
}

// patterns converts the patterns of servers and items.
func (c *policyConverter) patterns(r *converted) []rule {
	widens := !r.allows()
	one := rule{Rule: r.Rule}
	if one.Servers = c.serverGlobs(r.Servers, widens); one.Servers == nil && widens {
		return nil // it is about no server
	}
	lost := one.Servers == nil
	for _, globs := range []*[]string{&one.Tools, &one.Resources, &one.Prompts} {
		named := *globs != nil
		*globs = itemGlobs(*globs, widens)
		lost = lost || named && *globs == nil
	}
	if lost {
		c.noteRule(r, " is left out: none of its names can be the name of something here")
		return nil
	}
	if r.Note != "" {
		c.noteRule(r, "%s", r.Note)
	}
	if r.allows() && r.Access == "write" { // neither resources nor prompts are written
		one.Resources, one.Prompts = nil, nil
	}
	all := func(globs []string) bool { return slices.Equal(globs, []string{"*"}) }
	if all(one.Servers) || widens && slices.Contains(one.Servers, "*") {
		one.Servers = nil
	}
	if all(one.Tools) && all(one.Resources) && all(one.Prompts) {
		one.Tools, one.Resources, one.Prompts = nil, nil, nil
	}
	return []rule{one}
}

// add adds a rule to the blocks of its holders.
func (c *policyConverter) add(r *converted, except []string) {
	for _, h := range r.blocks() {
		conditions := except
		if h.kind == "subject" && r.Roles != nil {
			when, ok := hasRole(r.Roles)
			switch {
			case ok && r.allows():
				conditions = []string{when}
			case ok:
				conditions = append([]string{"(" + when + ")"}, except...)
			case r.allows():
				c.noteRule(r, " is left out: a condition cannot have its roles")
				return
			default:
				c.noteRule(r, " denies whatever the role: a condition cannot have its roles")
			}
		}
		when := strings.Join(conditions, " && ")
		if len(when) > maxWhen {
			when = ""
			c.noteRule(r, " denies also what earlier rules allow: the condition would be too long")
		}
		for _, one := range r.rules {
			one.when = when
			c.policy.add(h, one)
		}
	}
}

// blocks returns the blocks that a rule belongs to.
func (r *converted) blocks() (all []holder) {
	kind, names := "subject", r.Subjects
	if names == nil {
		kind, names = "role", r.Roles
	}
	if names == nil {
		return []holder{{}}
	}
	for _, name := range names {
		all = append(all, holder{kind, name})
	}
	return all
}

// local is the subject of the command line and of clients without a credential.
const local = "local"

// hereName returns the name here of a role or a subject. avelino's mcp calls clients without a
// credential anonymous. ok is false for the name that these have here: a client with a
// credential would get their rights, or they its.
func hereName(kind, name string) (here string, ok bool) {
	if kind == "subject" && name == "anonymous" {
		return local, true
	}
	return name, validHolder(name) && (kind != "subject" || name != local)
}

// validHolder reports whether a policy can have a role or subject of this name.
func validHolder(name string) bool {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	return name != "" && len(name) <= maxHolder && !strings.ContainsFunc(name, hidden)
}
