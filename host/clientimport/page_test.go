package clientimport

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// TestPage compares the tables of docs/import.md with those in the code. With -update it
// writes them.
func TestPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "import.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, table := range map[string]string{
		"references": referenceTable(), "members": memberTable("member", clientconfig.Members),
		"members of files": memberTable("beside the servers", clientconfig.FileMembers),
	} {
		begin := fmt.Sprintf("<!-- %s: written by go test ./host/clientimport -run Page -update -->\n", name)
		before, rest, opened := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, "<!-- end -->\n")
		if !opened || !closed {
			t.Fatalf("%s has no table after %q", path, begin)
		}
		page = before + begin + table + "<!-- end -->\n" + after
	}
	switch {
	case page == string(text):
	case *update:
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the tables of %s differ from the code; run go test ./host/clientimport -run Page -update", path)
	}
}

// TestPageListsEveryClient: the tables of docs/import.md have a row for each client.
func TestPageListsEveryClient(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "import.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tables, found := strings.Cut(string(text), "\n## Clients\n")
	tables, _, _ = strings.Cut(tables, "\nOther files of a client")
	if !found {
		t.Fatal("docs/import.md has no section Clients")
	}
	for _, c := range clientconfig.Clients {
		listed := false
		for row := range strings.Lines(tables) {
			name, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
			listed = listed || strings.Contains(name, "`"+c.Name+"`")
		}
		if !listed {
			t.Errorf("the tables of clients in docs/import.md have no row for %s", c.Name)
		}
	}
}

func memberTable(what string, members []clientconfig.Member) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | clients | outcome | here |\n|---|---|---|---|\n", what)
	for _, m := range members {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(m.Names), cmp.Or(m.Clients, "most"), m.Outcome, m.Here)
	}
	return b.String()
}

func referenceTable() string {
	var b strings.Builder
	b.WriteString("| reference | clients | outcome | here |\n|---|---|---|---|\n")
	for _, s := range Syntaxes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(s.Forms), s.Clients, s.Outcome, s.Here)
	}
	return b.String()
}

// code writes words as code, but for one that is a sentence.
func code(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		if all[i] = "`" + w + "`"; w == "…" || strings.HasPrefix(w, "a ") {
			all[i] = w
		}
	}
	return strings.Join(all, ", ")
}
