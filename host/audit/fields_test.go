package audit

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden file and the page instead of comparing them")

// fullRow returns the row of an event that has every field, and its content.
func fullRow(t *testing.T) (*Row, []byte) {
	t.Helper()
	e := sample(1)
	e.Time = time.Date(2026, 11, 1, 10, 0, 0, 120_000_000, time.UTC)
	e.Roles, e.Groups, e.Rounds, e.DurationMS = []string{"dev", "<ops>"}, []string{"a\tb"}, 2,
		Milliseconds(1234567*time.Nanosecond)
	e.RuleName, e.Policy, e.AccessConfidence, e.Hidden = "nights", "b1946ac9", 0.75, 3
	e.Outcome, e.Code, e.Message, e.RetryAfterMS = Denied, "policy.denied", "not <now> \u2028 & never", 1500
	e.Result, e.Plugin, e.By, e.Approval, e.Detail, e.Count = []byte(`{"text":"<b>"}`), "stdio", "carol", "a-1",
		"\xff further", 7
	for _, f := range fields()[outside:] { // those that are newer than this test
		switch v := reflect.ValueOf(&e).Elem().Field(f.index[1]); {
		case !f.empty(v):
		case f.kind == text:
			v.SetString(f.Name)
		case f.kind == list:
			v.Set(reflect.ValueOf([]string{f.Name}))
		case f.kind == payload:
			v.SetBytes([]byte("{}"))
		case v.CanInt():
			v.SetInt(1)
		case v.CanFloat():
			v.SetFloat(1)
		}
	}
	content := e.row(strings.ToUpper).appendContent(nil)
	row, err := parseRow(4711, make([]byte, 32), content)
	if err != nil {
		t.Fatal(err)
	}
	return &row, content
}

// TestBytesOfRows compares every form of a row with that of earlier versions. Hashes and the
// programs of users depend on them. Only a new field is a reason for -update.
func TestBytesOfRows(t *testing.T) {
	row, content := fullRow(t)
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	bare := Row{Seq: 1, Event: Event{Kind: Request}}
	b := string(appendLine(nil, row.Seq, hash{}.next(row.Seq, content), content)) + string(text) + "\n"
	for _, format := range Formats {
		b += exported(t, format, *row, bare)
	}
	for _, kind := range Kinds {
		row.Kind = kind
		b += exported(t, "ocsf", *row)
	}
	long := strings.Repeat("é", maxItem)
	e := Event{Arguments: make([]byte, maxPayload+1), Message: long, Detail: long,
		Roles: slices.Repeat([]string{long}, 2), Groups: slices.Repeat([]string{"g"}, 2*maxList)}
	b += string(e.row(nil).appendContent(nil)) + "\n"
	path := filepath.Join("testdata", "rows.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(want), "\n") {
		if lines := strings.Split(b, "\n"); i >= len(lines) || lines[i] != line {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, slices.Concat(lines, make([]string, i+1))[i], line)
		}
	}
}

// TestCSVHasEveryField exports a row with every field: each has a column of its own and a value.
func TestCSVHasEveryField(t *testing.T) {
	row, _ := fullRow(t)
	lines, err := csv.NewReader(strings.NewReader(exported(t, "csv", *row))).ReadAll()
	if err != nil || len(lines) != 2 {
		t.Fatal(lines, err)
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for name := range members {
		if i := slices.Index(lines[0], name); i < 0 || lines[1][i] == "" {
			t.Errorf("no column has %s", name)
		}
	}
	if len(members) != len(lines[0]) {
		t.Errorf("%d columns of %d fields", len(lines[0]), len(members))
	}
}

// TestFieldsAreComplete checks the tags of the table: every field has a meaning, a place for people,
// a column of its own, and is in OCSF events either at its attribute or under unmapped.
func TestFieldsAreComplete(t *testing.T) {
	row, _ := fullRow(t)
	events := []object{}
	for _, row.Kind = range Kinds {
		var o object
		if err := json.Unmarshal([]byte(exported(t, "ocsf", *row)), &o); err != nil {
			t.Fatal(err)
		}
		events = append(events, o)
	}
	taken := map[int]string{}
	for _, f := range Fields() {
		if f.Doc == "" || f.section < 0 || f.column < 1 || f.column > len(fields()) || taken[f.column] != "" ||
			f.most == 0 && (f.kind == list || f.kind == payload) {
			t.Errorf("%+v, and %q has the column", f, taken[f.column])
		}
		taken[f.column] = f.Name
		path := strings.Split(cmp.Or(f.OCSF, "unmapped."+f.Name), ".")
		if !slices.ContainsFunc(events, func(o object) bool { return has(o, path) }) {
			t.Errorf("no OCSF event has %s at %s", f.Name, path)
		}
		if _, ok := events[0]["unmapped"].(object)[f.Name]; ok != (f.OCSF == "") {
			t.Errorf("%s of OCSF events is %q; is it under unmapped: %v", f.Name, f.OCSF, ok)
		}
	}
}

// has reports whether a value has an attribute that is not empty.
func has(value any, path []string) bool {
	if len(path) == 0 {
		return value != nil && value != ""
	}
	switch v := value.(type) {
	case object:
		return has(v[path[0]], path[1:])
	case []any:
		return has(v[0], path)
	}
	return false
}
