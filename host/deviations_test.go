package host_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	interopPage     = "../docs/interop.md"
	deviationsBegin = "<!-- deviations: written by go test ./host -run Deviations -update -->\n"
	deviationsEnd   = "<!-- end of deviations -->"
)

// deviation is one row of the table: a peer's behaviour outside of the
// specification that Junctor tolerates, and the file of the test that shows it.
type deviation struct {
	sends, does, reports, file string
}

var (
	// markedLine matches a comment that looks like a row, also a misspelt one.
	markedLine = regexp.MustCompile(`(?i)^\s*(?://|#)\s*deviations?\s*:(.*)$`)
	exactMark  = regexp.MustCompile(`^\s*(//|#) deviation: \S`)
	reports    = regexp.MustCompile(`^(-|[\w./-]+#\d+(, [\w./-]+#\d+)*)$`)
)

// TestDeviations compares the table in docs/interop.md with the lines
// "deviation: SENDS | DOES | REPORTS" in the comments of all tests.
func TestDeviations(t *testing.T) {
	page, err := os.ReadFile(interopPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), deviationsBegin)
	written, after, ok2 := strings.Cut(rest, deviationsEnd)
	if !ok1 || !ok2 {
		t.Fatal("docs/interop.md has no place for the deviations")
	}
	rows, err := deviationsIn("..")
	if err != nil {
		t.Fatal(err)
	}
	now := deviationTable(rows)
	if *update {
		if err := os.WriteFile(interopPage, []byte(before+deviationsBegin+now+deviationsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != now {
		t.Errorf("docs/interop.md lists other deviations than the tests; run make docs:\n%s", now)
	}
}

// deviationsIn returns the rows of all tests below root, sorted by the first
// cell. It fails if there are none, two with the same first cell, or a malformed
// one.
func deviationsIn(root string) ([]deviation, error) {
	var rows []deviation
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "bin" || name == "node_modules" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !holdsDeviations(name) {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := parseDeviations(filepath.ToSlash(rel), string(content))
		rows = append(rows, found...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no test has a line with a deviation")
	}
	slices.SortFunc(rows, func(a, b deviation) int {
		return strings.Compare(strings.ToLower(a.sends), strings.ToLower(b.sends))
	})
	for i := range rows[1:] {
		if a, b := rows[i], rows[i+1]; strings.EqualFold(a.sends, b.sends) {
			return nil, fmt.Errorf("%s and %s have the same deviation %q", a.file, b.file, a.sends)
		}
	}
	return rows, nil
}

// holdsDeviations reports whether a file may have rows: a script, a conversation
// or a Go test, except this one.
func holdsDeviations(name string) bool {
	return strings.HasSuffix(name, "_test.go") && name != "deviations_test.go" ||
		strings.HasSuffix(name, ".txtar") || strings.HasSuffix(name, ".txt")
}

// parseDeviations returns the rows of one file.
func parseDeviations(file, content string) ([]deviation, error) {
	var rows []deviation
	for i, line := range strings.Split(content, "\n") {
		m := markedLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		cells := strings.Split(strings.TrimSpace(m[1]), " | ")
		ok := exactMark.MatchString(line) && len(cells) == 3 && reports.MatchString(cells[2])
		for _, cell := range cells {
			ok = ok && cell != "" && cell == strings.TrimSpace(cell) && !strings.Contains(cell, "|")
		}
		if !ok {
			return nil, fmt.Errorf("%s:%d: write \"deviation: SENDS | DOES | REPORTS\", where REPORTS is like \"python-sdk#3385, cline#10553\" or \"-\"",
				file, i+1)
		}
		rows = append(rows, deviation{cells[0], cells[1], cells[2], file})
	}
	return rows, nil
}

func deviationTable(rows []deviation) string {
	var table strings.Builder
	table.WriteString("| a peer sends | Junctor | reports | test |\n|---|---|---|---|\n")
	for _, r := range rows {
		if r.reports == "-" {
			r.reports = "–"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | `%s` |\n", r.sends, r.does, r.reports, r.file)
	}
	return table.String()
}

// TestDeviationLines refuses lines that would give the table a wrong row.
func TestDeviationLines(t *testing.T) {
	for _, good := range []string{
		"// deviation: a BOM | skips it | dotnet/runtime#28929",
		"# deviation: a BOM | skips it | -",
		"\t\t// deviation: a BOM | skips it | a#1, b-c#2",
		"name: deviation: not a comment",
		"// A deviation is a row.",
	} {
		if _, err := parseDeviations("f", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"// deviation: a BOM | skips it",
		"// deviation: a BOM | skips it | a#1 | more",
		"// deviation: a BOM | skips it | seen in a#1",
		"// deviation: a BOM | skips it | a#1 b#2",
		"// deviation: a BOM |  | -",
		"// deviation:  | skips it | -",
		"// deviation:",
		"//deviation: a BOM | skips it | -",
		"#  deviation: a BOM | skips it | -",
		"// Deviation: a BOM | skips it | -",
		"// deviations: a BOM | skips it | -",
		"// deviation : a BOM | skips it | -",
		"// deviation: a|b | skips it | -",
	} {
		if rows, err := parseDeviations("f", bad); err == nil {
			t.Errorf("%q is accepted: %v", bad, rows)
		}
	}
	empty := t.TempDir()
	if _, err := deviationsIn(empty); err == nil {
		t.Error("a table without rows is accepted")
	}
	for _, name := range []string{"a.txtar", "b_test.go"} {
		if err := os.WriteFile(filepath.Join(empty, name), []byte("# deviation: twice | is told | -\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := deviationsIn(empty); err == nil {
		t.Error("two rows with the same first cell are accepted")
	}
}
