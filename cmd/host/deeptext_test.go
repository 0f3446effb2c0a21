package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// deepTexts are configurations of 100 KB that the parser of HCL cannot parse: it recurses
// once for each of the signs.
func deepTexts() map[string]string {
	return map[string]string{
		"parentheses":   "a = " + strings.Repeat("(", 100_000),
		"lists":         "a = " + strings.Repeat("[", 100_000),
		"objects":       "a = " + strings.Repeat("{a=", 33_000),
		"blocks":        strings.Repeat("a {\n", 25_000),
		"templates":     "a = " + strings.Repeat(`"${`, 33_000),
		"directives":    `a = "` + strings.Repeat("%{if a}", 14_000) + "\"\n",
		"heredocs":      "a = " + strings.Repeat("<<E\n${", 16_000),
		"not":           "a = " + strings.Repeat("!", 100_000) + "b\n",
		"minus":         "a = " + strings.Repeat("-", 100_000) + "b\n",
		"for lists":     "a = " + strings.Repeat("[for a in ", 10_000),
		"for objects":   "a = " + strings.Repeat("{for a in b: c => ", 6_000),
		"conditionals":  "a = " + strings.Repeat("a ? b : ", 12_500) + "c\n",
		"sums":          "a = " + strings.Repeat("1 + ", 25_000) + "1\n",
		"calls":         "a = " + strings.Repeat("f(", 50_000),
		"splats":        "a = b" + strings.Repeat("[*]", 33_000) + "\n",
		"legacy splats": "a = b" + strings.Repeat(".*", 50_000) + "\n",
		"indexes":       "a = b" + strings.Repeat("[0]", 33_000) + "\n",
	}
}

// deepVerbs are the verbs that parse the configuration in the current directory. The first three
// format it, edit it and load it; each of the others does one of these.
var deepVerbs = [][]string{
	{"fmt"}, {"add", "x", "--no-start", "--", "true"}, {"validate"},
	{"fmt", "--check"}, {"fmt", "-"}, {"remove", "x"}, {"import", "client.json", "--write"}, {"update", "--check"},
	{"trust"}, {"tools"}, {"plan"}, {"export", "cursor"}, {"lock"},
}

// TestDeepTextsEndNoVerb runs three verbs on each text, and all verbs on one of them, or on each in
// a soak: the verb ends with an error that has a place, within a time that no quadratic step would
// meet, and the file stays.
func TestDeepTextsEndNoVerb(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of programs")
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "junctor")
	build(t, program, "./cmd/host")
	for name, text := range deepTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			file := filepath.Join(dir, "junctor.hcl")
			writeText(t, file, text)
			writeText(t, filepath.Join(dir, "client.json"), `{"mcpServers":{"x":{"command":"true"}}}`)
			verbs := deepVerbs
			if name != "templates" && os.Getenv("JUNCTOR_SOAK") == "" {
				verbs = verbs[:3]
			}
			for _, verb := range verbs {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				cmd := exec.CommandContext(ctx, program, verb...)
				cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "JUNCTOR_HOME=" + home, "PATH=" + os.Getenv("PATH")}
				cmd.Stdin = strings.NewReader(text)
				out, err := cmd.CombinedOutput()
				late := ctx.Err() != nil
				stop()
				said := string(out)
				if late || err == nil || strings.Contains(said, "goroutine ") || !strings.Contains(said, "config.") ||
					!placed(said) {
					t.Errorf("junctor %s: %v, late %v\n%.400s", strings.Join(verb, " "), err, late, said)
				}
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != text {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// placed reports whether an output has the place of a mistake.
func placed(said string) bool {
	return strings.Contains(said, "junctor.hcl:") || strings.Contains(said, "standard input:") ||
		strings.Contains(said, `"line": `)
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
