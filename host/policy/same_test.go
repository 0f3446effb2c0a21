package policy

import "testing"

// TestSame: what the blocks of servers offer is part of a policy, and the places of patterns
// are not.
func TestSame(t *testing.T) {
	of := func(allow, deny []Pattern) *Policy {
		return New(map[string]Server{"s": {Allow: allow, Deny: deny}}, Rules{})
	}
	at := func(glob, place string) []Pattern { return []Pattern{{Glob: glob, At: place}} }
	for name, c := range map[string]struct {
		a, b *Policy
		want bool
	}{
		"equal":              {of(at("a", "f:1:1"), nil), of(at("a", "f:1:1"), nil), true},
		"another place":      {of(at("a", "f:1:1"), at("b", "f:2:1")), of(at("a", "f:9:1"), at("b", "f:8:1")), true},
		"another allow":      {of(at("a", ""), nil), of(at("b", ""), nil), false},
		"another deny":       {of(nil, at("a", "")), of(nil, nil), false},
		"allow none":         {of(nil, nil), of([]Pattern{}, nil), false},
		"allow and not deny": {of(at("a", ""), nil), of(nil, at("a", "")), false},
		"another server":     {of(at("a", ""), nil), New(map[string]Server{"t": {Allow: at("a", "")}}, Rules{}), false},
		"no server":          {of(nil, nil), New(nil, Rules{}), true},
	} {
		if got := c.a.Same(c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
