package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb/plugins"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

var update = flag.Bool("update", false, "write the reference pages instead of comparing them")

// generated is the first line of the pages that this test writes.
const generated = "<!-- Written by `make docs` from the code. -->\n"

// TestDocs: the reference pages match the code.
func TestDocs(t *testing.T) {
	page(t, "cli.md", cliPage())
	page(t, "errors.md", errorsPage())
	for _, dir := range config.Bundled() {
		m := manifestOf(t, dir)
		for name, s := range m.Transports {
			page(t, filepath.Join("transports", name+".md"), transportPage(t, m, name, s))
		}
	}
}

func page(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/%s does not say what the code does; run make docs (%v)", name, err)
	}
}

// cliPage returns the reference of the command line.
func cliPage() string {
	var b strings.Builder
	b.WriteString(generated + "\n# Command line\n\nStandard output carries only what was asked for: tables and text on a terminal, JSON when it is piped or with\n`--json`. Everything else goes to standard error. The JSON only grows. Text of a result above 100000 bytes is cut\non a terminal only, and `--full` shows all of it there.\n")
	root := root(invocation.New(version, managedPath))
	b.WriteString("\n## Flags of every verb\n")
	flags(&b, root.PersistentFlags())
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID {
				verbPage(&b, c)
			}
		}
	}
	b.WriteString("\n## Exit status\n\n| status | meaning |\n|---|---|\n")
	for _, row := range [][2]string{
		{"0", "done"},
		{"1", "the server answered with an error, or the output could not be written; a check found something, such as `plan --exit-code`"},
		{"2", "usage or configuration"}, {"3", "an upstream or a plugin could not be reached"},
		{"4", "credentials are needed or were refused"}, {"5", "the configuration does not allow it"},
		{"6", "it took too long"}, {"130", "interrupted"},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	b.WriteString("\n## Environment\n\n| variable | meaning |\n|---|---|\n")
	for _, row := range [][2]string{
		{"JUNCTOR_CONFIG", "the configuration, when `--config` is not given"},
		{"JUNCTOR_HOME", "a directory for everything Junctor keeps, instead of the XDG ones"},
		{"JUNCTOR_LOG", "how much to log to standard error, when `--log` is not given"},
		{"JUNCTOR_LOG_FORMAT", "`json` logs JSON"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "where `serve` exports traces and metrics; [monitoring.md](monitoring.md#traces) has the other variables of OpenTelemetry"},
		{"JUNCTOR_TRUST",
			"`PATH:SHA256` pairs of configurations that are trusted, separated by commas; see [trust.md](trust.md)"},
		{"JUNCTOR_PLUGIN_DIR", "a directory to look for bundled plugins first"},
		{"CI", "unless it is `false` or `0`: nothing moves on the terminal, as with `TERM=dumb`, no browser opens, and no question is asked"},
	} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", row[0], row[1])
	}
	return b.String()
}

func verbPage(b *strings.Builder, c *cobra.Command) {
	var own strings.Builder
	flags(&own, c.LocalNonPersistentFlags())
	use := strings.TrimPrefix(c.UseLine(), "junctor ")
	if own.Len() == 0 {
		use = strings.TrimSuffix(use, " [flags]") // --help alone is not mentioned
	}
	fmt.Fprintf(b, "\n### junctor %s\n\n%s.\n", use, c.Short)
	if c.Long != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", strings.TrimSpace(c.Long))
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
	}
	b.WriteString(own.String())
	for _, sub := range c.Commands() {
		verbPage(b, sub)
	}
}

// flags writes the table of a set of flags, except --help.
func flags(b *strings.Builder, set *pflag.FlagSet) {
	var rows strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.Name != "help" {
			fmt.Fprintf(&rows, "| `%s` | %s |\n", name, strings.ReplaceAll(f.Usage, "|", "\\|"))
		}
	})
	if rows.Len() > 0 {
		b.WriteString("\n| flag | meaning |\n|---|---|\n" + rows.String())
	}
}

// errorsPage returns the reference of the error codes.
func errorsPage() string {
	var b strings.Builder
	b.WriteString(generated + "\n# Error codes\n\nEvery error has a code that never changes its meaning. It is in the last line of an error, in `error.code`\nof the JSON, and in `data.code` of what a client of `junctor serve` gets.\n")
	for _, code := range slices.Sorted(maps.Keys(fault.Codes)) {
		e := fault.Codes[code]
		fmt.Fprintf(&b, "\n## %s\n\n%s Exit status %d.\n\nWhat to do: %s\n", code, e.Meaning, e.Exit, e.Do)
	}
	return b.String()
}

// TestBundledListsEveryPlugin: each directory of plugins/ with a program is a bundled plugin.
func TestBundledListsEveryPlugin(t *testing.T) {
	mains, err := filepath.Glob(filepath.Join("..", "..", "plugins", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, m := range mains {
		dirs = append(dirs, filepath.Base(filepath.Dir(m)))
	}
	if bundled := slices.Sorted(slices.Values(config.Bundled())); !slices.Equal(bundled, dirs) {
		t.Errorf("host/config/pluginref.go lists the bundled plugins %q, and plugins/ has %q", bundled, dirs)
	}
}

func manifestOf(t *testing.T, name string) sdk.Manifest {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	build(t, path, "./plugins/"+name)
	out, err := exec.Command(path, "describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	var m sdk.Manifest
	if err := json.Unmarshal(bytes.TrimSpace(out), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// transportPage returns the reference of a transport.
func transportPage(t *testing.T, m sdk.Manifest, name string, s sdk.Schema) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n# transport %q\n\nPlugin `%s` %s.\n", generated, name, m.Name, m.Version)
	intro, guide := guideOf(t, m)
	b.WriteString("\n" + intro + "## Settings\n")
	settings(&b, s, "")
	b.WriteString("\n## In use\n\n" + guide)
	return b.String()
}

// guideOf returns the parts of a plugin's README before and after its settings.
func guideOf(t *testing.T, m sdk.Manifest) (intro, guide string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "plugins", m.Name, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, titled := strings.Cut(string(text), "\n\n")
	intro, rest, tabled := strings.Cut(rest, "| setting |")
	_, guide, closed := strings.Cut(rest, "prints the same.\n\n")
	if !titled || !tabled || !closed {
		t.Fatalf("plugins/%s/README.md needs a title, a table that begins with \"| setting |\" and behind it "+
			"the paragraph \"`junctor plugin describe %[1]s` prints the same.\"", m.Name)
	}
	return intro, strings.ReplaceAll(guide, "\n## ", "\n### ")
}

func settings(b *strings.Builder, s sdk.Schema, block string) {
	if len(s.Attributes) > 0 {
		b.WriteString("\n| setting | type | | meaning |\n|---|---|---|---|\n")
	}
	for _, a := range s.Attributes {
		var about []string
		switch {
		case a.Required:
			about = append(about, "required")
		case len(a.Default) > 0:
			about = append(about, "default `"+plugins.CompactJSON(a.Default)+"`")
		}
		if len(a.Enum) > 0 {
			about = append(about, "one of `"+strings.Join(a.Enum, "`, `")+"`")
		}
		if a.Sensitive {
			about = append(about, "sensitive")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n",
			block+a.Name, plugins.TypeName(a.Type), strings.Join(about, ", "), a.Description)
	}
	for _, inner := range s.Blocks {
		fmt.Fprintf(b, "\n### Block `%s`\n\n%s\n", block+inner.Name, inner.Schema.Description)
		settings(b, inner.Schema, block+inner.Name+".")
	}
}
