package configure

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// TestLanguageServerStartsNoPlugin describes plugins that a text names. Their program is not
// run, however the text spells their source: there is no cached description of it.
func TestLanguageServerStartsNoPlugin(t *testing.T) {
	program, err := exec.LookPath("true") // a program that would end without a description
	if err != nil {
		t.Skip(err)
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"junctor-plugin-evil", "junctor-plugin-stdio"} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sup := host.NewSupervisor(host.Options{
		Version: "1.2.3",
		Log:     hclog.NewNullLogger(),
		Lookup:  os.LookupEnv,
		Dirs:    host.Dirs{Run: t.TempDir(), Cache: cache.Dir(t.TempDir())},
	})
	defer sup.Stop(0)
	known := &knownPlugins{sup: sup, known: map[pluginKey]knownPlugin{}}
	const notKnown = "there is no cached description"
	for _, p := range []config.Plugin{
		{Name: "evil", Use: "evil", Source: dir},
		{Name: "evil", Use: "evil", Source: filepath.Join(dir, "junctor-plugin-evil")},
		{Name: "stdio", Use: "stdio", Source: dir},
	} {
		for range 2 { // the second answer is remembered
			if _, err := known.describe(t.Context(), p); !fault.Is(err, fault.PluginDescribe) ||
				!strings.Contains(err.Error(), notKnown) {
				t.Errorf("%+v: %v", p, err)
			}
		}
	}
	for _, p := range []config.Plugin{ // no directory has bundled plugins here
		{Name: "evil", Use: "evil", Source: "builtin/stdio"},
		{Name: "stdio", Use: "stdio", Source: "builtin/stdio"},
		{Name: "evil", Use: "evil", Source: filepath.Join(dir, "missing")},
	} {
		if _, err := known.describe(t.Context(), p); !fault.Is(err, fault.PluginNotFound) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, _, err := sup.Describe(t.Context(), filepath.Join(dir, "junctor-plugin-evil"), ""); err == nil ||
		strings.Contains(err.Error(), notKnown) {
		t.Errorf("the program cannot be run, so this test proves nothing: %v", err)
	}
}
