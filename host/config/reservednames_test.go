package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestDocsNameTheReservedBlocks: docs/configuration.md names the blocks that are kept for a
// later version, and no block that works.
func TestDocsNameTheReservedBlocks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("The names (.*) are kept for blocks of a later version").FindSubmatch(text)
	if m == nil {
		t.Fatal("docs/configuration.md has no sentence about reserved names")
	}
	var said []string
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllSubmatch(m[1], -1) {
		said = append(said, string(name[1]))
	}
	if !slices.Equal(said, Language().Later) {
		t.Errorf("docs/configuration.md names %q, refused are %q", said, Language().Later)
	}
}
