package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentedBlocks: what docs/configuration.md says about auth and secrets
// can be copied.
func TestDocumentedBlocks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []string{"server \"linear\" {", "defaults {", "secret_store \"file\" {"} {
		_, text, found := strings.Cut(string(page), "```hcl\n"+begin)
		text, _, closed := strings.Cut(text, "```")
		if !found || !closed {
			t.Fatalf("the page has no block %s", begin)
		}
		c, ds := loadText(t, begin+text)
		if c == nil || len(ds) > 0 || len(c.Servers) == 1 && c.Servers[0].Auth == nil || c.SecretStore != nil && c.SecretStore.File.PasswordFD != -1 {
			t.Errorf("%s: %s", begin, rendered(ds))
		}
	}
}
