package catalog

import (
	"fmt"
	"strings"
	"testing"
)

func changeText(all []Change) (lines []string) {
	for _, c := range all {
		line := c.Tool
		switch {
		case c.Added:
			line += " added"
		case c.Removed:
			line += " removed"
		}
		for _, m := range c.Members {
			line += fmt.Sprintf(" %s: %s → %s;", m.Name, m.Before, m.After)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestChangesOfTools remembers how the definitions of tools differ, the newest first.
func TestChangesOfTools(t *testing.T) {
	const schema = `"inputSchema":{"type":"object"}`
	a := old(`{"name":"x","description":"reads",`+schema+`}`, `{"name":"y",`+schema+`}`)
	s := newFixture("", a)
	defer s.close()
	if failed := s.Ensure(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	if all := s.Changes("a"); len(all) > 0 {
		t.Errorf("the first list: %q", changeText(all))
	}
	a.Set("tools/list", `{"name":"x","description":"reads and sends",`+schema+`,"annotations":{"readOnlyHint":true}}`, `{"name":"z",`+schema+`}`)
	s.Refresh(t.Context())
	a.Set("tools/list", `{"name":"x",`+schema+`}`, `{"name":"z",`+schema+`}`)
	s.Refresh(t.Context())
	want := []string{
		`x annotations: {"readOnlyHint":true} → ; description: "reads and sends" → ;`,
		`x annotations:  → {"readOnlyHint":true}; description: "reads" → "reads and sends";`,
		"y removed",
		"z added",
	}
	if got := changeText(s.Changes("a")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if all := s.Changes("unknown"); len(all) > 0 {
		t.Errorf("an unknown server: %q", changeText(all))
	}
}

// TestChangesAreBounded: a server that changes again and again takes little memory.
func TestChangesAreBounded(t *testing.T) {
	large := func(member string) []byte {
		return []byte(`{"name":"x","` + member + `":"` + strings.Repeat("x", 3*maxMemberBytes) + `"}`)
	}
	m := CompareDefinitions(large("a"), large("b"))
	if len(m) != 2 || len(m[0].Before) != maxMemberBytes || m[0].After != nil || len(m[1].After) != maxMemberBytes {
		t.Errorf("%d members, %d and %d bytes", len(m), len(m[0].Before), len(m[1].After))
	}
	many := `{"name":"x"`
	for i := range 100 {
		many += fmt.Sprintf(`,"m%d":1`, i)
	}
	if m := CompareDefinitions([]byte(`{"name":"x"}`), []byte(many+"}")); len(m) != maxMemberChanges {
		t.Errorf("%d members", len(m))
	}
	one := Change{Tool: "x", Members: []MemberChange{{Name: "a", Before: make([]byte, maxMemberBytes), After: make([]byte, maxMemberBytes)}}}
	var all []Change
	for i := range 200 {
		one.Tool = fmt.Sprint(i)
		all = newest(append(all, one))
	}
	if n := len(all); n != maxChangeBytes/(2*maxMemberBytes)-1 || all[n-1].Tool != "199" {
		t.Errorf("%d changes are remembered, the last is %s", n, all[n-1].Tool)
	}
	all = nil
	for range 200 {
		all = newest(append(all, Change{Tool: "x", Added: true}))
	}
	if len(all) != maxChanges {
		t.Errorf("%d small changes are remembered", len(all))
	}
}
