package languageserver

import (
	"strings"
	"testing"
)

// TestHovers shows the meaning of words.
func TestHovers(t *testing.T) {
	for text, want := range map[string]string{
		"ser¦ver \"a\" {\n}":                                                "An MCP server.",
		"server \"a\" {\n  sha¦re = \"global\"\n}":                          "**share**: `\"global\"`, `\"tenant\"` or `\"session\"`; default `\"global\"`",
		"server \"a\" {\n  timeouts {\n    start¦ = \"5s\"\n  }\n}":         "default `\"10s\"`",
		"server \"a\" {\n  transport \"kitc¦hen\" {\n  }\n}":                "",
		"server \"a\" {\n  transport \"stdio\" {\n    comm¦and = 1\n  }\n}": "**command**: a list of strings; required",
		"server \"a\" {\n  transport \"kitchen\" {\n    mode¦ = 1\n  }\n}":  "default `\"fast\"`",
		"server \"a\" {\n  prefix = local.or¦g\n}":                          `local.org = "acme"`,
		"server \"a\" {\n  prefix = lo¦cal.org\n}":                          `local.org = "acme"`,
		"server \"a\" {\n  prefix = local.tok¦en\n}":                        "**local.token**",
		"server \"a\" {\n  prefix = \"x-${var.reg¦ion}\"\n}":                "JUNCTOR_VAR_region",
		"server \"a\" {\n  prefix = low¦er(\"X\")\n}":                       "lower(TEXT)",
		"policy {\n  allow {\n    when = lik¦e(args.a, \"x\")\n  }\n}":      `like(TEXT, "PATTERN*")`,
		"server \"a\" {\n  prefix = unkno¦wn(\"X\")\n}":                     "",
		"server \"a\" {\n  unkn¦own = 1\n}":                                 "",
		"server \"a\" {\n  prefix = \"te¦xt\"\n}":                           "",
		"locals {\n  na¦me = 1\n}":                                          "A value, for `local.NAME`",
		"  ¦  ":                                                             "",
	} {
		v, offset := edited(t, text+servers)
		got, at, ok := v.hover(t.Context(), "/x/a.hcl", offset)
		if ok != (want != "") || !strings.Contains(got, want) || strings.Contains(got, "s3cr3t") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if ok && (at.from > offset || at.to < offset) {
			t.Errorf("%s: at %v", text, at)
		}
	}
}
