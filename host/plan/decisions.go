package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// diffDecisions compares the decisions about items by principal. Items share decisions, so
// each pair of decisions is compared once. Diff calls it; it is pure.
func (c *Changes) diffDecisions(before, after *View, pairs []pair) {
	byPrincipal := map[string][]DecisionChange{}
	compared := map[[2]string][]string{}
	for _, p := range pairs {
		was, is := p.decisions(before, after)
		key := p.key()
		who, known := compared[key]
		if !known {
			who = differing(was, is)
			compared[key] = who
		}
		it := p.some()
		for _, name := range who {
			byPrincipal[name] = append(byPrincipal[name], DecisionChange{
				Server: it.Server, Kind: it.Kind, Item: it.Name, Name: it.Exposed, Before: was.of(name),
				After: is.of(name),
			})
		}
	}
	merge(before.Principals, after.Principals, strings.Compare, func(a, b *string) {
		one := PrincipalChange{Change: Changed}
		switch {
		case a == nil:
			one.Principal, one.Change = *b, Added
		case b == nil:
			one.Principal, one.Change = *a, Removed
		default:
			one.Principal = *b
		}
		one.Items = append([]DecisionChange{}, byPrincipal[one.Principal]...)
		if one.Change != Changed || len(one.Items) > 0 {
			c.Decisions = append(c.Decisions, one)
		}
	})
}

// key identifies the decisions of both versions. An item that is missing has the key "".
func (p pair) key() (key [2]string) {
	if p.before != nil {
		key[0] = p.before.Decided
	}
	if p.after != nil {
		key[1] = p.after.Decided
	}
	return key
}

// decisions returns the decisions about both versions; nil for one that is missing.
func (p pair) decisions(before, after *View) (was, is Decisions) {
	if p.before != nil {
		was = before.Decisions[p.before.Decided]
	}
	if p.after != nil {
		is = after.Decisions[p.after.Decided]
	}
	return was, is
}

// of returns the decision for a principal, or nil.
func (d Decisions) of(name string) *Decision {
	if one, ok := d[name]; ok {
		return &one
	}
	return nil
}

// differing returns the principals with different decisions, sorted.
func differing(was, is Decisions) (who []string) {
	for name, a := range was {
		if b, ok := is[name]; !ok || !a.same(b) {
			who = append(who, name)
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			who = append(who, name)
		}
	}
	slices.Sort(who)
	return who
}

// A listKey names the list of one kind that a principal gets.
type listKey struct{ principal, kind string }

// A listSize is the number of items in a list, and of their tokens.
type listSize struct{ items, tokens int }

// diffLists compares the sizes of the lists that principals get.
func (c *Changes) diffLists(before, after *View, pairs []pair) {
	was := before.listSizes(pairs, func(p pair) *Item { return p.before })
	is := after.listSizes(pairs, func(p pair) *Item { return p.after })
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for key := range keys {
		if a, b := was[key], is[key]; a != b {
			c.Lists = append(c.Lists, ListChange{
				Principal: key.principal, Kind: key.kind, ItemsBefore: a.items, ItemsAfter: b.items,
				TokensBefore: a.tokens, TokensAfter: b.tokens,
			})
		}
	}
	slices.SortFunc(c.Lists, func(a, b ListChange) int {
		return cmp.Or(strings.Compare(a.Principal, b.Principal), strings.Compare(a.Kind, b.Kind))
	})
}

// listSizes returns the sizes of the lists that show the items that of returns. It adds up
// the items with the same decisions first.
func (v *View) listSizes(pairs []pair, of func(pair) *Item) map[listKey]listSize {
	type decidedKind struct{ decided, kind string }
	sums := map[decidedKind]listSize{}
	for _, p := range pairs {
		if it := of(p); it != nil {
			sum := sums[decidedKind{it.Decided, it.Kind}]
			sums[decidedKind{it.Decided, it.Kind}] = listSize{sum.items + 1, sum.tokens + it.Tokens}
		}
	}
	sizes := map[listKey]listSize{}
	for key, sum := range sums {
		for name, d := range v.Decisions[key.decided] {
			if d.Lists() {
				size := sizes[listKey{name, key.kind}]
				sizes[listKey{name, key.kind}] = listSize{size.items + sum.items, size.tokens + sum.tokens}
			}
		}
	}
	return sizes
}
