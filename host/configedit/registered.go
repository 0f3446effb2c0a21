package configedit

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Registered returns the value of the attribute registry by the name of its server. A value
// that is no plain text is left out. path is for errors only.
func Registered(text []byte, path string) (map[string]string, error) {
	blocks, err := serverBlocks(text, path)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, b := range blocks {
		a, given := b.Body.Attributes["registry"]
		if !given {
			continue
		}
		if value, ok := plainText(a.Expr); ok {
			all[b.Labels[0]] = value
		}
	}
	return all, nil
}

// plainText returns the value of a text without references.
func plainText(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	v, diags := t.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// Replace replaces plain texts in the block of a server: each that equals a key of with
// by its value. It returns the keys that were found. The error is [ErrNoServer], or one of
// the syntax.
func Replace(text []byte, path, name string, with map[string]string) (after []byte, found map[string]bool, err error) {
	blocks, err := serverBlocks(text, path)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range blocks {
		if b.Labels[0] == name {
			after, found = replaceIn(text, b.Body, with)
			return after, found, nil
		}
	}
	return nil, nil, ErrNoServer
}

func replaceIn(text []byte, body *hclsyntax.Body, with map[string]string) ([]byte, map[string]bool) {
	type place struct {
		start, end int
		to         string
	}
	var places []place
	found := map[string]bool{}
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		t, ok := n.(*hclsyntax.TemplateExpr)
		if !ok {
			return nil
		}
		if value, plain := plainText(t); plain {
			if to, wanted := with[value]; wanted {
				r := t.Range()
				places, found[value] = append(places, place{r.Start.Byte, r.End.Byte, to}), true
			}
		}
		return nil
	})
	slices.SortFunc(places, func(a, b place) int { return a.start - b.start })
	var out []byte
	last := 0
	for _, p := range places {
		out = append(append(out, text[last:p.start]...), hclwrite.TokensForValue(cty.StringVal(p.to)).Bytes()...)
		last = p.end
	}
	return append(out, text[last:]...), found
}
