package policy

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
)

// TestStrictPolicyDeniesAmbiguousTools checks ambiguous = "deny" under both defaults, beside
// rules with and without access.
func TestStrictPolicyDeniesAmbiguousTools(t *testing.T) {
	none := Ambiguous // of a rule about any access
	for _, c := range []struct {
		name     string
		fallback Effect
		strict   bool
		rules    []Rule
		access   Access
		want     Verdict
	}{
		{"the default allows", Allows, false, nil, Ambiguous, Allow},
		{"the default allows, strict", Allows, true, nil, Ambiguous, Deny},
		{"a tool that reads", Allows, true, nil, Read, Allow},
		{"a tool that writes", Allows, true, nil, Write, Allow},
		{"allow without access", Allows, true, []Rule{{Effect: Allows, Access: none}}, Ambiguous, Allow},
		{"allow write", Allows, true, []Rule{{Effect: Allows, Access: Write}}, Ambiguous, Deny},
		{"allow read", Denies, true, []Rule{{Effect: Allows, Access: Read}}, Ambiguous, Deny},
		{"deny read", Allows, false, []Rule{{Effect: Denies, Access: Read}}, Ambiguous, Allow},
		{"deny read, strict",
			Denies, true, []Rule{{Effect: Denies, Access: Read}, {Effect: Allows, Access: none}}, Ambiguous, Deny},
		{"deny write, strict",
			Denies, true, []Rule{{Effect: Denies, Access: Write}, {Effect: Allows, Access: none}}, Ambiguous, Deny},
		{"confirm read allows nothing", Denies, true, []Rule{{Effect: Confirms, Access: Read}}, Ambiguous, Deny},
		{"tighten read", Denies, true,
			[]Rule{{Effect: Confirms, Access: Read, Tightens: true}, {Effect: Allows, Access: none}},
			Ambiguous, Confirm},
	} {
		p := New(map[string]Server{"s": {}}, Rules{Given: true, Default: c.fallback, Strict: c.strict, Rules: c.rules})
		q := &Query{Principal: &authn.Principal{}, Item: Item{"s", Tool, "t"}, Access: c.access}
		if d := p.Decide(q); d.Verdict != c.want || d.Rule == "" {
			t.Errorf("%s: %v (%s), want %v", c.name, d.Verdict, d.Rule, c.want)
		}
	}
	p := New(map[string]Server{"s": {}}, Rules{Given: true, Default: Allows, Strict: true})
	if d := p.Decide(&Query{Principal: &authn.Principal{}, Item: Item{"s", Resource, "x://y"}}); d.Verdict != Allow {
		t.Errorf("a resource: %v (%s)", d.Verdict, d.Rule)
	}
}
