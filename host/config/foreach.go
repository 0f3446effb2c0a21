package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// mostInstances bounds the servers of one block with for_each.
const mostInstances = 100

// instances reads a server block. A block with for_each stands for one server for each
// element of a map, or of a list of texts.
func (l *loader) instances(b *hclsyntax.Block) []*draft {
	if b.Body.Attributes[forEach] == nil {
		return []*draft{l.server(l.openBlock(b, ""))}
	}
	r := l.openBlock(b, "")
	v, a, set := r.publicValue(forEach, cty.DynamicPseudoType)
	if !set {
		return nil
	}
	at := a.Expr.Range()
	keys, ok := eachKeys(v)
	switch {
	case !ok:
		r.errorAt(at, `write for_each = { eu = "https://eu.example.com", us = "https://us.example.com" }, or for_each = ["eu", "us"]`, "%q must be a map or a list of texts, not %s", forEach, typeName(v.Type()))
		return nil
	case len(keys) > mostInstances:
		r.errorAt(at, "", "%q has %d elements; the most is %d", forEach, len(keys), mostInstances)
		return nil
	}
	if prefix := b.Body.Attributes["prefix"]; prefix != nil && len(keys) > 1 && !refersTo(prefix.Expr, "each") {
		r.errorAt(prefix.Expr.Range(), `write prefix = each.key, or leave it out`, "all servers of the block would have the same prefix")
		return nil
	}
	var drafts []*draft
	seen := map[string]bool{}
	for _, e := range keys {
		if seen[e.key] {
			r.errorAt(at, "", "%q has %q twice", forEach, e.key)
			continue
		}
		seen[e.key] = true
		one := r
		one.label = r.label + "_" + e.key
		one.what = `server "` + one.label + `"`
		one.in = one.what
		one.each = cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(e.key), "value": e.value})
		drafts = append(drafts, l.server(one))
	}
	return drafts
}

// forEach is the attribute that makes several servers of a block.
const forEach = "for_each"

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
