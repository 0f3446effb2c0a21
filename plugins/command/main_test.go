package main

import (
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
)

// TestDocuments checks that the changelog has the version of the code and that
// the README describes every setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
