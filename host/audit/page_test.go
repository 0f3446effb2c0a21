package audit

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const (
	auditPage   = "../../docs/audit.md"
	fieldsBegin = "<!-- fields: written by `make docs` from host/audit/fields.go -->\n"
	fieldsEnd   = "<!-- end -->\n"
)

// TestFieldsPage compares the table of fields in docs/audit.md with the code.
func TestFieldsPage(t *testing.T) {
	page, err := os.ReadFile(auditPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), fieldsBegin)
	_, after, ended := strings.Cut(rest, fieldsEnd)
	if !begun || !ended {
		t.Fatal("docs/audit.md has no place for the fields")
	}
	table := "| field | meaning | in OCSF |\n|---|---|---|\n"
	code := regexp.MustCompile(`\B'([^']+)'\B`)
	for _, f := range Fields() {
		doc := f.Doc
		if f.Name == "kind" {
			for i, kind := range Kinds {
				doc += []string{": ", ", "}[min(i, 1)] + "'" + string(kind) + "'"
			}
		}
		ocsf := "–"
		if f.OCSF != "" {
			ocsf = "`" + f.OCSF + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", f.Name, code.ReplaceAllString(doc, "`$1`"), ocsf)
	}
	now := before + fieldsBegin + table + fieldsEnd + after
	switch {
	case *update:
		if err := os.WriteFile(auditPage, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	case now != string(page):
		t.Errorf("docs/audit.md does not say what the code does; run make docs for\n%s", table)
	}
}
