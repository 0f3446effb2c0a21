package config

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// TestPublicBlocksHaveAllSettings compares the settings with the forms of the blocks. Of the
// secret of a webhook, nothing is there.
func TestPublicBlocksHaveAllSettings(t *testing.T) {
	at := source.Position{File: filepath.Join(t.TempDir(), "junctor.hcl")}
	c := &Config{
		Audit: Audit{Given: true, At: at}, Console: &Console{At: at},
		Notify:    &Notify{At: at, Webhook: "https://example.com/secret", Secret: "secret"},
		Telemetry: Telemetry{Metrics: &Metrics{At: at}},
	}
	all := c.PublicBlocks()
	for block, f := range map[string]struct {
		form   language.Form
		prefix string
		others []string // settings without an entry
		hidden []string // entries without a setting
	}{
		"audit":     {form: *language.FormOf[Audit](), others: []string{"managed"}},
		"console":   {form: *language.FormOf[Console]()},
		"notify":    {form: *language.FormOf[Notify](), hidden: []string{"secret"}},
		"telemetry": {form: *language.FormOf[Metrics](), prefix: "metrics."},
	} {
		want := slices.Clone(f.others)
		for _, e := range f.form.Entries {
			if !slices.Contains(f.hidden, e.Name) {
				want = append(want, f.prefix+e.Name)
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(all[block])); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", block, got, want)
		}
	}
	if empty := (&Config{}).PublicBlocks(); len(empty) > 0 {
		t.Errorf("blocks that are not given: %v", empty)
	}
}

// TestPathsOfBlocksAreNotThoseOfTheMachine moves a configuration with its files.
func TestPathsOfBlocksAreNotThoseOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	at := source.Position{File: filepath.Join(dir, "junctor.hcl")}
	for path, want := range map[string]string{
		"": "", filepath.Join(dir, "audit.db"): "audit.db", filepath.Join(dir, "logs", "audit.db"): "logs/audit.db",
		filepath.Join(dir, "..", "elsewhere", "audit.db"): "audit.db", dir + "2": filepath.Base(dir) + "2",
	} {
		if got := at.Portable(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
