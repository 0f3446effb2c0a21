package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/plan"
	"github.com/junctor-mcp/junctor/host/policy/check"
)

// planShown is the number of lines of one part of a plan that are printed for people.
const planShown = 50

// Print prints the changes for a person, one part after the other.
func Print(inv *invocation.Invocation, c *plan.Changes) {
	printPart(inv, "servers", serverLines(c.Servers))
	printPart(inv, "blocks", blockLines(c.Blocks))
	printPart(inv, "items", itemLines(c.Items))
	printPart(inv, "rules", ruleLines(c.Rules))
	printPart(inv, "principals", principalLines(c.Decisions))
	for _, p := range c.Decisions {
		printPart(inv, p.Principal, decisionLines(p))
	}
	if len(c.Rules) > 0 && len(c.Decisions) == 0 {
		inv.Printf("decisions: none about a known item changes\n")
	}
	printPart(inv, "lists", listLines(c.Lists))
	for _, n := range c.NotAsked {
		inv.Printf("not compared: the items of server %s, %s\n", n.Server, whyNotCompared(n))
	}
	if c.LeftOut > 0 {
		inv.Printf("not compared: the last %s, because a view has at most %d items, %d decisions and %d MiB\n",
			terminal.Count(c.LeftOut, "item"), plan.MaxItems, plan.MaxCells, plan.MaxBytes>>20)
	}
	if c.Empty() {
		inv.Printf("no differences\n")
	}
}

// printPart prints a title and the first lines below it. A title without lines is left out.
func printPart(inv *invocation.Invocation, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	inv.Printf("%s:\n", terminal.OneCell(title))
	for _, line := range lines[:min(len(lines), planShown)] {
		inv.PrintChange("  ", strings.Join(strings.Fields(terminal.Safe(line)), " "))
	}
	if more := len(lines) - planShown; more > 0 {
		inv.Printf("  … and %d more; --json has all of them\n", more)
	}
}

// signs mark the kinds of changes.
var signs = map[string]string{plan.Added: "+", plan.Removed: "-", plan.Changed: "~"}

func serverLines(all []plan.ServerChange) (lines []string) {
	for _, s := range all {
		line := signs[s.Change] + " " + s.Server
		switch {
		case s.Blocked != "":
			line += " (not allowed: " + s.Blocked + ")"
		case !s.Enabled:
			line += " (disabled)"
		}
		if len(s.Settings) > 0 {
			line += ": " + strings.Join(s.Settings, ", ")
		}
		if s.Connection {
			line += "; the connection is another one"
		}
		lines = append(lines, line)
	}
	return lines
}

func blockLines(all []plan.BlockChange) (lines []string) {
	for _, b := range all {
		line := signs[b.Change] + " " + b.Block
		if len(b.Settings) > 0 {
			line += ": " + strings.Join(b.Settings, ", ")
		}
		lines = append(lines, line)
	}
	return lines
}

func itemLines(all []plan.ItemChange) (lines []string) {
	for _, it := range all {
		var parts []string
		if it.RenamedFrom != "" {
			parts = append(parts, "renamed from "+it.RenamedFrom)
		}
		if it.Schema {
			parts = append(parts, "schema changed")
		}
		if it.Description {
			parts = append(parts, "description changed")
		}
		if it.Other {
			parts = append(parts, "title, annotations or other members changed")
		}
		if it.Change == plan.Changed && it.AccessBefore != it.AccessAfter {
			parts = append(parts, fmt.Sprintf("access %s → %s", it.AccessBefore, it.AccessAfter))
		}
		line := fmt.Sprintf("%s %s %s", signs[it.Change], it.Kind, it.Name)
		if it.NewlyWrites {
			line += " [!] " + writing(it)
		}
		if len(parts) > 0 {
			line += ": " + strings.Join(parts, ", ")
		}
		lines = append(lines, line)
	}
	return lines
}

// writing says how a tool newly writes.
func writing(it plan.ItemChange) string {
	if it.AccessAfter == "write" {
		return "writes"
	}
	return "may write"
}

func ruleLines(all []plan.RuleChange) (lines []string) {
	for _, r := range all {
		lines = append(lines, signs[r.Change]+" "+r.Rule)
	}
	return lines
}

// principalLines lists the principals that only one of the configurations names.
func principalLines(all []plan.PrincipalChange) (lines []string) {
	for _, p := range all {
		if p.Change != plan.Changed {
			lines = append(lines, signs[p.Change]+" "+p.Principal)
		}
	}
	return lines
}

// decisionLines lists what a principal sees more, less and otherwise. Items that it sees
// neither before nor after are left out.
func decisionLines(p plan.PrincipalChange) (lines []string) {
	for _, d := range p.Items {
		before, after := decisionOr(d.Before), decisionOr(d.After)
		name := d.Name
		if d.Kind != "tool" {
			name = d.Kind + " " + name
		}
		switch {
		case after.Lists() && !before.Lists():
			lines = append(lines, fmt.Sprintf("+ %s (%s)", name, reason(after)))
		case before.Lists() && !after.Lists():
			why := "no longer there"
			if d.After != nil {
				why = reason(after)
			} else if p.Change == plan.Removed {
				why = "before: " + reason(before)
			}
			lines = append(lines, fmt.Sprintf("- %s (%s)", name, why))
		case before.Lists():
			lines = append(lines, fmt.Sprintf("~ %s: %s → %s", name, verdict(before), reason(after)))
		}
	}
	slices.SortStableFunc(lines,
		func(a, b string) int { return strings.Index("+-~", a[:1]) - strings.Index("+-~", b[:1]) })
	return lines
}

func decisionOr(d *plan.Decision) plan.Decision {
	if d == nil {
		return plan.Decision{}
	}
	return *d
}

// reason says what is decided, and by which rule.
func reason(d plan.Decision) string {
	text := verdict(d)
	if d.Approval != "" {
		text += " " + d.Approval
	}
	return text + ": " + d.Rule
}

// verdict says what is decided.
func verdict(d plan.Decision) string {
	switch d.Decision {
	case "depends":
		return "depends on the arguments"
	case "confirm":
		return "must be confirmed"
	}
	return d.Decision
}

func listLines(all []plan.ListChange) (lines []string) {
	for _, l := range all {
		lines = append(lines, fmt.Sprintf("%ss of %s: %d → %d, about %d → %d tokens (%+d)", l.Kind, l.Principal,
			l.ItemsBefore, l.ItemsAfter, l.TokensBefore, l.TokensAfter, l.TokensAfter-l.TokensBefore))
	}
	return lines
}

// whyNotCompared says which lists are missing.
func whyNotCompared(n plan.NotAsked) string {
	switch {
	case n.After != plan.Unknown:
		return "which was not asked before"
	case n.Before == "":
		return "which is new and was not asked yet; take --connect"
	}
	return "which was not asked yet; take --connect"
}

// warnOfTests warns if a configuration is not as its own test blocks expect.
func warnOfTests(inv *invocation.Invocation, app *host.App) {
	all, failed := check.RunTests(app.Config(), app), 0
	for _, r := range all {
		if !r.Passed {
			failed++
		}
	}
	if failed > 0 {
		inv.Warn(fmt.Sprintf("%d of %d tested uses of the new configuration are not decided as expected",
			failed, len(all)), "run `junctor test` to see them")
	}
}
