package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// indexRow is a row of a table in docs/README.md: a link and one clause.
var indexRow = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$`)

// TestDocsIndexListsEveryPageOnce: docs/README.md has a row with one clause for each page below
// docs/, and one for the directory of decisions.
func TestDocsIndexListsEveryPageOnce(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range indexRow.FindAllStringSubmatch(string(text), -1) {
		name, link, clause := row[1], row[2], row[3]
		if name != link {
			t.Errorf("the row of %s links to %s", name, link)
		}
		if clause == "" || strings.ContainsAny(clause, ".;|") || len(strings.Fields(clause)) > 16 {
			t.Errorf("%s: %q is not one short clause", name, clause)
		}
		got = append(got, link)
	}
	slices.Sort(got)
	if want := docPages(t, docs); !slices.Equal(got, want) {
		t.Errorf("docs/README.md lists\n%s\nand docs/ has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// docPages returns the pages below docs in order, the decisions as their directory.
func docPages(t *testing.T, docs string) []string {
	t.Helper()
	pages := []string{"decisions"}
	err := filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(docs, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir() && name == "decisions":
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".md") && name != "README.md":
			pages = append(pages, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(pages)
	return pages
}
