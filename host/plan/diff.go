package plan

import (
	"maps"
	"slices"
	"strings"
)

// Diff returns the changes from one view to another. Items of servers whose lists one of the
// views does not have are not compared; neither are those that one view left out.
func Diff(before, after *View) *Changes {
	c := &Changes{
		Servers: []ServerChange{}, NotAsked: []NotAsked{}, Blocks: []BlockChange{},
		Items: []ItemChange{}, Rules: []RuleChange{},
		Decisions: []PrincipalChange{}, Lists: []ListChange{}, LeftOut: max(before.LeftOut, after.LeftOut),
	}
	c.diffServers(before, after)
	if before.Blocks != nil && after.Blocks != nil {
		c.diffBlocks(before.Blocks, after.Blocks, slices.Concat(before.Unread, after.Unread))
	}
	c.diffRules(before.Rules, after.Rules)
	pairs := comparablePairs(before, after, c.NotAsked)
	c.diffItems(pairs)
	c.diffDecisions(before, after, pairs)
	c.diffLists(before, after, pairs)
	return c
}

// merge calls each with the elements of two sorted lists, in order. One of the arguments is
// nil for an element that only one of the lists has.
func merge[T any](before, after []T, compare func(a, b T) int, each func(a, b *T)) {
	for i, j := 0, 0; i < len(before) || j < len(after); {
		order := 0
		switch {
		case i == len(before):
			order = 1
		case j == len(after):
			order = -1
		default:
			order = compare(before[i], after[j])
		}
		var a, b *T
		if order <= 0 {
			a = &before[i]
			i++
		}
		if order >= 0 {
			b = &after[j]
			j++
		}
		each(a, b)
	}
}

func (c *Changes) diffRules(before, after []string) {
	merge(before, after, strings.Compare, func(a, b *string) {
		switch {
		case a == nil:
			c.Rules = append(c.Rules, RuleChange{*b, Added})
		case b == nil:
			c.Rules = append(c.Rules, RuleChange{*a, Removed})
		}
	})
}

func (c *Changes) diffServers(before, after *View) {
	merge(before.Servers, after.Servers, compareServers, func(a, b *Server) {
		switch {
		case a == nil:
			c.Servers = append(c.Servers,
				ServerChange{Server: b.Name, Change: Added, Enabled: b.Enabled, Blocked: b.Blocked})
		case b == nil:
			c.Servers = append(c.Servers,
				ServerChange{Server: a.Name, Change: Removed, Enabled: a.Enabled, Blocked: a.Blocked})
		default:
			c.diffServer(a, b)
		}
		n := NotAsked{}
		if a != nil {
			n.Server, n.Before = a.Name, a.Lists
		}
		if b != nil {
			n.Server, n.After = b.Name, b.Lists
		}
		if n.Before == Unknown || n.After == Unknown {
			c.NotAsked = append(c.NotAsked, n)
		}
	})
}

func compareServers(a, b Server) int { return strings.Compare(a.Name, b.Name) }

// diffServer compares two blocks of one server.
func (c *Changes) diffServer(a, b *Server) {
	one := ServerChange{Server: b.Name, Change: Changed, Enabled: b.Enabled, Blocked: b.Blocked}
	if a.Enabled != b.Enabled || a.Blocked != b.Blocked {
		one.Settings = append(one.Settings, "enabled")
	}
	if a.Enabled && b.Enabled { // the settings of a disabled server are not known
		one.Connection = a.Fingerprint != b.Fingerprint
		one.Settings = append(one.Settings, differentSettings(a.Settings, b.Settings)...)
	}
	if len(one.Settings) > 0 || one.Connection {
		c.Servers = append(c.Servers, one)
	}
}

// diffBlocks compares the blocks about the whole process but for those that were not read.
func (c *Changes) diffBlocks(before, after map[string]map[string]string, unread []string) {
	for _, block := range keysOf(before, after) {
		if slices.Contains(unread, block) {
			continue
		}
		a, in := before[block]
		b, out := after[block]
		one := BlockChange{Block: block, Change: Changed}
		switch {
		case !in:
			one.Change = Added
		case !out:
			one.Change = Removed
		default:
			if one.Settings = differentSettings(a, b); len(one.Settings) == 0 {
				continue
			}
		}
		c.Blocks = append(c.Blocks, one)
	}
}

// differentSettings returns the sorted names of the settings that differ.
func differentSettings(a, b map[string]string) (names []string) {
	for _, name := range keysOf(a, b) {
		x, in := a[name]
		y, out := b[name]
		if x != y || in != out {
			names = append(names, name)
		}
	}
	return names
}

// keysOf returns the sorted keys of two maps.
func keysOf[T any](a, b map[string]T) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// A pair is an item in both views; one is nil if that view does not have it.
type pair struct{ before, after *Item }

// some returns the item after, or else the one before.
func (p pair) some() *Item {
	if p.after != nil {
		return p.after
	}
	return p.before
}

// comparablePairs returns the items of both views that can be compared.
func comparablePairs(before, after *View, notAsked []NotAsked) (pairs []pair) {
	skipped := map[string]bool{}
	for _, n := range notAsked {
		skipped[n.Server] = true
	}
	merge(before.Items, after.Items, CompareItems, func(a, b *Item) {
		p := pair{a, b}
		if !skipped[p.some().Server] && before.reaches(p.some()) && after.reaches(p.some()) {
			pairs = append(pairs, p)
		}
	})
	return pairs
}

// reaches reports whether a view would have an item: it has all of them up to its last one,
// if it left some out.
func (v *View) reaches(it *Item) bool {
	return v.LeftOut == 0 || len(v.Items) > 0 && CompareItems(*it, v.Items[len(v.Items)-1]) <= 0
}

func (c *Changes) diffItems(pairs []pair) {
	for _, p := range pairs {
		it := p.some()
		one := ItemChange{Server: it.Server, Kind: it.Kind, Item: it.Name, Name: it.Exposed, Change: Changed}
		if p.before != nil {
			one.AccessBefore, one.TokensBefore = p.before.Access, p.before.Tokens
		}
		if p.after != nil {
			one.AccessAfter, one.TokensAfter = p.after.Access, p.after.Tokens
		}
		one.NewlyWrites = p.after != nil && p.after.writes() && (p.before == nil || !p.before.writes())
		switch {
		case p.before == nil:
			one.Change = Added
		case p.after == nil:
			one.Change = Removed
		case !one.compare(p.before, p.after):
			continue
		}
		c.Items = append(c.Items, one)
	}
}

// compare notes how two versions of an item differ, and reports whether they do.
func (c *ItemChange) compare(a, b *Item) bool {
	if a.Exposed != b.Exposed {
		c.RenamedFrom = a.Exposed
	}
	c.Description, c.Schema = a.Description != b.Description, a.Schema != b.Schema
	c.Other = a.Entry != b.Entry && !c.Description && !c.Schema
	return c.RenamedFrom != "" || c.Description || c.Schema || c.Other || a.Access != b.Access || a.Tokens != b.Tokens
}

// writes reports whether an item may write. A tool that is ambiguous may.
func (it *Item) writes() bool { return it.Access != "read" }
