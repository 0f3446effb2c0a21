package configedit

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/hcltext"
)

// TestDisableDisablesEveryServer disables blocks in every form that an import may have, and
// checks that no other text changes what they say.
func TestDisableDisablesEveryServer(t *testing.T) {
	for name, text := range map[string]string{
		"a block":                "server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\n",
		"two blocks":             "server \"a\" {\n  idle_timeout = \"1m\"\n}\n\nserver \"b\" {\n  memory = 1\n}\n",
		"an empty block":         "server \"a\" {\n}\n",
		"a comment":              "server \"a\" { # enabled = true\n  memory = 1\n}\n",
		"disabled before":        "server \"a\" {\n  enabled = false\n  memory = 1\n}\n",
		"enabled by hand":        "server \"a\" {\n  enabled = true\n}\n",
		"enabled by a condition": "server \"a\" {\n  enabled = env(\"A\") == \"\" ? true : true\n}\n",
		"a text like a block":    "server \"a\" {\n  description = \"server \\\"b\\\" {\"\n}\n",
		"a heredoc like a block": "server \"a\" {\n  description = <<EOT\nserver \"b\" {\nEOT\n}\n",
		"a block of its own":     "server \"a\" {\n  transport \"x\" {\n    enabled = true\n  }\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			after, err := Disable([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			body, err := hcltext.Parse("x", after)
			if err != nil {
				t.Fatalf("%v\n%s", err, after)
			}
			for _, b := range body.Blocks {
				a := b.Body.Attributes["enabled"]
				if a == nil {
					t.Fatalf("no enabled\n%s", after)
				}
				if v, ok := a.Expr.(*hclsyntax.LiteralValueExpr); !ok || v.Val.True() {
					t.Errorf("enabled is another value\n%s", after)
				}
			}
			if strings.Count(text, "\nserver ") != strings.Count(string(after), "\nserver ") {
				t.Errorf("the blocks differ\n%s", after)
			}
		})
	}
	if _, err := Disable([]byte("server \"a\" {")); err == nil {
		t.Error("a text with a mistake is accepted")
	}
}
