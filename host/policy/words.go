package policy

import (
	"fmt"
	"slices"
	"strings"
)

// InWords returns the name of a holder for people, such as "role intern" or "subject ada of
// tenant acme". The functions of this file are pure. Their texts are for people, and are
// compared by reviews of changes.
func (h Holder) InWords() string {
	text := h.Kind + " " + h.Name
	if h.Tenant != "" {
		text += " of tenant " + h.Tenant
	}
	if h.Issuer != "" {
		text += " of issuer " + h.Issuer
	}
	return text
}

// InWords returns the texts of a policy, without places: rules that have only moved have
// equal texts.
func (r Rules) InWords() (all []string) {
	if !r.Given {
		return nil
	}
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
			all = append(all, fmt.Sprintf("roles of %s: %s", m.Holder.InWords(), strings.Join(roles, ", ")))
		}
	}
	for _, one := range r.Rules {
		all = append(all, one.InWords())
	}
	return all
}

// InWords returns a rule without its place.
func (r Rule) InWords() string {
	holder := "everyone"
	if r.Holder != (Holder{}) {
		holder = r.Holder.InWords()
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
	if r.Access != Ambiguous {
		parts = append(parts, "access "+r.Access.String())
	}
	if r.Effect == Confirms {
		parts = append(parts, r.Approval.InWords())
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

// InWords says how a use is confirmed; "" without an approval.
func (a *Approval) InWords() string {
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
