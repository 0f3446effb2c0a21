package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/managed"
)

// maxInstances bounds the servers of one block with for_each.
const maxInstances = 100

// drafts reads the server blocks of all scopes: those of the managed configuration, then
// those of the layers, the strongest first.
func (l *loader) drafts(rules managed.Rules) (all []*draft) {
	forced := l.managedBlocks("server")
	for _, b := range forced {
		all = append(all, l.instances(l.managed, b, nil)...)
	}
	for _, d := range all {
		d.managed = true
	}
	warned := false
	for _, layer := range l.layers {
		taken := map[string]bool{}
		for _, d := range all {
			taken[d.Name] = true
		}
		for _, s := range layer.tree() {
			for _, b := range s.top["server"] {
				r := s.open(b, "")
				switch {
				case rules.Exclusive && !warned:
					warned = true
					r.WarnAt(b.TypeRange, "ask the administrator of this machine to add what you need",
						"only the servers of the managed configuration at %s are used, and not yours", rules.At)
				case rules.Exclusive:
				case slices.ContainsFunc(forced,
					func(o *hclsyntax.Block) bool { return language.LabelOf(o) == s.owner+language.LabelOf(b) }):
					r.WarnAt(b.TypeRange, "give yours another name",
						"the managed configuration has a server %q, so this block is not used",
						s.owner+language.LabelOf(b))
				default:
					all = append(all, l.instances(s, b, taken)...)
				}
			}
		}
	}
	return all
}

// instances reads a server block of a scope. A block with for_each stands for one
// server for each element of a map, or of a list of texts. Servers of stronger layers, which
// are taken, are left out.
func (l *loader) instances(of *scope, b *hclsyntax.Block, taken map[string]bool) []*draft {
	r := of.open(b, "")
	if of.owner != "" && r.Label != "" {
		r = r.called(of.owner + r.Label)
	}
	if b.Body.Attributes[expression.ForEach] == nil {
		if l.shadow(r, taken) {
			return nil
		}
		return []*draft{l.server(r)}
	}
	v, a, set := r.PublicValue(expression.ForEach, cty.DynamicPseudoType)
	switch {
	case !set && r.IsSkipped(expression.ForEach):
		// Never evaluated.
		r = of.reader(r.Reader, cty.ObjectVal(map[string]cty.Value{"key": cty.DynamicVal, "value": cty.DynamicVal}))
		return []*draft{l.server(r)}
	case !set:
		return nil
	}
	at := a.Expr.Range()
	keys, ok := eachKeys(v)
	switch {
	case !ok:
		r.ErrorAt(at, `write for_each = { eu = "https://eu.example.com", us = "https://us.example.com" }, or for_each = ["eu", "us"]`,
			"%q must be a map or a list of texts, not %s", expression.ForEach, language.TypeName(v.Type()))
		return nil
	case len(keys) > maxInstances:
		r.ErrorAt(at, "", "%q has %d elements; the most is %d", expression.ForEach, len(keys), maxInstances)
		return nil
	}
	if prefix := b.Body.Attributes["prefix"]; prefix != nil && len(keys) > 1 && !refersTo(prefix.Expr, "each") {
		r.ErrorAt(prefix.Expr.Range(), `write prefix = each.key, or leave it out`,
			"all servers of the block would have the same prefix")
		return nil
	}
	var drafts []*draft
	seen := map[string]bool{}
	for _, e := range keys {
		if seen[e.key] {
			r.ErrorAt(at, "", "%q has %q twice", expression.ForEach, e.key)
			continue
		}
		seen[e.key] = true
		one := r.called(r.Label + "_" + e.key)
		one = of.reader(one.Reader, cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(e.key), "value": e.value}))
		if !l.shadow(one, taken) {
			drafts = append(drafts, l.server(one))
		}
	}
	return drafts
}

// called returns a reader of a server block under another name than its label.
func (r blockReader) called(name string) blockReader {
	r.Label = name
	r.What = fmt.Sprintf("server %q", name)
	r.In = r.What
	return r
}

// shadow reports whether a stronger layer has the server, and notes the block then.
func (l *loader) shadow(r blockReader, taken map[string]bool) bool {
	if !taken[r.Label] {
		return false
	}
	l.shadowed = append(l.shadowed, Shadowed{Server: r.Label, At: source.StartOf(r.Head)})
	return true
}

// An element is one of for_each.
type element struct {
	key   string
	value cty.Value
}

// eachKeys returns the elements of a map or of a list of texts.
func eachKeys(v cty.Value) (all []element, ok bool) {
	t := v.Type()
	switch {
	case t.IsObjectType() || t.IsMapType():
		for it := v.ElementIterator(); it.Next(); {
			key, value := it.Element()
			all = append(all, element{key.AsString(), value})
		}
		return all, true
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		for it := v.ElementIterator(); it.Next(); {
			_, value := it.Element()
			if value.Type() != cty.String || value.IsNull() {
				return nil, false
			}
			all = append(all, element{value.AsString(), value})
		}
		return all, true
	}
	return nil, false
}

// refersTo reports whether an expression uses a name.
func refersTo(e hclsyntax.Expression, root string) bool {
	for _, t := range e.Variables() {
		if t.RootName() == root {
			return true
		}
	}
	return false
}
