package main

import (
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
)

// TestDocuments: the changelog knows the version that stands in the code, and
// the README every setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
