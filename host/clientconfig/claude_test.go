package clientconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestTooManyDenialsDenyAll: no denial of the settings is lost because there are many.
func TestTooManyDenialsDenyAll(t *testing.T) {
	for _, n := range []int{1, maxChoices, maxChoices + 1} {
		rules := make([]string, n)
		for i := range rules {
			rules[i] = fmt.Sprintf("mcp__other__t%d", i)
		}
		rules[n-1] = "mcp__files__delete"
		text, err := json.Marshal(map[string]any{"permissions": map[string]any{"deny": rules}})
		if err != nil {
			t.Fatal(err)
		}
		var s ClaudeSettings
		if err := s.Read(text); err != nil {
			t.Fatal(err)
		}
		all := []Server{{Name: "files", Command: []string{"x"}}}
		s.Restrict(all, "")
		one := all[0]
		many := n > maxChoices
		if one.Disabled != many || many != strings.Contains(fmt.Sprint(one.Notes), "more than 200 rules") ||
			!many && fmt.Sprint(one.Deny) != "[delete]" {
			t.Errorf("%d rules: %+v", n, one)
		}
	}
}
