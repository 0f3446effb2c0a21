package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// rules reports names of tools that match none of the known ones, rules about
// no tool, conditions that cannot work for any tool that their rule is about, and holders
// that no client can be.
func rules(c *config.Config, in *catalog.Catalog) (all source.Diagnostics) {
	tools := in.Snapshot().Tools
	unchecked := map[string]bool{}
	for _, part := range append([]policy.Rules{c.Managed.Policy, c.Policy}, c.Policies...) {
		for _, r := range part.Rules {
			if missing := listsMissing(r, in); len(missing) > 0 {
				all = append(all, uncheckedRule(r, missing, unchecked)...)
				continue
			}
			about := toolsOf(r, part.Strict, tools)
			all = append(all, ruleDiagnostics(r, about, tools)...)
			if len(about) > 0 && r.When != nil {
				all = append(all, conditionDiagnostics(r.When, about)...)
			}
		}
	}
	all = append(all, holderDiagnostics(c)...)
	return append(all, Tests(c, in)...)
}

// uncheckedRule reports the servers whose tools a rule was not checked against, each once.
func uncheckedRule(r policy.Rule, missing []string, reported map[string]bool) (all source.Diagnostics) {
	if r.Tools == nil && r.When == nil {
		return nil
	}
	for _, server := range missing {
		if !reported[server] {
			reported[server] = true
			all = append(all, policyWarning(r.At, "run `junctor tools "+server+"` first",
				"the tools of server %q are not known yet, so this rule and others were not checked against them",
				server))
		}
	}
	return all
}

// ruleDiagnostics reports the names in a rule that match no known tool, or else that its
// access matches none.
func ruleDiagnostics(r policy.Rule, about, tools []*catalog.Tool) (all source.Diagnostics) {
	var names []string
	for _, t := range tools {
		if r.Servers == nil || matchesAny(r.Servers, t.Server) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil // of servers without tools
	}
	for _, glob := range r.Tools {
		if slices.ContainsFunc(names, func(name string) bool { return condition.Like(name, glob) }) {
			continue
		}
		hint := "rules have the server's own names of tools, as in junctor policy classify"
		if near := suggest.Nearest(glob, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		all = append(all, policyWarning(r.At, hint, "none of the known tools is called %q", glob))
	}
	if len(all) == 0 && len(about) == 0 && r.Resources == nil && r.Prompts == nil {
		all = append(all, policyWarning(
			r.At,
			"junctor policy classify says why; tools { read = [...] } in the server block says which tools read",
			"the rule is about none of the known tools, because of its access",
		))
	}
	return all
}

// holderDiagnostics reports subjects, groups and roles of the policy that no client can be,
// if all credentials are static tokens.
func holderDiagnostics(c *config.Config) (all source.Diagnostics) {
	subjects, roles := []string{authn.Local().Subject}, []string{}
	for _, auth := range c.Gateway.HTTP.Auth {
		t, static := auth.Settings.(inbound.StaticToken)
		if !static {
			return nil
		}
		subjects, roles = append(subjects, t.Subject), append(roles, t.Roles...)
	}
	if len(subjects) == 1 {
		return nil // clients may be anyone
	}
	for _, m := range c.Policy.Members {
		roles = append(roles, m.Roles...)
		switch {
		case m.Holder.Kind == "group":
			all = append(all, policyWarning(
				m.At,
				"only auth \"jwt\" and the like give groups",
				"no client is in the group %q, because a static token has no groups",
				m.Holder.Name,
			))
		case !slices.Contains(subjects, m.Holder.Name):
			hint := "tokens are for " + strings.Join(subjects[1:], ", ")
			if near := suggest.Nearest(m.Holder.Name, subjects); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			all = append(all, policyWarning(m.At, hint, "no client is the subject %q", m.Holder.Name))
		}
	}
	reported := map[string]bool{}
	for _, r := range c.Policy.Rules {
		if name := r.Holder.Name; r.Holder.Kind == "role" && !slices.Contains(roles, name) && !reported[name] {
			reported[name] = true
			all = append(all, policyWarning(
				r.At, "give it to a token, or to a subject block", "no client has the role %q", name,
			))
		}
	}
	return all
}

func toolsOf(r policy.Rule, strict bool, tools []*catalog.Tool) (about []*catalog.Tool) {
	for _, t := range tools {
		if r.About(policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}, t.Class.Kind, strict) {
			about = append(about, t)
		}
	}
	return about
}

// listsMissing returns the servers that the rule is about and whose tools are not known.
func listsMissing(r policy.Rule, in *catalog.Catalog) (missing []string) {
	for _, server := range in.Unknown("") {
		if r.Servers == nil || matchesAny(r.Servers, server) {
			missing = append(missing, server)
		}
	}
	return missing
}

func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		if condition.Like(name, glob) {
			return true
		}
	}
	return false
}

// A conditionCheck compares a condition with the tools of its rule. It belongs to one run over
// the tools of a rule.
type conditionCheck struct {
	wrong map[string]int // tools for which a place is wrong
	first []condition.Mismatch
	names []string // of all arguments
}

// conditionDiagnostics reports what is wrong with a condition for all tools.
func conditionDiagnostics(c *condition.Condition, tools []*catalog.Tool) (all source.Diagnostics) {
	check := conditionCheck{wrong: map[string]int{}}
	for _, t := range tools {
		check.tool(c, t)
	}
	for _, m := range check.first {
		switch {
		case check.wrong[m.At] < len(tools): // it works for some
		case m.Text != "":
			all = append(all, policyWarning(m.At, "", "%s", m.Text))
		default:
			hint := ""
			if near := suggest.Nearest(m.Argument, check.names); near != "" {
				hint = fmt.Sprintf("did you mean args.%s?", near)
			}
			all = append(all, policyWarning(
				m.At, hint, "no tool that the rule is about has the argument %q, so it is always null", m.Argument,
			))
		}
	}
	return all
}

func (k *conditionCheck) tool(c *condition.Condition, t *catalog.Tool) {
	types := map[string]string{}
	for _, p := range schema.Properties(t.Input) {
		types[p.Name] = p.Type
		k.names = append(k.names, p.Name)
	}
	if len(types) == 0 {
		return // any argument may be meant
	}
	for _, name := range t.Pinned() {
		types[name] = "any"
	}
	seen := map[string]bool{}
	for _, m := range c.Mismatches(types) {
		if seen[m.At] {
			continue
		}
		seen[m.At] = true
		if m.Text != "" {
			m.Text = fmt.Sprintf("in tool %q: %s, so the condition fails", t.Name, m.Text)
		}
		if k.wrong[m.At]++; k.wrong[m.At] == 1 {
			k.first = append(k.first, m)
		}
	}
}

// policyWarning makes a diagnostic of a place as text, FILE:LINE:COLUMN.
func policyWarning(at, hint, format string, args ...any) source.Diagnostic {
	d := source.Diagnostic{Severity: source.Warning, Summary: fmt.Sprintf(format, args...), Hint: hint, In: "policy"}
	file, column := cutLast(at)
	file, line := cutLast(file)
	d.At = source.Position{File: file, Line: line, Column: column}
	d.End = d.At
	return d
}

// cutLast cuts a number behind the last colon of a text.
func cutLast(text string) (before string, number int) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0
	}
	number, _ = strconv.Atoi(text[i+1:]) // Position.String wrote it
	return text[:i], number
}
