package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/policy"
)

// ruleTexts returns the policies in words, without places: rules that have only moved have
// equal texts.
func ruleTexts(c *config.Config) (all []string) {
	all = rulesInWords("", c.Policy)
	for i, layer := range c.Policies {
		all = append(all, rulesInWords(fmt.Sprintf("layer %d: ", i+1), layer)...)
	}
	return append(all, rulesInWords("managed: ", c.Managed.Policy)...)
}

// rulesInWords returns the texts of a policy. prefix says which one it is.
func rulesInWords(prefix string, r policy.Rules) (all []string) {
	if !r.Given {
		return nil
	}
	defer func() {
		for i := range all {
			all[i] = prefix + all[i]
		}
	}()
	if all = append(all, "default "+r.Default.String()); r.Explain {
		all = append(all, "mode explain")
	}
	if r.Strict {
		all = append(all, "ambiguous deny")
	}
	if r.Zone != nil {
		all = append(all, "time_zone "+r.Zone.String())
	}
	for _, m := range r.Members {
		if len(m.Roles) > 0 {
			roles := slices.Sorted(slices.Values(m.Roles))
			all = append(all, fmt.Sprintf("roles of %s: %s", NamedPrincipal{Holder: m.Holder}, strings.Join(roles, ", ")))
		}
	}
	for _, one := range r.Rules {
		all = append(all, ruleInWords(one))
	}
	return all
}

// ruleInWords returns a rule without its place.
func ruleInWords(r policy.Rule) string {
	holder := "everyone"
	if r.Holder != (policy.Holder{}) {
		holder = NamedPrincipal{Holder: r.Holder}.String()
	}
	var parts []string
	list := func(name string, globs []string) {
		if globs != nil {
			parts = append(parts, name+" "+strings.Join(slices.Sorted(slices.Values(globs)), ", "))
		}
	}
	list("servers", r.Servers)
	list("tools", r.Tools)
	list("resources", r.Resources)
	list("prompts", r.Prompts)
	if r.Access != policy.Ambiguous {
		parts = append(parts, "access "+r.Access.String())
	}
	if r.Effect == policy.Confirms {
		parts = append(parts, ApprovalInWords(&r.Approval))
		if r.Tightens {
			parts = append(parts, "grants nothing")
		}
	}
	if r.When != nil {
		parts = append(parts, "when "+oneLine(r.When.Source))
	}
	text := fmt.Sprintf("%s for %s", r.Effect, holder)
	if len(parts) == 0 {
		return text
	}
	return text + ": " + strings.Join(parts, "; ")
}

// ApprovalInWords says how a use is confirmed, and by whom; "" without an approval.
func ApprovalInWords(a *policy.Approval) string {
	if a == nil {
		return ""
	}
	by := "another person"
	switch {
	case a.ByClient:
		by = "the client"
	case a.AtTerminal:
		by = "another person, or by yours at the terminal of junctor call"
	}
	text := fmt.Sprintf("by %s, waits %s, valid %s, covers the %s", by, a.Wait, a.Valid, a.Covers)
	if needs := a.Needs(); needs != "" {
		text += ", needs " + needs
	}
	return text
}

// oneLine joins the lines of an expression.
func oneLine(source string) string {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, " ")
}
