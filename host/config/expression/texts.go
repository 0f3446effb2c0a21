package expression

import "github.com/zclconf/go-cty/cty"

// stringOf returns the text of a known string, and "" for any other value. v
// must not be marked.
func stringOf(v cty.Value) string {
	if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}

// textsIn lists the texts in the values. The values may be marked.
func textsIn(values ...cty.Value) []string {
	var texts []string
	for _, v := range values {
		v, _ = v.UnmarkDeep()
		_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
			if text := stringOf(v); text != "" {
				texts = append(texts, text)
			}
			return true, nil
		})
	}
	return texts
}
