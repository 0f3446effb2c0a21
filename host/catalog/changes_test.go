package catalog

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
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
	a.Set("tools/list", `{"name":"x","description":"reads and sends",`+schema+`,"annotations":{"readOnlyHint":true}}`,
		`{"name":"z",`+schema+`}`)
	s.Refresh(t.Context())
	a.Set("tools/list", `{"name":"x",`+schema+`}`, `{"name":"z",`+schema+`}`)
	s.Refresh(t.Context())
	want := []string{
		`x description: "reads and sends" → ; annotations: {"readOnlyHint":true} → ;`,
		`x description: "reads" → "reads and sends"; annotations:  → {"readOnlyHint":true};`,
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

// TestDifferenceBehindALongTextIsShown: a server must not hide a difference behind a long text, or
// among members in another order.
func TestDifferenceBehindALongTextIsShown(t *testing.T) {
	long := strings.Repeat("漢", maxHeldBytes)
	define := func(description, schema string) []byte {
		return []byte(`{"name":"x","description":"` + description + `","inputSchema":` + schema + `}`)
	}
	const one, other = `{"type":"object","title":"t"}`, `{"title":"t", "type":"object"}`
	m, more := CompareDefinitions(define(long+"reads", one), define(long+"sends", other))
	if len(m) != 1 || more != 0 || !m[0].Cut || !strings.HasSuffix(string(m[0].Before), `reads"`) ||
		!strings.HasSuffix(string(m[0].After), `sends"`) {
		t.Fatalf("%d members: %.100s", len(m), fmt.Sprint(changeText([]Change{{Members: m}})))
	}
	if !utf8.Valid(m[0].Before) || len(m[0].Before) > contextBytes+10 {
		t.Errorf("%d bytes: %.40q", len(m[0].Before), m[0].Before)
	}
	for _, shorter := range []string{long, ""} { // one is the beginning of the other
		m, _ = CompareDefinitions(define(shorter, one), define(long+"sends", one))
		if len(m) != 1 || !m[0].Cut || shorter != "" && !strings.HasSuffix(string(m[0].After), `sends"`) ||
			m[0].Before == nil {
			t.Errorf("%d members: %.100q", len(m), m[0].After)
		}
	}
	if m, _ = CompareDefinitions(nil, define(long, one)); len(m) != 3 || m[1].Before != nil ||
		len(m[1].After) != maxHeldBytes {
		t.Errorf("a new tool: %d members", len(m))
	}
	if m, more = CompareDefinitions(define("a", one), define("a", other)); len(m) > 0 || more > 0 {
		t.Errorf("another order: %q", changeText([]Change{{Members: m}}))
	}
}

// TestChangesAreBounded: a server that changes again and again takes little memory.
func TestChangesAreBounded(t *testing.T) {
	large := func(member string) []byte {
		return []byte(`{"name":"x","` + member + `":"` + strings.Repeat("x", 3*maxMemberBytes) + `"}`)
	}
	m, _ := compare(large("a"), large("b"), maxMemberBytes)
	if len(m) != 2 || len(m[0].Before) != maxMemberBytes || m[0].After != nil || len(m[1].After) != maxMemberBytes ||
		!m[0].Cut || !m[1].Cut {
		t.Errorf("%d members, %d and %d bytes", len(m), len(m[0].Before), len(m[1].After))
	}
	if m, more := CompareDefinitions(large("a"), nil); len(m) != 2 || m[0].Cut || m[1].Cut ||
		len(m[1].Before) != 3*maxMemberBytes+2 || more != 0 {
		t.Errorf("%d members of a tool that is held back, and %d more", len(m), more)
	}
	many := `{"name":"x"`
	for i := range 100 {
		many += fmt.Sprintf(`,"m%d":1`, i)
	}
	m, more := CompareDefinitions([]byte(`{"name":"x","description":"reads"}`), []byte(many+`,"description":"sends"}`))
	if len(m) != maxMemberChanges || more != 101-maxMemberChanges || m[0].Name != "description" {
		t.Errorf("%d members, and %d more: %+v", len(m), more, m)
	}
	one := Change{Tool: "x",
		Members: []MemberChange{{Name: "a", Before: make([]byte, maxMemberBytes), After: make([]byte, maxMemberBytes)}}}
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
