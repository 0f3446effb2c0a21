package operate

import (
	"strings"
	"testing"
)

// TestMaskedConfiguration keeps the structure of a configuration, and no text.
func TestMaskedConfiguration(t *testing.T) {
	got := maskedConfiguration("# hunter2\nserver \"a\" { # hunter2\n}\nserver \"b\" {\n  enabled = true\n  env = {\n    TOKEN = \"hunter2\"\n  }\n  command = [\"x\",\n    \"hunter2\",\n  ]\n  text = <<EOT\nhunter2\nEOT\n  t = \"${\"hunter2\"}\"\n}\n")
	if strings.Contains(got, "hunter2") ||
		!strings.Contains(got, "server \"b\" {\n  enabled = true\n  env = {\n    TOKEN = …\n  }\n  command = …") {
		t.Error(got)
	}
}
