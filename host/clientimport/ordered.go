package clientimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

const (
	mostWhen     = 4096    // bytes of a condition
	mostCompared = 1 << 14 // bytes of all patterns of a list in which the first rule decides
)

// A toolMatch is a pattern for servers and one for their tools.
type toolMatch struct{ server, tool string }

// An orderedRule is a rule of a list in which the first that matches decides.
type orderedRule struct {
	subjects, roles []string // nil: all
	matches         []toolMatch
	allow           bool
	place           clientconfig.Place
	nobody          bool // the policy cannot name those that it is about
	all             bool // it matches all tools of everyone
}

// ordered writes the rules of a list in which the first that matches decides. Here a rule
// that denies wins over one that allows. So a rule that denies gets a condition that excepts
// what earlier rules allow; all else is the same in both orders.
func (c *converter) ordered(w *policyWriter, a *clientconfig.Access) {
	w.allow = a.Allow
	var rules []orderedRule
	size := 0
	for _, r := range a.Ordered {
		one := c.orderedRule(r)
		rules = append(rules, one)
		for _, m := range one.matches {
			size += len(m.server) + len(m.tool)
		}
		if size > mostCompared {
			w.allow = false
			c.Notes = append(c.Notes, fmt.Sprintf("the rules have more than %d bytes of patterns, too many to compare: the policy denies everything", mostCompared))
			return
		}
		if one.all {
			break // later rules never decide
		}
	}
	fallback := a.Allow
	if n := len(rules); n > 0 && rules[n-1].all {
		fallback, rules = rules[n-1].allow, rules[:n-1]
	}
	for len(rules) > 0 && rules[len(rules)-1].allow == fallback {
		rules = rules[:len(rules)-1] // the fallback says the same
	}
	switch {
	case a.Allow && !fallback: // resources and prompts have the default of the file
		w.allow = false
		w.add(holder{}, rule{effect: "allow", resources: []string{"*"}, prompts: []string{"*"}})
	case !a.Allow && fallback:
		w.add(holder{}, rule{effect: "allow", tools: []string{"*"}})
	}
	for i, r := range rules {
		if r.allow {
			c.orderedAllow(w, r)
		} else {
			c.orderedDeny(w, r, rules[:i])
		}
	}
}

// orderedRule converts the names of a rule.
func (c *converter) orderedRule(r clientconfig.OrderedRule) orderedRule {
	one := orderedRule{allow: r.Allow, place: r.Place}
	one.subjects = c.holders(&one, r.Subjects, subject)
	one.roles = c.holders(&one, r.Roles, func(name string) (string, bool) { return name, validHolder(name) })
	for _, glob := range r.Tools {
		for _, m := range c.split(glob, r.Allow) {
			if !slices.Contains(one.matches, m) {
				one.matches = append(one.matches, m)
			}
		}
	}
	one.all = one.subjects == nil && one.roles == nil && !one.nobody && slices.Contains(one.matches, toolMatch{"*", "*"})
	if len(one.matches) == 0 {
		c.Notes = append(c.Notes, where(r.Place)+" is left out: its tools are none, because the name of a tool there is SERVER__TOOL")
	}
	return one
}

// holders converts names of subjects or roles; nil means all. A rule that denies to names
// that the policy cannot have denies to all.
func (c *converter) holders(r *orderedRule, names []string, here func(string) (string, bool)) (all []string) {
	if len(names) == 0 || slices.Contains(names, "*") {
		return nil
	}
	for _, name := range names {
		converted, ok := here(name)
		switch {
		case ok && !slices.Contains(all, converted):
			all = append(all, converted)
		case !ok && !r.allow:
			c.Notes = append(c.Notes, where(r.place)+" denies to everyone, because a name in it cannot be that of a role or subject here")
			return nil
		case !ok:
			c.Notes = append(c.Notes, where(r.place)+" is left out for a name that cannot be that of a role or subject here")
		}
	}
	r.nobody = r.nobody || len(all) == 0
	return all
}

// split returns the patterns of servers and tools that together match what a pattern matches
// that is about SERVER__TOOL. The two underscores may be literal, or be matched by stars.
func (c *converter) split(glob string, allows bool) (all []toolMatch) {
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	add := func(server, tool string) {
		odd := strings.Contains(server, "__") || strings.HasSuffix(server, "_")
		if server == "" || tool == "" || odd && !c.hasServer(server) {
			return // servers with such names are looked for in the file only
		}
		servers := []string{server}
		if server != "*" {
			servers = c.serverGlobs(servers, allows)
		}
		tools := itemGlobs([]string{tool}, allows)
		for _, s := range servers {
			for _, t := range tools {
				all = append(all, toolMatch{s, t})
			}
		}
	}
	// withStar adds what before* matches of a server's name with some of the underscores
	// behind it.
	withStar := func(before, tool string) {
		add(before+"*", tool)
		for range 2 {
			var cut bool
			if before, cut = strings.CutSuffix(before, "_"); !cut {
				return
			}
			add(before, tool)
		}
	}
	for i := range len(glob) {
		before, after := glob[:i], glob[i:]
		if glob[i] == '*' {
			withStar(before, after)
		}
		if head, ok := strings.CutSuffix(before, "__"); ok {
			add(head, after)
		}
		if head, ok := strings.CutSuffix(before, "*_"); ok {
			withStar(head, after)
		}
	}
	return all
}

// hasServer reports whether a server of the file matches a pattern.
func (c *converter) hasServer(glob string) bool {
	for name := range c.labels {
		if like(name, glob) {
			return true
		}
	}
	return false
}

// orderedAllow writes a rule that allows.
func (c *converter) orderedAllow(w *policyWriter, r orderedRule) {
	if r.nobody || len(r.matches) == 0 {
		return
	}
	for _, h := range r.blocks() {
		when, ok := "", true
		if h.kind == "subject" && r.roles != nil {
			when, ok = hasRole(r.roles)
		}
		if !ok {
			c.Notes = append(c.Notes, where(r.place)+" is left out: a condition cannot have its roles")
			return
		}
		for _, one := range r.grouped() {
			w.add(h, rule{effect: "allow", servers: one.servers, tools: one.tools, when: when})
		}
	}
}

// orderedDeny writes a rule that denies, except what earlier rules allow.
func (c *converter) orderedDeny(w *policyWriter, r orderedRule, earlier []orderedRule) {
	if r.nobody || len(r.matches) == 0 {
		return
	}
	var except []string
	for _, e := range earlier {
		if !e.allow || e.nobody || !r.overlaps(e) {
			continue
		}
		text, ok := e.condition()
		if !ok {
			c.Notes = append(c.Notes, fmt.Sprintf("%s denies also what %s allows: a condition cannot except that", where(r.place), where(e.place)))
			continue
		}
		except = append(except, "!("+text+")")
	}
	for _, h := range r.blocks() {
		conditions := except
		if h.kind == "subject" && r.roles != nil {
			if when, ok := hasRole(r.roles); ok {
				conditions = append([]string{"(" + when + ")"}, except...)
			} else {
				c.Notes = append(c.Notes, where(r.place)+" denies whatever the role: a condition cannot have its roles")
			}
		}
		when := strings.Join(conditions, " && ")
		if len(when) > mostWhen {
			when = ""
			c.Notes = append(c.Notes, where(r.place)+" denies also what earlier rules allow: the condition would be too long")
		}
		for _, one := range r.grouped() {
			w.add(h, rule{effect: "deny", servers: one.servers, tools: one.tools, when: when})
		}
	}
}

// blocks returns the blocks that a rule belongs to.
func (r orderedRule) blocks() (all []holder) {
	switch {
	case r.subjects != nil:
		for _, name := range r.subjects {
			all = append(all, holder{"subject", name})
		}
	case r.roles != nil:
		for _, name := range r.roles {
			all = append(all, holder{"role", name})
		}
	default:
		all = []holder{{}}
	}
	return all
}

// A ruleNames are the servers and tools of one rule.
type ruleNames struct{ servers, tools []string }

// grouped returns the names with one rule for each pattern of servers.
func (r orderedRule) grouped() (all []ruleNames) {
	for _, m := range r.matches {
		servers := []string{m.server}
		if m.server == "*" {
			servers = nil
		}
		i := slices.IndexFunc(all, func(one ruleNames) bool { return slices.Equal(one.servers, servers) })
		if i < 0 {
			i, all = len(all), append(all, ruleNames{servers: servers})
		}
		all[i].tools = append(all[i].tools, m.tool)
	}
	return all
}

// overlaps reports whether two rules may be about the same use.
func (r orderedRule) overlaps(other orderedRule) bool {
	if r.subjects != nil && other.subjects != nil && !slices.ContainsFunc(r.subjects, func(s string) bool { return slices.Contains(other.subjects, s) }) {
		return false
	}
	return slices.ContainsFunc(r.matches, func(a toolMatch) bool {
		return slices.ContainsFunc(other.matches, func(b toolMatch) bool { return meet(a.server, b.server) && meet(a.tool, b.tool) })
	})
}

// meet reports whether some text matches both patterns.
func meet(a, b string) bool {
	// both[j]: some text matches the first i bytes of a and the first j bytes of b.
	both := make([]bool, len(b)+1)
	for i := range len(a) + 1 {
		next := make([]bool, len(b)+1)
		for j := range len(b) + 1 {
			starA, starB := i > 0 && a[i-1] == '*', j > 0 && b[j-1] == '*'
			switch {
			case i == 0 && j == 0:
				next[j] = true
			case starA || starB:
				next[j] = starA && both[j] || starB && next[j-1] || starA && j > 0 && next[j-1] || starB && i > 0 && both[j]
			case i > 0 && j > 0:
				next[j] = both[j-1] && a[i-1] == b[j-1]
			}
		}
		both = next
	}
	return both[len(b)]
}

// condition returns what a rule is about as a condition. ok is false for names that no
// condition can have.
func (r orderedRule) condition() (text string, ok bool) {
	var all []string
	if r.subjects != nil {
		all = append(all, fmt.Sprintf("contains(%s, principal.subject)", list(r.subjects)))
	}
	if r.roles != nil {
		roles, _ := hasRole(r.roles)
		all = append(all, "("+roles+")")
	}
	var tools []string
	for _, m := range r.matches {
		var both []string
		for _, side := range []struct{ what, glob string }{{"server", m.server}, {"tool", m.tool}} {
			switch {
			case side.glob == "*":
			case strings.Contains(side.glob, "*"):
				both = append(both, fmt.Sprintf("like(%s, %s)", side.what, quote(side.glob)))
			default:
				both = append(both, side.what+" == "+quote(side.glob))
			}
		}
		if both == nil {
			tools = nil
			break
		}
		tools = append(tools, strings.Join(both, " && "))
	}
	if tools != nil {
		all = append(all, "("+strings.Join(tools, " || ")+")")
	}
	text = strings.Join(all, " && ")
	return text, text != "" && plainASCII(text)
}

// hasRole returns the condition of having one of the roles.
func hasRole(roles []string) (text string, ok bool) {
	all := make([]string, len(roles))
	for i, name := range roles {
		all[i] = fmt.Sprintf("contains(principal.roles, %s)", quote(name))
	}
	text = strings.Join(all, " || ")
	return text, plainASCII(text) && len(text) <= mostWhen
}

// plainASCII reports whether a text has printable characters of ASCII only. Other texts may
// not be in the normal form of Unicode that conditions need.
func plainASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
