package clientimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/condition"
)

const maxWhen = 4096 // bytes of a condition

// fallback makes a rule of what the last rule says about everything, and returns the rules
// before it that decide something else. In the file the first rule that matches decides. Here
// a rule that denies wins over one that allows. So a rule that denies gets a condition that
// excepts what earlier rules allow; all else is the same in both orders.
func (c *policyConverter) fallback(rules []*converted) []*converted {
	allow := c.policy.allow
	if n := len(rules); n > 0 && rules[n-1].all() {
		allow, rules = rules[n-1].allows(), rules[:n-1]
	}
	for len(rules) > 0 && rules[len(rules)-1].allows() == allow {
		rules = rules[:len(rules)-1] // the fallback says the same
	}
	switch {
	case c.policy.allow && !allow: // resources and prompts have the default of the file
		c.policy.allow = false
		c.policy.add(holder{},
			rule{Rule: clientconfig.Rule{Effect: clientconfig.Allow, Resources: []string{"*"}, Prompts: []string{"*"}}})
	case !c.policy.allow && allow:
		c.policy.add(holder{}, rule{Rule: clientconfig.Rule{Effect: clientconfig.Allow, Tools: []string{"*"}}})
	}
	return rules
}

// exceptions returns the conditions that except what earlier rules allow from one that denies.
func (c *policyConverter) exceptions(r *converted, earlier []*converted) (except []string) {
	for _, e := range earlier {
		if !e.allows() || e.nobody || !r.overlaps(e) {
			continue
		}
		if text, ok := e.condition(); ok {
			except = append(except, "!("+text+")")
		} else {
			c.noteRule(r, " denies also what %s allows: a condition cannot except that", e.where())
		}
	}
	return except
}

// overlaps reports whether two rules may be about the same use.
func (r *converted) overlaps(other *converted) bool {
	shared := func(s string) bool { return slices.Contains(other.Subjects, s) }
	if r.Subjects != nil && other.Subjects != nil && !slices.ContainsFunc(r.Subjects, shared) {
		return false
	}
	return slices.ContainsFunc(r.matches, func(a toolMatch) bool {
		return slices.ContainsFunc(other.matches, func(b toolMatch) bool {
			return condition.Overlap(a.server, b.server) && condition.Overlap(a.tool, b.tool)
		})
	})
}

// condition returns what a rule is about as a condition. ok is false for names that no
// condition can have.
func (r *converted) condition() (text string, ok bool) {
	var all []string
	if r.Subjects != nil {
		all = append(all, fmt.Sprintf("contains(%s, principal.subject)", list(r.Subjects)))
	}
	if r.Roles != nil {
		roles, _ := hasRole(r.Roles)
		all = append(all, "("+roles+")")
	}
	var tools []string
	for _, m := range r.matches {
		var both []string
		for _, text := range []string{is("server", m.server), is("tool", m.tool)} {
			if text != "" {
				both = append(both, text)
			}
		}
		if len(both) == 0 {
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

// is returns the condition that a name matches a pattern, or nothing if each name does.
func is(name, glob string) string {
	switch {
	case glob == "*":
		return ""
	case strings.Contains(glob, "*"):
		return fmt.Sprintf("like(%s, %s)", name, quote(glob))
	}
	return name + " == " + quote(glob)
}

// hasRole returns the condition of having one of the roles.
func hasRole(roles []string) (text string, ok bool) {
	all := make([]string, len(roles))
	for i, name := range roles {
		all[i] = fmt.Sprintf("contains(principal.roles, %s)", quote(name))
	}
	text = strings.Join(all, " || ")
	return text, plainASCII(text) && len(text) <= maxWhen
}

// plainASCII reports whether a text has printable characters of ASCII only. Other texts may
// not be in the normal form of Unicode that conditions need.
func plainASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
