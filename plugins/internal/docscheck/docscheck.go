// Package docscheck compares the documents of a plugin with its code, in tests.
package docscheck

import (
	"os"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// Check compares CHANGELOG.md and README.md in the test's directory with the
// plugin. The changelog must have an entry for the version. The README must
// have a row for every setting and mention the settings of blocks.
func Check(t *testing.T, p *sdk.Plugin) {
	t.Helper()
	if !strings.Contains(read(t, "CHANGELOG.md"), "\n## "+p.Version+"\n") {
		t.Errorf("CHANGELOG.md has no entry for %s", p.Version)
	}
	readme := read(t, "README.md")
	var schemas []sdk.Schema
	for _, transport := range p.Transports {
		schemas = append(schemas, transport.Schema())
	}
	for _, auth := range p.Auths {
		schemas = append(schemas, auth.Schema())
	}
	for _, store := range p.SecretStores {
		schemas = append(schemas, store.Schema())
	}
	for _, s := range schemas {
		for _, a := range s.Attributes {
			if !strings.Contains(readme, "\n| `"+a.Name+"` | ") {
				t.Errorf("README.md has no row for %s", a.Name)
			}
		}
		named(t, readme, s)
	}
}

func named(t *testing.T, readme string, s sdk.Schema) {
	t.Helper()
	for _, b := range s.Blocks {
		if !strings.Contains(readme, "`"+b.Name+"`") {
			t.Errorf("README.md does not name the block %s", b.Name)
		}
		for _, a := range b.Schema.Attributes {
			if !strings.Contains(readme, "`"+a.Name+"`") {
				t.Errorf("README.md does not name %s.%s", b.Name, a.Name)
			}
		}
		named(t, readme, b.Schema)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
