package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// policyDiagnostics reports rules that match none of the known tools, and conditions that
// cannot work for any tool that their rule is about.
func (g *generation) policyDiagnostics() (all config.Diagnostics) {
	tools := g.Catalog.Snapshot().Tools
	if len(tools) == 0 {
		return nil
	}
	for _, rules := range []policy.Rules{g.Config.Managed.Policy, g.Config.Policy} {
		for _, r := range rules.Rules {
			about := toolsOf(r, rules.Strict, tools)
			switch {
			case len(about) == 0 && r.Tools != nil && !g.listsMissing(r):
				all = append(all, policyWarning(r.At, nearestTool(r, tools), "the rule is about none of the known tools"))
			case len(about) > 0 && r.When != nil:
				all = append(all, conditionDiagnostics(r.When, about)...)
			}
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

// listsMissing reports whether the tools of a server that the rule is about are not known.
func (g *generation) listsMissing(r policy.Rule) bool {
	for _, server := range g.Catalog.Unknown("") {
		if r.Servers == nil || matchesAny(r.Servers, server) {
			return true
		}
	}
	return false
}

func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		if condition.Like(name, glob) {
			return true
		}
	}
	return false
}

// nearestTool returns a hint with the tool that the rule may mean.
func nearestTool(r policy.Rule, tools []*catalog.Tool) string {
	var names []string
	for _, t := range tools {
		if r.Servers == nil || matchesAny(r.Servers, t.Server) {
			names = append(names, t.Name)
		}
	}
	for _, glob := range r.Tools {
		if near := suggest.Nearest(glob, names); near != "" {
			return fmt.Sprintf("did you mean %q?", near)
		}
	}
	return "rules have the server's own names of tools, as in junctor policy table"
}

// A conditionCheck compares a condition with the tools of its rule.
type conditionCheck struct {
	wrong map[string]int // tools for which a place is wrong
	first []condition.Mismatch
	names []string // of all arguments
}

// conditionDiagnostics reports what is wrong with a condition for all tools.
func conditionDiagnostics(c *condition.Condition, tools []*catalog.Tool) (all config.Diagnostics) {
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
			all = append(all, policyWarning(m.At, hint, "no tool that the rule is about has the argument %q, so it is always null", m.Argument))
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
func policyWarning(at, hint, format string, args ...any) config.Diagnostic {
	d := config.Diagnostic{Severity: config.Warning, Summary: fmt.Sprintf(format, args...), Hint: hint, In: "policy"}
	file, column := cutLast(at)
	file, line := cutLast(file)
	d.At = config.Position{File: file, Line: line, Column: column}
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
